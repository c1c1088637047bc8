import triton
import triton.language as tl


@triton.jit
def order_kernel(order_ptr, tiles_m, tiles_n, stride_om, GROUP: tl.constexpr):
    pid = tl.program_id(axis=0)
    per_group = GROUP * tiles_n
    first_m = pid // per_group * GROUP
    height = tl.minimum(tiles_m - first_m, GROUP)
    within = pid % per_group
    tile_m = first_m + within % height
    tile_n = within // height
    tl.store(order_ptr + tile_m * stride_om + tile_n, pid)


def order(order, GROUP):
    """One program for each tile. order[m, n] is the program that computes tile (m, n), int32."""
    tiles_m, tiles_n = order.shape
    order_kernel[(tiles_m * tiles_n,)](order, tiles_m, tiles_n, order.stride(0), GROUP=GROUP)
