"""The launchers of the labs, each described once: how it is called, and what it must return."""

import torch
from launching import Launch, octaves, whole_numbers

FP32, FP16, INT32 = torch.float32, torch.float16, torch.int32
NO_ALIAS = ("stores_first",)  # harmless where out is no input, or where there is no out


def rounding(dtype: torch.dtype) -> float:
    """One rounding to a dtype of 16 bits; fp32 is what the kernels compute in."""
    return 0.0 if dtype == FP32 else torch.finfo(dtype).eps


def positive(generator, *shapes, dtype=FP32):
    """Whole numbers from 1 to 5: sums do not cancel, and are exact where they stay below 2,048."""
    return [whole_numbers(generator, shape, dtype).abs() + 1 for shape in shapes]


def add_launch(lab) -> Launch:
    return Launch(
        lab=lab,
        function=lab.add,
        reference=lab.reference,
        inputs=lambda generator, n, dtype: [whole_numbers(generator, (n,), dtype) for _ in "xy"],
        cases=[dict(n=n, dtype=dtype) for dtype in lab.DTYPES for n in (100, 0, 2500)],
        draw=lambda chosen: [
            dict(n=n, dtype=chosen.choice(lab.DTYPES)) for n in octaves(chosen, 8192)
        ],
        aliases=(0, 1),
    )


def softmax_launch(lab) -> Launch:
    return Launch(
        lab=lab,
        function=lab.softmax,
        reference=lambda x: lab.reference(x).to(x.dtype),
        inputs=lambda generator, n_rows, n_cols, dtype: [
            (4 * torch.randn(n_rows, n_cols, generator=generator)).to(dtype)
        ],
        cases=[
            dict(n_rows=5, n_cols=n, dtype=dtype) for dtype in lab.DTYPES for n in (65, 0, 5000)
        ],
        draw=lambda chosen: [
            dict(n_rows=3, n_cols=n, dtype=chosen.choice(lab.DTYPES))
            for n in octaves(chosen, lab.MAX_COLS)
        ],
        bound=lambda dtype: torch.finfo(dtype).eps / 2 + 111 * 2**-24,  # as of the widest row
        aliases=(0,),
    )


def matmul_launch(lab) -> Launch:
    return product(lab, lab.matmul, lab.reference, more=((3, 4, 0),))


def fit_fused(fit) -> Launch:
    return Launch(
        lab=fit,
        function=fit.fused,
        reference=lambda *tensors: fit.reference(*tensors).to(tensors[0].dtype),
        inputs=lambda generator, M, N, dtype: [
            whole_numbers(generator, shape, dtype) for shape in ((M, N), (N,), (M, N))
        ],
        cases=[dict(M=M, N=N, dtype=t) for t in fit.DTYPES for M, N in ((7, 19), (0, 5), (3, 700))],
        draw=lambda chosen: [
            dict(M=chosen.randint(2, 9), N=n, dtype=chosen.choice(fit.DTYPES))
            for n in octaves(chosen, 1024)
        ],
        bound=lambda dtype: rounding(dtype) + 16 * 2**-24,
        aliases=(0, 2),
    )


def fit_share(fit) -> Launch:
    return Launch(
        lab=fit,
        function=fit.share,
        reference=lambda x: fit.reference_share(x).to(x.dtype),
        inputs=lambda generator, n, dtype: positive(generator, (n,), dtype=dtype),
        cases=[dict(n=n, dtype=dtype) for dtype in fit.DTYPES for n in (100, 0, 5000)],
        draw=lambda chosen: [
            dict(n=n, dtype=chosen.choice(fit.DTYPES)) for n in octaves(chosen, 2 * fit.PART)
        ],
        bound=lambda dtype: rounding(dtype) + 2 * 2**-24,
        aliases=(0,),
    )


def notes_scale(notes) -> Launch:
    return Launch(
        lab=notes,
        function=lambda x, out=None: notes.scale(x, notes.FACTOR, out),
        reference=lambda x: notes.reference(x, notes.FACTOR).to(x.dtype),
        inputs=lambda generator, n, dtype: [whole_numbers(generator, (n,), dtype)],
        cases=[dict(n=n, dtype=dtype) for dtype in notes.DTYPES for n in (100, 0, 2500)],
        draw=lambda chosen: [dict(n=n, dtype=FP32) for n in octaves(chosen, 8192)],
        aliases=(0,),
    )


def notes_accumulate(notes) -> Launch:
    def accumulated(x):
        total = torch.zeros(1)
        notes.accumulate(x, total)
        return total

    return Launch(
        lab=notes,
        function=accumulated,
        reference=lambda x: x.double().sum(dim=0, keepdim=True).float(),
        inputs=lambda generator, n, dtype: [whole_numbers(generator, (n,), dtype)],
        cases=[dict(n=n, dtype=dtype) for dtype in notes.DTYPES for n in (100, 0)],
        draw=lambda chosen: [dict(n=chosen.randint(65, 999), dtype=FP32)],
        harmless=NO_ALIAS,
        takes_out=False,
    )


