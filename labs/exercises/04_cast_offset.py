"""Cast the offset: read frames from a ring buffer that has been recording for weeks.

转换偏移量：从一个录了好几周的环形缓冲区里读出几帧。

To be judged, run this file; --hint 1 shows a hint, --lang zh 用中文评判。
"""

import triton
import triton.language as tl


@triton.jit
def read_frames_kernel(ring_ptr, out_ptr, first_frame, width, capacity, BLOCK: tl.constexpr):
    pid = tl.program_id(axis=0)
    frame = first_frame + pid
    begin = ...  # how many samples were written before this frame
    lanes = tl.arange(0, BLOCK)
    mask = lanes < width
    x = tl.load(ring_ptr + (begin + lanes) % capacity, mask=mask, other=0.0)
    tl.store(out_ptr + pid * width + lanes, x, mask=mask)


def read_frames(ring, first_frame, out, BLOCK):
    n_frames, width = out.shape
    read_frames_kernel[(n_frames,)](ring, out, first_frame, width, ring.numel(), BLOCK=BLOCK)


if __name__ == "__main__":
    try:
        from judging import judge
    except ModuleNotFoundError:
        raise SystemExit(
            "The judge is not beside this file: move it into the folder that exercises.zip unpacks to."
            "\n评判程序不在旁边：请解压 exercises.zip，把这个文件放进解压出来的文件夹。"
        ) from None
    judge(__file__)
