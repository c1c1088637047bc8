"""Checks of a launcher's arguments, shared by the labs. Each names the argument and the way out.

A kernel sees a pointer and a few numbers. Whatever it takes for granted about them (dtype, device,
strides, memory that nothing else writes) is checked here, before the launch. Each check raises
TypeError or ValueError.
"""

from typing import Any

import torch
import triton


def check_elementwise(
    device: str, dtypes: tuple[torch.dtype, ...], **tensors: torch.Tensor
) -> None:
    """All that a kernel needs that walks through several tensors side by side.

    They are contiguous, on one device of type `device`, have one dtype of `dtypes` and one shape.
    """
    check_tensors(device, **tensors)
    check_dtypes(dtypes, **tensors)
    check_shape(tuple(next(iter(tensors.values())).shape), **tensors)
    check_contiguous(**tensors)


def check_converting(device: str, dtypes: tuple[torch.dtype, ...], **tensors: torch.Tensor) -> None:
    """All that a kernel needs that converts what it loads and stores.

    The tensors are contiguous, on one device of type `device`, each of any dtype of `dtypes`.
    """
    check_tensors(device, **tensors)
    for name, t in tensors.items():
        check_dtypes(dtypes, **{name: t})
    check_contiguous(**tensors)


def check_rowwise(device: str, dtypes: tuple[torch.dtype, ...], **tensors: torch.Tensor) -> None:
    """All that a kernel needs that walks through the rows of several tensors side by side.

    They are 2-D with contiguous rows, on one device, of one dtype of `dtypes` and one shape.
    """
    check_tensors(device, **tensors)
    check_dtypes(dtypes, **tensors)
    check_rows(**tensors)
    check_shape(tuple(next(iter(tensors.values())).shape), **tensors)


def check_tensors(device: str, **tensors: Any) -> None:
    """Each is a strided torch.Tensor on one device of type `device`; no gradient would be lost."""
    first_name, first = next(iter(tensors.items()))
    for name, t in tensors.items():
        if (
            not isinstance(t, torch.Tensor)
            or t.layout != torch.strided
            or t.is_neg()
            or t.is_conj()
        ):
            raise TypeError(
                f"{name} is {type(t).__name__}; it must be a torch.Tensor with strides,"
                " without a lazy negation or conjugation"
            )
        if torch.is_grad_enabled() and (t.requires_grad or has_tangent(t)):
            raise ValueError(
                f"{name} requires a gradient, and this kernel has no backward: pass {name}.detach()"
            )
        if t.device.type != device or t.device != first.device:
            raise ValueError(
                f"{name} is on {t.device}; this run needs every tensor on one {device} device,"
                f" and {first_name} is on {first.device}"
            )


def has_tangent(t: torch.Tensor) -> bool:
    """Whether forward-mode differentiation follows t."""
    return torch.autograd.forward_ad.unpack_dual(t).tangent is not None


def check_dtypes(allowed: tuple[torch.dtype, ...], **tensors: torch.Tensor) -> None:
    """All have one dtype, and it is one of `allowed`."""
    first_name, first = next(iter(tensors.items()))
    if first.dtype not in allowed:
        raise TypeError(
            f"{first_name} is {first.dtype}; allowed here: {', '.join(map(str, allowed))}"
        )
    for name, t in tensors.items():
        if t.dtype != first.dtype:
            raise TypeError(f"{name} is {t.dtype}; it must be {first.dtype}, as {first_name} is")


def check_shape(shape: tuple[int, ...], **tensors: torch.Tensor) -> None:
    """Each has this shape."""
    for name, t in tensors.items():
        if tuple(t.shape) != tuple(shape):
            raise ValueError(f"{name} has shape {tuple(t.shape)}; it must have {tuple(shape)}")