def product(lab, function, reference, more=()) -> Launch:
    return Launch(
        lab=lab,
        function=function,
        reference=lambda a, b: reference(a, b).to(a.dtype),
        inputs=lambda generator, M, N, K, dtype: [
            whole_numbers(generator, shape, dtype) for shape in ((M, K), (K, N))
        ],
        cases=[
            dict(M=M, N=N, K=K, dtype=dtype)
            for dtype in lab.DTYPES
            for M, N, K in ((33, 17, 21), (0, 5, 7), *more)
        ],
        draw=lambda chosen: [
            dict(**{size: chosen.randint(2, 99) for size in "MNK"}, dtype=dtype)
            for dtype in lab.DTYPES
        ],
        harmless=NO_ALIAS,
    )


def numerics_launch(lab, function, of, shapes, bound=0.0, dtypes=None, to=None) -> Launch:
    """A launcher of tensors of shapes(M, N) that returns `to`, or else their dtype."""
    dtypes = dtypes or lab.DTYPES
    return Launch(
        lab=lab,
        function=function,
        reference=lambda *tensors: of(*tensors).to(to or tensors[0].dtype),
        inputs=lambda generator, M, N, dtype: positive(generator, *shapes(M, N), dtype=dtype),
        cases=[dict(M=M, N=N, dtype=dtype) for dtype in dtypes for M, N in ((7, 19), (0, 5))],
        draw=lambda chosen: [
            dict(M=chosen.randint(2, 90), N=chosen.randint(2, 300), dtype=dtype) for dtype in dtypes
        ],
        bound=lambda dtype: bound + rounding(dtype),
        harmless=NO_ALIAS,
    )


def one_matrix(M, N):
    return [(M, N)]


def numerics_sum(way):
    return lambda lab: numerics_launch(
        lab,
        lambda x, out=None: lab.row_sum(x, way, out),
        lambda x: lab.reference("sum", x),
        one_matrix,
    )


def numerics_total(lab) -> Launch:
    def reference(x):
        return lab.reference("sum", x.flatten()).view(1)

    return numerics_launch(lab, lab.total, reference, one_matrix, to=FP32)


def numerics_linear(lab) -> Launch:
    return numerics_launch(
        lab,
        lambda x, weight, out=None: lab.linear(x, weight, out=out),
        lambda x, weight: lab.reference("linear", x, weight),
        lambda M, N: [(M, N), (5, N)],
        bound=300 * 2**-24,
    )


def numerics_apply(op, inputs, bound):
    return lambda lab: numerics_launch(
        lab,
        lambda *tensors, out=None: lab.apply(op, *tensors, out=out),
        lambda *tensors: lab.reference(op, *tensors),
        lambda M, N: [(M, N)] * inputs,
        bound=bound,
        dtypes=(FP32,),
    )


def numerics_logsumexp(lab) -> Launch:
    def reference(x):
        return lab.reference("logsumexp", x)

    return numerics_launch(lab, lab.logsumexp, reference, one_matrix, bound=59 * 2**-24, to=FP32)


def numerics_layer_norm(lab) -> Launch:
    return numerics_launch(
        lab,
        lambda x, weight, bias, out=None: lab.layer_norm(x, weight, bias, out=out),
        lambda x, weight, bias: lab.reference("layer_norm", x, weight, bias),
        lambda M, N: [(M, N), (N,), (N,)],
        bound=2**-14,
    )


def codegen_copy(codegen) -> Launch:
    return Launch(
        lab=codegen,
        function=codegen.copy,
        reference=lambda x: codegen.reference(x).to(x.dtype),
        inputs=lambda generator, n, dtype: [whole_numbers(generator, (n,), dtype)],
        cases=[dict(n=n, dtype=dtype) for dtype in codegen.DTYPES for n in (100, 0, 2500)],
        draw=lambda chosen: [
            dict(n=n, dtype=chosen.choice(codegen.DTYPES)) for n in octaves(chosen, 8192)
        ],
        harmless=NO_ALIAS,
    )


def codegen_windows(codegen) -> Launch:
    size = codegen.BLOCK_SIZE
    return Launch(
        lab=codegen,
        function=lambda x, starts, out=None: codegen.windows(x, starts, out=out),
        reference=lambda x, starts: torch.stack([x[n : n + size] for n in starts.tolist()]),
        inputs=lambda generator, n, dtype: [
            whole_numbers(generator, (n,), dtype),
            torch.randint(0, n - size + 1, (3,), generator=generator),
        ],
        cases=[dict(n=2000, dtype=dtype) for dtype in codegen.DTYPES],
        draw=lambda chosen: [dict(n=chosen.randint(2001, 4096), dtype=FP32)],
        harmless=(*NO_ALIAS, "last_element"),  # a window has 1,024 elements
    )


