import triton
import triton.language as tl


@triton.jit
def read_frames_kernel(ring_ptr, out_ptr, first_frame, width, capacity, BLOCK: tl.constexpr):
    pid = tl.program_id(axis=0)
    frame = first_frame + pid
    begin = frame.to(tl.int64) * width  # how many samples were written before this frame
    lanes = tl.arange(0, BLOCK)
    mask = lanes < width
    x = tl.load(ring_ptr + (begin + lanes) % capacity, mask=mask, other=0.0)
    tl.store(out_ptr + pid * width + lanes, x, mask=mask)


def read_frames(ring, first_frame, out, BLOCK):
    n_frames, width = out.shape
    read_frames_kernel[(n_frames,)](ring, out, first_frame, width, ring.numel(), BLOCK=BLOCK)