def check_contiguous(**tensors: torch.Tensor) -> None:
    """The elements of each lie side by side, in order."""
    for name, t in tensors.items():
        if not t.is_contiguous():
            raise ValueError(
                f"{name} has strides {t.stride()}, and this kernel reads contiguously:"
                f" pass {name}.contiguous()"
            )


def check_dimensions(ndim: int, **tensors: torch.Tensor) -> None:
    """Each has this many dimensions."""
    for name, t in tensors.items():
        if t.ndim != ndim:
            raise ValueError(f"{name} has shape {tuple(t.shape)}; it must have {ndim} dimensions")


def check_rows(**tensors: torch.Tensor) -> None:
    """Each is 2-D, and the elements of a row lie side by side; rows may lie any distance apart."""
    for name, t in tensors.items():
        if t.ndim != 2:
            raise ValueError(
                f"{name} has shape {tuple(t.shape)}; it must be 2-D: pass {name}.view(-1, n_cols)"
            )
        if t.shape[1] > 1 and t.stride(1) != 1:
            raise ValueError(
                f"{name} has strides {t.stride()}, and this kernel reads each row contiguously:"
                f" pass {name}.contiguous()"
            )


def check_whole(name: str, value: object, low: int, high: int | None = None) -> None:
    """`value` is an int from `low` to `high`, both included; None sets no upper limit."""
    if not isinstance(value, int) or value < low or (high is not None and value > high):
        limit = f"from {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{name} is {value!r}; it must be a whole number {limit}")


def check_sizes(most: int, why: str, **tensors: torch.Tensor) -> None:
    """No dimension of any is longer than `most`; `why` tells the reason in the error."""
    for name, t in tensors.items():
        if any(size > most for size in t.shape):
            raise ValueError(f"{name} has shape {tuple(t.shape)}; no size may pass {most:,}: {why}")


def check_product(
    device: str, dtypes: tuple[torch.dtype, ...], a: torch.Tensor, b: torch.Tensor
) -> None:
    """All that a kernel needs that multiplies a, (M, K), with b, (K, N), tile by tile.

    They are on one device, have one dtype of `dtypes`, and the elements of a row lie side by side.
    """
    check_tensors(device, a=a, b=b)
    check_dtypes(dtypes, a=a, b=b)
    check_rows(a=a, b=b)
    check_shape((a.shape[1], b.shape[1]), b=b)
    check_sizes(2**31 - 256, "rows and columns are counted in 32 bits", a=a, b=b)


def check_last_dim(dims: str, **tensors: torch.Tensor) -> None:
    """Each has these dimensions, "(heads, length)"; the elements of the last lie side by side."""
    for name, t in tensors.items():
        if t.ndim != dims.count(",") + 1:
            raise ValueError(f"{name} has shape {tuple(t.shape)}; it must be {dims}")
        if t.shape[-1] > 1 and t.stride(-1) != 1:
            raise ValueError(
                f"{name} has strides {t.stride()}, and this kernel reads its last dimension"
                f" contiguously: pass {name}.contiguous()"
            )


def check_one_of(name: str, value: object, allowed: tuple[object, ...]) -> None:
    """`value` is one of `allowed`."""
    if value not in allowed:
        raise ValueError(f"{name} is {value!r}; allowed: {', '.join(map(str, allowed))}")


INPUT_PRECISIONS = ("ieee", "tf32", "tf32x3")  # how tl.dot multiplies fp32


def check_input_precision(input_precision: str) -> None:
    """tl.dot has this precision on the current GPU; the interpreter ignores which one is given."""
    check_one_of("input_precision", input_precision, INPUT_PRECISIONS)
    if input_precision == "ieee" or triton.knobs.runtime.interpret:
        return
    target = triton.runtime.driver.active.get_current_target()
    if target.backend == "hip" and (input_precision, target.arch) != ("tf32", "gfx942"):
        raise ValueError(
            f"input_precision is {input_precision!r}; AMD's back end has tf32 on gfx942 only"
            " and tf32x3 nowhere: pass 'ieee'"
        )