def codegen_center(codegen) -> Launch:
    return Launch(
        lab=codegen,
        function=lambda x, out=None: codegen.center(x, out=out),
        reference=lambda x: codegen.reference(x, of="center").to(x.dtype),
        inputs=lambda generator, M, N, dtype: [whole_numbers(generator, (M, N), dtype)],
        cases=[
            dict(M=M, N=N, dtype=dtype) for dtype in codegen.DTYPES for M, N in ((7, 19), (0, 5))
        ],
        draw=lambda chosen: [
            dict(M=3, N=n, dtype=chosen.choice(codegen.DTYPES)) for n in octaves(chosen, 4096)
        ],
        harmless=(*NO_ALIAS, "drops_nan"),
        takes_nan=False,
    )


def debugging_count(debugging) -> Launch:
    return Launch(
        lab=debugging,
        function=lambda x, out=None: debugging.count(x, 10, out),
        reference=lambda x: debugging.reference_count(x, 10).to(INT32),
        inputs=lambda generator, n: [torch.randint(0, 10, (n,), generator=generator, dtype=INT32)],
        cases=[dict(n=n) for n in (100, 0, 300)],
        draw=lambda chosen: [dict(n=chosen.randint(301, 999))],
        harmless=(*NO_ALIAS, "drops_nan"),  # integers
    )


def cold_start_attention(cold) -> Launch:
    return Launch(
        lab=cold,
        function=lambda q, k, v, out=None: cold.attention(q, k, v, out=out)[0],
        reference=lambda q, k, v: cold.reference(q, k, v)[0].to(q.dtype),
        inputs=lambda generator, n_queries, n_keys, dtype: [
            whole_numbers(generator, (2, n_queries, 16), dtype),
            whole_numbers(generator, (1, n_keys, 16), dtype),
            *positive(generator, (1, n_keys, 16), dtype=dtype),
        ],
        cases=[dict(n_queries=n, n_keys=40, dtype=dtype) for dtype in cold.DTYPES for n in (5, 0)],
        draw=lambda chosen: [
            dict(n_queries=chosen.randint(6, 40), n_keys=chosen.randint(41, 99), dtype=FP16)
        ],
        bound=lambda dtype: 4 * torch.finfo(dtype).eps,
        harmless=(*NO_ALIAS, "last_element"),  # head_dim is 16
    )


def paths_norm(result, bound):
    """add_rms_norm, of which y is result 0 and r result 1."""
    return lambda paths: Launch(
        lab=paths,
        function=lambda *inputs: paths.add_rms_norm(*inputs)[result],
        reference=lambda *inputs: paths.reference(*inputs)[result].to(inputs[0].dtype),
        inputs=lambda generator, M, N, dtype: [
            whole_numbers(generator, shape, dtype) for shape in ((M, N), (M, N), (N,))
        ],
        cases=[dict(M=M, N=N, dtype=dtype) for dtype in paths.DTYPES for M, N in ((7, 19), (0, 5))],
        draw=lambda chosen: [
            dict(M=3, N=chosen.randint(20, 999), dtype=chosen.choice(paths.DTYPES))
            for _ in range(3)
        ],
        bound=bound,
        harmless=NO_ALIAS,
        takes_out=False,
    )


def autotune_norm_linear(tune) -> Launch:
    return Launch(
        lab=tune,
        function=tune.norm_linear,
        reference=lambda x, w: tune.reference(x, w).to(x.dtype),
        inputs=lambda generator, M, dtype: positive(generator, (M, 48), (48, 42), dtype=dtype),
        cases=[dict(M=M, dtype=dtype) for dtype in tune.DTYPES for M in (5, 0)],
        draw=lambda chosen: [dict(M=chosen.randint(6, 40), dtype=chosen.choice(tune.DTYPES))],
        bound=lambda dtype: 2 * torch.finfo(dtype).eps,
        harmless=NO_ALIAS,
    )


LAUNCHES = {  # by lab and launcher
    "vector_add.add": add_launch,
    "softmax.softmax": softmax_launch,
    "matmul.matmul": matmul_launch,
    "fit.fused": fit_fused,
    "fit.share": fit_share,
    "lab_notes.scale": notes_scale,
    "lab_notes.accumulate": notes_accumulate,
    "lab_notes.dot": lambda notes: product(notes, notes.dot, notes.reference_dot),
    "numerics.row_sum, tree": numerics_sum("tree"),
    "numerics.row_sum, row": numerics_sum("row"),
    "numerics.total": numerics_total,
    "numerics.linear": numerics_linear,
    "numerics.apply, exp": numerics_apply("exp", 1, bound=14 * 2**-24),
    "numerics.apply, div": numerics_apply("div", 2, bound=4 * 2**-24),
    "numerics.logsumexp": numerics_logsumexp,
    "numerics.layer_norm": numerics_layer_norm,
    "codegen.copy": codegen_copy,
    "codegen.windows": codegen_windows,
    "codegen.center": codegen_center,
    "debugging.matmul": lambda lab: product(lab, lab.matmul, lab.reference),
    "debugging.count": debugging_count,
    "cold_start.attention": cold_start_attention,
    "pytorch_paths.add_rms_norm, y": paths_norm(0, lambda dtype: rounding(dtype) + 2**-20),
    "pytorch_paths.add_rms_norm, r": paths_norm(1, lambda dtype: 0.0),
    "autotune.norm_linear": autotune_norm_linear,
}
