"""What triton_codegen does not claim of itself: bad arguments, the cases by their ids, and what it says of a reader's own kernel."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from reading import by_target, opcodes

FP32, FP16 = torch.float32, torch.float16

MINE = """
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
    tl.store(out_ptr + offsets, x * 2, mask=offsets < n)


@triton.autotune(configs=[triton.Config({"BLOCK": 256}, num_warps=2)], key=["n"])
@triton.jit
def tuned_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets))


@triton.jit
def square_kernel(x_ptr, PRECISION: tl.constexpr, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    p = x_ptr + i[:, None] * SIZE + i[None, :]
    x = tl.load(p)
    tl.store(p, tl.dot(x, x, input_precision=PRECISION))


def plain(x):
    return x
"""


@pytest.fixture(scope="module")
def codegen(lab):
    return lab("triton_codegen")


ASKED = """
import contextlib, io, json, pathlib, sys
sys.path.insert(0, sys.argv[1])
import explain, judge, triton_codegen

def claim(id):
    return judge.judge_claim(triton_codegen, judge.claim_named(triton_codegen, id))

def bug(name, folder):
    return judge.judge_bug(triton_codegen, next(b for b in triton_codegen.BUGS if b.name == name), pathlib.Path(folder))

calls = {"claim": claim, "bug": bug, "explain_command": explain.explain_command}
for line in sys.stdin:
    name, *arguments = json.loads(line)
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        result = calls[name](*arguments)
    print(json.dumps([result, out.getvalue(), err.getvalue()]), flush=True)
"""


def without_gpu(**more):
    quiet = {name: value for name, value in os.environ.items() if not name.startswith("TRITON_")}
    return quiet | {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""} | more


@pytest.fixture(scope="module")
def compiler(codegen):
    """compiler("claim", "load.ptx") is what that function returns, prints and complains of, where it may compile.

    One process answers all, since most of a second goes into the import of Triton.
    """
    command = [sys.executable, "-c", ASKED, Path(codegen.__file__).parent]
    pipes = dict(
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )

    def ask(*call):
        print(json.dumps(call), file=process.stdin, flush=True)
        return tuple(json.loads(process.stdout.readline()))

    with subprocess.Popen(command, env=without_gpu(TRITON_INTERPRET="0"), **pipes) as process:
        yield ask
        process.stdin.close()


@pytest.fixture
def told(compiler, tmp_path):
    """told("scale_kernel(…)", words…) is the exit status, what was printed and the complaints, for a kernel of a reader's file."""
    (tmp_path / "mine.py").write_text(MINE)
    return lambda kernel, *words, file="mine.py": compiler(
        "explain_command", [f"{tmp_path / file}:{kernel}", *words]
    )


# Bad arguments


@pytest.mark.parametrize("dtype", [torch.float64, torch.int32, torch.bool, torch.bfloat16])
def test_c006_dtypes_that_no_kernel_here_takes(codegen, dtype):
    x = torch.zeros(64, 64, dtype=dtype)
    with pytest.raises(
        TypeError, match=rf"x is {dtype}; allowed here: torch\.float32, torch\.float16"
    ):
        codegen.copy(x[0])
    with pytest.raises(TypeError, match=f"x is {dtype}"):
        codegen.center(x)


def test_c012_views_are_read_right_or_refused(codegen):
    x = torch.arange(24.0).view(4, 6)
    assert torch.equal(codegen.copy(x[:, 1]), x[:, 1]) and torch.equal(codegen.copy(x[1]), x[1])
    assert torch.equal(codegen.copy(x[0, :1].expand(5)), torch.zeros(5))
    with pytest.raises(ValueError, match=r"x has strides \(1, 6\).* pass x\.contiguous\(\)"):
        codegen.center(x.t())


def test_c048_a_tensor_elsewhere_is_named(codegen):
    with pytest.raises(
        ValueError, match="x is on meta; this run needs every tensor on one cpu device"
    ):
        codegen.copy(torch.zeros(4, device="meta"))


@pytest.mark.parametrize("out", [torch.zeros(5), torch.zeros(8)[::2], torch.zeros(2, 2)])
def test_out_must_fit(codegen, out):
    with pytest.raises(ValueError, match=r"out (is|has) "):
        codegen.copy(torch.zeros(4), out=out)


def test_out_must_not_be_what_is_read(codegen):
    x = torch.zeros(9)
    with pytest.raises(ValueError, match="out overlaps x, which is still being read"):
        codegen.copy(x[1:], out=x[:8])


def test_narrow_offsets_are_refused_where_they_would_wrap(codegen):
    near, far = (
        torch.zeros(1).as_strided((1,), (stride,)) for stride in (2**21 - 1, 2**21)
    )  # times 1024 lanes
    assert torch.equal(codegen.copy(near, wide=False), torch.zeros(1))
    with pytest.raises(ValueError, match=r"past 2\*\*31: leave wide=True"):
        codegen.copy(far, wide=False)


@pytest.mark.parametrize(
    ("launcher", "good"),
    [
        ("copy", {"x": torch.ones(4), "out": torch.ones(4)}),
        ("center", {"x": torch.ones(2, 2), "out": torch.ones(2, 2)}),
        (
            "windows",
            {
                "x": torch.ones(1024),
                "starts": torch.zeros(1, dtype=torch.int64),
                "out": torch.ones(1, 1024),
            },
        ),
    ],
)
@pytest.mark.parametrize(
    "wrong", [[[1.0]], 2.0, "x", torch.eye(2).to_sparse()], ids=["list", "float", "str", "sparse"]
)
def test_an_argument_that_is_no_dense_tensor_is_named(codegen, launcher, good, wrong):
    for name in good:
        with pytest.raises(
            TypeError,
            match=f"^{name} is {type(wrong).__name__}; it must be a torch.Tensor with strides",
        ):
            getattr(codegen, launcher)(**good | {name: wrong})


@pytest.mark.parametrize("starts", [[-1], [0, 3073]])
def test_a_window_past_the_end_is_refused(codegen, starts):
    with pytest.raises(ValueError, match="x has 4096 elements, and a window takes 1024"):
        codegen.windows(torch.zeros(4096), torch.tensor(starts))


def test_a_promise_is_checked_before_the_compiler_believes_it(codegen):
    x = torch.arange(4096.0)
    with pytest.raises(
        ValueError, match="aligned promises what does not hold: a start is not divisible by 16"
    ):
        codegen.windows(x, torch.tensor([16, 3]), aligned=True)
    with pytest.raises(ValueError, match="or x is not aligned to 16 bytes"):
        codegen.windows(x[1:], torch.tensor([16]), aligned=True)
    assert torch.equal(codegen.windows(x, torch.tensor([32]), aligned=True)[0], x[32:1056])


# Right results at every size


@pytest.mark.parametrize("shape", [(0,), (1,), (1023,), (1025,), (5000,)])
@pytest.mark.parametrize("dtype", [FP32, FP16])
def test_c029_copy_takes_any_length(codegen, shape, dtype):
    x = torch.arange(shape[0]).remainder(99).to(dtype)
    assert torch.equal(codegen.copy(x), x)


@pytest.mark.parametrize("columns", [1, 2, 65535, 65536, 65537, 131072])
def test_c046_a_row_is_right_at_every_width_that_fits(codegen, columns):
    x = torch.arange(columns).remainder(50).float().view(1, columns)
    assert torch.equal(codegen.center(x, num_warps=32), x - x.max())


@pytest.mark.parametrize(
    ("columns", "warps", "says"),
    [
        (32769, 4, "x has 32769 columns; with num_warps=4 a row may have 32768: pass more warps"),
        (
            1048576,
            32,
            "x has 1048576 columns; with num_warps=32 a row may have 262144: walk the row in pieces",
        ),
        (
            1048577,
            32,
            "x has 1048577 columns; with num_warps=32 a row may have 262144: walk the row in pieces",
        ),
    ],
)
def test_c046_a_row_that_is_too_wide_is_told_its_limit_and_the_way_round(
    codegen, columns, warps, says
):
    with pytest.raises(ValueError, match=says):
        codegen.center(torch.zeros(1, columns), num_warps=warps)


def test_warps_are_a_power_of_two(codegen):
    with pytest.raises(ValueError, match="num_warps is 3; allowed: 1, 2, 4, 8, 16, 32"):
        codegen.center(torch.zeros(1, 8), num_warps=3)


# What the compiler does, as the cases ask for it


def test_c014_fp32_is_multiplied_in_tf32_unless_told_otherwise(compiler):
    value = compiler("claim", "dot_fp32.instruction")[0]["value"]
    assert "sm_90: wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32" in value
    assert (
        compiler("claim", "dot_ieee.instruction")[0]["value"]
        == "sm_80 sm_90: fma.rn.f32, gfx942: v_mfma_f32_32x32x2_f32"
    )


def test_c014_a_kernel_that_drops_the_precision_is_caught(compiler, tmp_path):
    row = compiler("bug", "fp32_is_fp32", str(tmp_path))[0]
    assert (row["verdict"], row["value"]) == ("ok", "error") and ".tf32.tf32" in row["figure"]


def test_c046_the_width_at_which_registers_spill(compiler):
    assert (
        compiler("claim", "row.first_spill")[0]["value"] == "sm_80 sm_89 sm_90: 32768, gfx942: none"
    )


@pytest.mark.parametrize(
    ("seen", "text"),
    [
        ({"a": "x", "b": "x", "c": "y"}, "a b: x, c: y"),
        ({"a": "x", "b": "y", "c": "x"}, "a c: x, b: y"),
        ({"a": 1}, "a: 1"),
    ],
)
def test_targets_with_the_same_code_are_told_together(codegen, seen, text):
    assert by_target(seen) == text


PTX = """
	.loc	1 7 3                           // mine.py:7:3
	@%p1 ld.global.v4.b32 { %r1, %r2, %r3, %r4 }, [ %rd1 + 0 ];
	.loc	2 191 40                        // standard.py:191:40 @[ mine.py:8:26 ]
	max.f32 	%f1, %f2, %f3;
	.loc	1 9 5                           // mine.py:9:5
	// begin inline asm
	.loc	1 10 5                          // mine.py:10:5
	mov.u32 %r1, 0x0;
	// end inline asm
$L__tmp0:
	tcgen05.mma.cta_group::1.kind::f16 [ %r1 + 0 ], %rd1;
	.loc	3 1 1                           // not_mine.py:4:1
	ret;
"""
AMD = """
	.loc	1 7 3 is_stmt 1                 ; mine.py:7:3
	v_mul_f32_e32 v1, v2, v3
	s_endpgm
.Lfunc_end0:
"""


@pytest.mark.parametrize(
    ("asm", "seen"),
    [
        (
            {"ptx": PTX},
            [
                ("ld.global.v4.b32", 7),
                ("max.f32", 8),
                ("mov.u32", 9),
                ("tcgen05.mma.cta_group::1.kind::f16", 9),
                ("ret", 0),
            ],
        ),
        ({"amdgcn": AMD}, [("v_mul_f32", 7), ("s_endpgm", 7)]),
    ],
)
def test_an_instruction_belongs_to_the_outermost_line_and_inline_asm_to_one(codegen, asm, seen):
    """Triton 3.9 counts the lines of inline asm on, as if each were the next line of the kernel."""
    made = type("Made", (), {"asm": asm})
    assert opcodes(made, "mine.py") == [(opcode.rstrip(";"), line) for opcode, line in seen]


# A kernel of the reader's own


def test_a_reader_sees_which_line_became_what_for_two_makers(told):
    status, out, err = told("scale_kernel(*fp32, *fp32, 1024, BLOCK=1024)", "sm_90", "gfx942")
    assert (status, err) == (0, "")
    nvidia, amd = out.strip().split("\n\n")
    assert (
        nvidia.startswith("scale_kernel for sm_90, Triton ")
        and "4 warps of 32 lanes, 3 stages" in nvidia
    )
    assert (
        amd.startswith("scale_kernel for gfx942, Triton ")
        and "4 warps of 64 lanes, 2 stages" in amd
    )
    lines = [line.split(None, 1) for line in nvidia.splitlines()]
    load = lines.index(["9", "x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)"])
    assert lines[load + 1] == ["2", "ld.global.v4.b32"]
    assert ["1", "buffer_store_dwordx4"] in [line.split() for line in amd.splitlines()]


def test_an_unaligned_pointer_and_a_launch_option_can_be_asked_for(told):
    status, out, _ = told("scale_kernel(*fp32+1, *fp32, 1024, BLOCK=1024, num_warps=8)", "sm_80")
    assert status == 0 and "8 warps of 32 lanes" in out and "   4 ld.global.b32\n" in out


def test_a_tuned_kernel_is_shown_in_its_first_configuration(told):
    status, out, _ = told("tuned_kernel(*fp16, *fp16, 256)", "sm_80")
    assert status == 0 and "2 warps of 32 lanes" in out


@pytest.mark.parametrize(
    ("level", "holds"), [("ttir", "tt.load"), ("llir", "define"), ("sass", "LDG.E.128")]
)
def test_one_level_is_printed_whole(told, level, holds):
    status, out, _ = told("scale_kernel(*fp32, *fp32, 1024, BLOCK=1024)", "sm_90", level)
    assert status == 0 and holds in out and "lines:" not in out


def test_a_target_that_fails_says_so_in_one_line_and_the_others_go_on(told):
    status, out, err = told("square_kernel(*fp32, 'tf32x3', 32)", "gfx942", "sm_80")
    assert status == 2 and out.startswith("square_kernel for sm_80")
    assert err.startswith(
        "square_kernel does not compile for gfx942: input_precision must be one of"
    )
    assert err.count("\n") == 1


def test_too_much_shared_memory_is_told_with_the_limit(told):
    status, out, _ = told("square_kernel(*fp32, 'tf32', 128)", "sm_80", "sm_89")
    assert status == 0
    assert ", 131072 bytes of shared memory\n" in out
    assert ", 131072 bytes of shared memory: TOO LARGE, at most 101376\n" in out


def test_the_command_line_does_it_without_a_gpu(codegen, tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    command = [
        sys.executable,
        codegen.__file__,
        "mine.py:scale_kernel(*fp32, *fp32, 1024, BLOCK=1024)",
        "sm_90",
    ]
    done = subprocess.run(
        command, cwd=tmp_path, env=without_gpu(), capture_output=True, text=True, timeout=100
    )
    assert (done.returncode, done.stderr) == (0, "") and "ld.global.v4.b32" in done.stdout


@pytest.mark.parametrize(
    ("kernel", "words", "says"),
    [
        ("nothing(1)", (), "nothing is no kernel of "),
        ("plain(1)", (), "plain is no kernel of "),
        (
            "scale_kernel",
            (),
            "scale_kernel takes x_ptr, out_ptr, n, BLOCK: give its arguments, as in ",
        ),
        (
            "scale_kernel(*fp32, *fp32, 5)",
            (),
            "scale_kernel takes x_ptr, out_ptr, n, BLOCK; missing a required",
        ),
        (
            "scale_kernel(*fp32, *fp32, 5, 6, 7)",
            (),
            "scale_kernel takes x_ptr, out_ptr, n, BLOCK; too many positional",
        ),
        (
            "scale_kernel(*fp33, *fp32, 5, BLOCK=64)",
            (),
            "*fp33 is not a pointer; allowed: *fp64, *fp32",
        ),
        (
            "scale_kernel(*fp32, *fp32, n, BLOCK=64)",
            (),
            "n is not an argument: write *fp32 for a pointer, a number",
        ),
        (
            "scale_kernel(*fp32, *fp32, 5, BLOCK=64)",
            ("sm_70",),
            "sm_70 is neither a target (sm_80, sm_86",
        ),
        (
            "scale_kernel(*fp32, *fp32, 5, BLOCK=64)",
            ("gfx942", "ptx"),
            "gfx942 has no ptx; it has ttir, ttgir, llir",
        ),
        (
            "scale_kernel(*fp32, *fp32, 5, BLOCK=65)",
            ("sm_80",),
            "scale_kernel does not compile for sm_80: arange's",
        ),
        ("scale_kernel(*fp32, *fp32, 5, BLOCK=64, num_wraps=2)", ("sm_80",), "num_wraps"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(told, kernel, words, says):
    status, out, err = told(kernel, *words)
    assert (status, out) == (2, "") and says in err and err.count("\n") == 1


def test_a_file_that_is_not_there_or_cannot_be_imported(told, tmp_path):
    assert told("k(1)", file="no.py") == (2, "", f"{tmp_path / 'no.py'} is not a file\n")
    (tmp_path / "bad.py").write_text("import no_such_module")
    status, _, err = told("k(1)", file="bad.py")
    assert status == 2 and err.endswith(
        "cannot be imported: ModuleNotFoundError: No module named 'no_such_module'\n"
    )


def test_explain_in_the_interpreter_names_the_way_out(codegen):
    with pytest.raises(
        TypeError, match="this process interprets: set TRITON_INTERPRET=0 before triton is imported"
    ):
        codegen.explain(codegen.copy_kernel, FP32, FP32, 5, 1, BLOCK_SIZE=64)
