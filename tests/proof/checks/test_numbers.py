"""A measured number is not typed into prose; a shape, a count, a version or a date may be."""

import pytest
from planted import add, found

from proof.checks import numbers
from proof.checks.numbers import measured
from proof.checks.rules import given_tally, tally
from proof.text.markdown import read

MEASURED = {
    "5 ms": "5 ms",
    "0.35ms": "0.35ms",
    "12 µs": "12 µs",
    "12 μs": "12 μs",  # the Greek letter
    "7us": "7us",
    "40 ns": "40 ns",
    "it takes 3 s": "3 s",
    "1.5s": "1.5s",
    "耗时 1s": "1s",
    "takes 30s": "30s",
    "2 seconds": "2 seconds",
    "耗时 3 秒": "3 秒",
    "约20毫秒": "20毫秒",
    "15 微秒": "15 微秒",
    "80 GB": "80 GB",
    "24GB显存": "24GB",
    "48 KB": "48 KB",
    "64 KiB": "64 KiB",
    "4,800 GB/s": "4,800 GB/s",
    "3.35 TB/s": "3.35 TB/s",
    "989 TFLOP/s": "989 TFLOP/s",
    "312 TFLOPS": "312 TFLOPS",
    "1.98 GHz": "1.98 GHz",
    "700 W": "700 W",
    "97%": "97%",
    "97 ％": "97 ％",  # full width
    "5 per cent": "5 per cent",
    "2 个百分点": "2 个百分点",
    "百分之五": "百分之五",
    "1.03 × the copy bandwidth": "1.03 ×",
    "2× faster": "2×",
    "3x faster": "3x",
    "3 x faster": "3 x",
    "a ×3 gain": "×3",
    "快 3 倍": "3 倍",
    "快3倍": "3倍",
    "1.5 万倍": "1.5 万倍",
    "5 times faster": "5 times",
    "5 times as fast": "5 times",
    "about 1e-6": "1e-6",
    "2.4E−7": "2.4E−7",
    "10⁻⁶": "10⁻⁶",
    "10^-6": "10^-6",
    "10**-6": "10**-6",
    "3–5 ms": "5 ms",
    "5000 tokens/s": "5000 tokens/s",
    "a four-fold gain": "four-fold",
    "Three times as fast": "Three times",
    "twice the speed": "twice",
    "in half the time": "half",
    "an order of magnitude faster": "order of magnitude",
    "快四倍": "快四倍",
    "慢了近一倍": "慢了近一倍",
    "提速三成": "提速三成",
    "性能提升了两倍": "性能提升了两倍",
    "快了一个数量级": "快了一个数量级",
    "慢好几个数量级": "慢好几个数量级",
    "十倍的速度": "十倍",
}


@pytest.mark.parametrize(("line", "found"), MEASURED.items())
def test_a_number_with_a_measured_unit_or_form_is_found(line, found):
    assert list(measured(line)) == [found]


PLAIN = [
    "512 × 768 × 256",
    "1,823 × 781",
    "64×64",
    "64x64",
    "16 x 16",
    "2^31",
    "2³¹ 个元素",
    "2⁻²⁴",
    "98,432 elements",
    "4 warps × 32 lanes × 8 elements",
    "2 × N",
    "(2 × K) bytes",
    "0x1F",
    "x86",
    "32-bit offsets",
    "16 bytes",
    "147,456 B",
    "10⁶",
    "1e9 elements",
    "Triton 3.7.1",
    "torch 2.13.0",
    "2026-11-29",
    "29 November 2026",
    "5 May 2027",
    "the 1990s",
    "the 90s",
    "filled with 0s and 1s",
    "sm_90",
    "fp16 m",
    "H200",
    "A100-80GB",
    "Qwen2.5-7B",
    "ADR-0004",
    "called 3 times",
    "3 times",
    "第 3 次",
    "8 个 break",
    "20 minutes",
    "180 days",
    "5 steps",
    "5 mask",
    "5 sm",
    "两倍",
    "两倍的字节",
    "half a unit in the last place",
    "twice the bytes",
    "half the time the branch is not taken",
    "块大小提高两倍之后，寄存器不够用",
    "快了几倍，要看记录",
    "twice",
]


@pytest.mark.parametrize("line", PLAIN)
def test_a_shape_a_count_a_version_or_a_date_is_not_measured(line):
    assert list(measured(line)) == []


@pytest.mark.parametrize(
    "text",
    [
        "`5 ms`",
        "```\n5 ms\n```",
        "\\(5\\,\\mathrm{ms}\\)",
        "<!-- 5 ms -->",
        "[x](5ms.md)",
        "2 × `BLOCK`",
    ],
)
def test_code_mathematics_comments_and_targets_are_not_prose(text):
    assert [found for _, line in read(text).lines() for found in measured(line)] == []


def test_a_factor_after_a_claim_is_the_claims():
    assert [
        found
        for _, line in read('{{ claim("a.b.c") }} × 的带宽').lines()
        for found in measured(line)
    ] == []


def test_two_numbers_of_a_line_are_two_findings():
    assert list(measured("from 3 ms to 5 ms")) == ["3 ms", "5 ms"]


def test_C026_a_number_typed_into_a_page_names_page_line_and_number(tiny):
    add(tiny, "误差约 1e-6，快 3 倍。", "zh")
    assert found(tiny, numbers.typed) == [
        "docs/zh/index.md:5: “1e-6” is a measured number typed into prose",
        "docs/zh/index.md:5: “3 倍” is a measured number typed into prose",
    ]


@pytest.mark.parametrize("text", ["It is 4 times faster.", "a 4x speedup", "快了 30%", "慢 2 倍"])
def test_C051_a_typed_promise_of_speed_is_found(tiny, text):
    add(tiny, text, "en")
    assert len(found(tiny, numbers.typed)) == 1


def test_a_decision_and_a_term_are_pages_too(tiny):
    tiny.edit(tiny.decision["en"], "# Records, not promises", "# Records, in 5 ms")
    tiny.edit(tiny.term, "Where the mask is false", "In 5 ms, where the mask is false")
    lines = found(tiny, numbers.typed)
    assert [line.split(":")[0] for line in lines] == [tiny.decision["en"], tiny.term]
    decision, term = (tiny.read(path).split("\n") for path in (tiny.decision["en"], tiny.term))
    assert (
        "5 ms" in decision[int(lines[0].split(":")[1]) - 1]
        and "5 ms" in term[int(lines[1].split(":")[1]) - 1]
    )


def test_a_given_number_passes_and_is_counted(tiny):
    assert given_tally(tiny.book()) == 0
    add(tiny, '{{ given("24 GB", source="triton-load") }}')
    assert found(tiny, numbers.typed) == []
    assert given_tally(tiny.book()) == 2


def test_the_title_of_someone_else_s_work_keeps_its_numbers(tiny):
    add(tiny, "[FlashAttention: 2-4x faster](https://a.b/c)", "en")
    assert found(tiny, numbers.typed) == []


def test_the_text_of_a_link_inside_the_site_is_prose(tiny):
    add(tiny, "[4x faster](index.md)", "en")
    assert len(found(tiny, numbers.typed)) == 1


def test_exceptions_are_told_in_one_place(tiny):
    add(tiny, "12 <!-- parity: 只对中国读者 -->", "zh")
    assert tally(tiny.book()) == (
        "0 numbers marked as given by others · 1 exceptions from parity\n  docs/zh/index.md:5: 只对中国读者"
    )