# --8<-- [start:overlap]
def check_no_overlap(
    out: torch.Tensor, in_place: bool = False, name: str = "out", **inputs: torch.Tensor
) -> None:
    """`out` shares no memory with itself or an input; with `in_place` it may be exactly an input.

    Programs run in any order, and one could otherwise read what another has already written.
    """
    if overlaps_itself(out):
        raise ValueError(
            f"{name} has strides {out.stride()}, so its elements overlap: pass {name}.contiguous()"
        )
    for input_name, t in inputs.items():
        if in_place and same_memory(out, t):
            continue
        if overlaps(out, t):
            way_out = (
                f"pass {name}={input_name} or memory apart from it"
                if in_place
                else "pass a tensor of its own"
            )
            raise ValueError(f"{name} overlaps {input_name}, which is still being read: {way_out}")


def checked_output(
    out: torch.Tensor | None,
    shape: tuple[int, ...],
    dtypes: tuple[torch.dtype, ...],
    rows_apart: bool = False,
    **inputs: torch.Tensor,
) -> torch.Tensor:
    """`out`, or, where it is None, a new tensor of this shape and of the first of `dtypes`.

    `out` is contiguous, or, with `rows_apart`, each of its rows is; it is on the device of the
    first input, has one of `dtypes`, and shares no memory with an input.
    """
    first_name, first = next(iter(inputs.items()))
    if out is None:
        return first.new_empty(shape, dtype=dtypes[0])
    check_tensors(first.device.type, **{first_name: first}, out=out)
    check_dtypes(tuple(dict.fromkeys(dtypes)), out=out)
    if rows_apart:
        check_rows(out=out)
    else:
        check_contiguous(out=out)
    check_shape(shape, out=out)
    check_no_overlap(out, **inputs)
    return out


def same_memory(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether element i of one is element i of the other."""
    return (a.data_ptr(), a.shape, a.stride(), a.dtype) == (
        b.data_ptr(),
        b.shape,
        b.stride(),
        b.dtype,
    )


def span(t: torch.Tensor) -> tuple[int, int]:
    """The addresses from the first byte of t to one past its last: (begin, end)."""
    last = sum((size - 1) * stride for size, stride in zip(t.shape, t.stride(), strict=True))
    return t.data_ptr(), t.data_ptr() + (last + 1) * t.element_size()


def overlaps(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether a and b share a byte; True also for interleaved views, costly to tell apart.

    Exact where the two spans are apart, and where both are 2-D with rows equally far apart, such as
    columns of one buffer.
    """
    if a.numel() == 0 or b.numel() == 0:
        return False
    (a_begin, a_end), (b_begin, b_end) = span(a), span(b)
    if a_end <= b_begin or b_end <= a_begin:
        return False
    pitches = {t.stride(0) * t.element_size() for t in (a, b) if t.ndim == 2}
    if a.ndim == b.ndim == 2 and len(pitches) == 1 and a.stride(1) == b.stride(1) == 1:
        return columns_overlap(a, b, pitches.pop())
    return True


def columns_overlap(a: torch.Tensor, b: torch.Tensor, pitch: int) -> bool:
    """Whether rows of a and b, both `pitch` bytes apart, share columns."""
    widths = [t.shape[1] * t.element_size() for t in (a, b)]
    if pitch == 0 or max(widths) > pitch:
        return True
    distance = (b.data_ptr() - a.data_ptr()) % pitch  # from a row of a to the next row of b
    return distance < widths[0] or distance + widths[1] > pitch


def overlaps_itself(t: torch.Tensor) -> bool:
    """Whether two elements of t may be one: a stride ends within what smaller dimensions span."""
    if t.numel() == 0:
        return False
    reach = 0
    for stride, size in sorted(zip(t.stride(), t.shape, strict=True)):
        if size > 1 and stride <= reach:
            return True
        reach += stride * (size - 1)
    return False


# --8<-- [end:overlap]
