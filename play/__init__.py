"""The playground's evaluator: part of `triton.language` in plain Python, every access logged.

It needs nothing but Python's standard library, so it runs in the reader's browser as in the tests:

    args = {"x_ptr": x, "out_ptr": out, "n": 5, "BLOCK": 4}
    report = play.run(source, "add_kernel", args, grid=(2,))

Modules, in the order in which to read them: `dtypes` (types, rounding, promotion), `block` (values
and operators), `memory` (tensors, accesses, findings), `operations`, `reductions`, `products`,
`randoms` and `functions` (what `tl` offers), `host` (what a lesson's program uses of torch),
`source` (what the compiler refuses, and the rewriting), `watch` (loops and branches), `language`
and `machine` (one run), `report`, `trace` (a run as data that a page draws), `messages` and
`texts`.
"""

from play.memory import Tensor, empty, tensor
from play.messages import Message, Refusal
from play.report import Report
from play.run import run

__all__ = ["Message", "Refusal", "Report", "Tensor", "empty", "run", "tensor"]
