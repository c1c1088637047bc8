"""The targets that every lab is compiled for, and the cards that readers own. Limits are cited:
docs/sources/.
"""

from __future__ import annotations

from dataclasses import dataclass

# What decides the code besides lab and Triton. Line info is left out, so that it does not depend
# on where a file lies.
SWITCHES = {
    "TRITON_INTERPRET": "0",
    "TRITON_DEFAULT_FP_FUSION": "1",
    "TRITON_DISABLE_LINE_INFO": "1",
    "CUDA_VISIBLE_DEVICES": "",
    "HIP_VISIBLE_DEVICES": "",
}


@dataclass(frozen=True)
class Target:
    """One architecture as the compiler sees it."""

    name: str  # sm_90, gfx942
    triton: tuple[str, int | str, int]  # back end, architecture, warp size
    shared_limit: int  # bytes of shared memory (LDS) that one program can have
    sms: int  # of the card that stands for it: how many programs a persistent kernel would start
    cards: tuple[str, ...]

    @property
    def warp_size(self) -> int:
        return self.triton[2]

    @property
    def capability(self) -> tuple[int, int]:
        """As torch says it: 9.0 for sm_90 and, for AMD, for gfx90a too."""
        arch = self.triton[1]
        return divmod(arch, 10) if isinstance(arch, int) else (int(arch[3:-2]), int(arch[-2], 16))

    @property
    def vendor(self) -> str:
        return "nvidia" if self.triton[0] == "cuda" else "amd"


KIB = 1024
TARGETS = {
    target.name: target
    for target in (
        Target("sm_80", ("cuda", 80, 32), 163 * KIB, 108, ("A100",)),
        Target("sm_86", ("cuda", 86, 32), 99 * KIB, 82, ("RTX 3090",)),
        Target("sm_89", ("cuda", 89, 32), 99 * KIB, 128, ("RTX 4090", "L40S")),
        Target("sm_90", ("cuda", 90, 32), 227 * KIB, 132, ("H100", "H200")),
        Target("sm_100", ("cuda", 100, 32), 227 * KIB, 148, ("B200",)),
        Target("sm_120", ("cuda", 120, 32), 99 * KIB, 170, ("RTX 5090",)),
        Target("gfx90a", ("hip", "gfx90a", 64), 64 * KIB, 104, ("MI210",)),
        Target("gfx942", ("hip", "gfx942", 64), 64 * KIB, 304, ("MI300X",)),
        Target("gfx950", ("hip", "gfx950", 64), 160 * KIB, 256, ("MI355X",)),
        Target("gfx1100", ("hip", "gfx1100", 32), 64 * KIB, 96, ("RX 7900 XTX",)),
    )
}
CARDS = {
    card: target
    for card in (
        *("RTX 3090", "RTX 4090", "RTX 5090", "A100", "L40S", "H100", "H200", "B200"),
        *("MI210", "MI300X", "MI355X", "RX 7900 XTX"),
    )
    for target in TARGETS.values()
    if card in target.cards
}
