"""What pages show of compiled labs: assembly beside its source, a figure of a cell, and every card."""

from __future__ import annotations

import pytest
from compiled_lab import CHANGED, file, launch
from planted import add, found

from proof.checks import references
from proof.evidence import compiled as filed
from proof.pages import compiled as compile_page
from proof.problem import Fault

PTX = "triton_tiny.third_kernel.sm_90.ptx"
KERNEL = "triton_tiny:third_kernel"


@pytest.fixture
def compiled(tiny):
    """The tiny lab with one launch filed for every target, and the PTX of one of them."""
    tiny.write(f"labs/compiled/{PTX}", "ld.global.v4.b32 { %r1 }, [ %rd1 ];\n")
    file(tiny, launch(), texts={PTX: filed.sha256(tiny.read(f"labs/compiled/{PTX}"))})
    return tiny


def assembly(tiny, *targets: str, of: str = "", lang: str = "en") -> str:
    book = tiny.book()
    return compile_page.assembly(book, book.labs["triton_tiny"], "third_kernel", targets, of, lang)


def figure(tiny, name: str, target: str = "sm_90", of: str = "") -> str:
    book = tiny.book()
    return compile_page.figure(
        book, book.labs["triton_tiny"], "third_kernel", target, name, of, "en"
    )


def test_source_and_assembly_stand_in_one_fold_with_the_version_of_triton(compiled):
    shown = assembly(compiled, "sm_90")
    assert shown.startswith(
        '??? example assembly "third_kernel: the source, and what the compiler made of it (sm_90)"'
    )
    assert "Triton 3.7.1" in shown
    assert "    def third_kernel(x_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):" in shown
    assert '```ptx title="sm_90 · PTX · 12 registers a lane"' in shown
    assert "    ld.global.v4.b32 { %r1 }, [ %rd1 ];" in shown


def test_assembly_of_a_changed_lab_is_a_badge_and_no_text(compiled):
    compiled.edit(compiled.lab, *CHANGED)
    shown = assembly(compiled, "sm_90")
    assert "the lab has changed, to be compiled again" in shown
    assert "proof compile triton_tiny" in shown
    assert "ld.global" not in shown


def test_assembly_that_was_not_written_names_the_command(compiled):
    with pytest.raises(Fault, match=r"sm_80\.ptx is not there\. Run `proof compile triton_tiny`"):
        assembly(compiled, "sm_80")


def test_assembly_of_a_claim_that_does_not_launch_the_kernel_names_those_that_do(compiled):
    with pytest.raises(Fault, match=r"no claim 'no.such' launches.*ragged_fp32.max_abs_err"):
        assembly(compiled, "sm_90", of="no.such")


def test_a_figure_is_told_with_its_target(compiled):
    assert figure(compiled, "registers") == (
        '<span class="compiled" title="triton_tiny:third_kernel · sm_90 · Triton 3.7.1">12<small>sm_90</small></span>'
    )
    assert ">2<small>" in figure(compiled, "load 16")
    assert ">fits<small>" in figure(compiled, "state")


def test_a_figure_that_is_not_there_names_those_that_are(compiled):
    with pytest.raises(
        Fault, match=r"has no 'speed'\. Write one of what it has shared_bytes, registers"
    ):
        figure(compiled, "speed")


def test_a_figure_of_a_lab_never_compiled_is_a_badge(tiny):
    assert figure(tiny, "registers") == '<span class="state stale-source">not yet compiled</span>'


@pytest.mark.parametrize(
    ("macro", "said"),
    [
        (f'{{{{ assembly("{KERNEL}", "sm_91") }}}}', "there is no target 'sm_91'"),
        (f'{{{{ assembly("{KERNEL}") }}}}', "assembly() names one or two targets"),
        (
            f'{{{{ assembly("{KERNEL}", "sm_80", "sm_86", "sm_90") }}}}',
            "assembly() names one or two targets",
        ),
        (
            '{{ assembly("triton_tiny:no_kernel", "sm_90") }}',
            "triton_tiny has no kernel 'no_kernel'",
        ),
        ('{{ assembly("triton_tin:third_kernel", "sm_90") }}', "there is no lab 'triton_tin'"),
        (
            f'{{{{ compiled("{KERNEL}", "sm_90", "speed") }}}}',
            "third_kernel on sm_90 has no 'speed'",
        ),
    ],
)
def test_a_macro_that_cannot_be_shown_is_a_finding(compiled, macro, said):
    add(compiled, macro, "en")
    (line,) = found(compiled, references.expansion)
    assert said in line


def test_what_pages_ask_for_is_known_by_file(tiny):
    add(
        tiny,
        f'{{{{ assembly("{KERNEL}", "sm_90", "gfx942") }}}}\n\n{{{{ assembly("{KERNEL}", "sm_80", of="a.b") }}}}',
    )
    assert [each.file for each in filed.asked(tiny.book())] == [
        "triton_tiny.third_kernel.sm_90.ptx",
        "triton_tiny.third_kernel.gfx942.amdgcn",
        "triton_tiny.third_kernel.a.b.sm_80.ptx",
    ]


def cards(tiny, lang: str = "en") -> str:
    return compile_page.cards(tiny.book(), lang, "../")


@pytest.mark.parametrize(
    ("card", "target", "limit"),
    [
        ("RTX 3090", "sm_86", "101,376"),
        ("RTX 4090", "sm_89", "101,376"),
        ("RTX 5090", "sm_120", "101,376"),
        ("A100", "sm_80", "166,912"),
        ("L40S", "sm_89", "101,376"),
        ("H100", "sm_90", "232,448"),
        ("H200", "sm_90", "232,448"),
        ("B200", "sm_100", "232,448"),
        ("MI210", "gfx90a", "65,536"),
        ("MI300X", "gfx942", "65,536"),
        ("MI355X", "gfx950", "163,840"),
        ("RX 7900 XTX", "gfx1100", "65,536"),
    ],
)
def test_a_card_leads_to_its_target_and_limit(compiled, card, target, limit):
    assert (
        f'| <a href="#{target}">{card}</a> | <code>{target}</code> | {limit} B | 1 fit |'
        in cards(compiled)
    )
    assert f"{{ #{target} }}" in cards(compiled)


def test_what_is_too_large_is_told_with_bytes_and_limit(tiny):
    large = {
        "state": "too large",
        "shared_bytes": 147_456,
        "registers": 255,
        "stack_bytes": 0,
        "code": {},
    }
    file(
        tiny, launch({"sm_89": large | {"sha256": "2" * 64}}), launch(constants={"BLOCK_SIZE": 64})
    )
    assert "1 fit<br>1 too large<br><small>147,456 bytes of 101,376</small>" in cards(tiny)


def test_what_is_not_offered_is_told_with_its_reason(tiny):
    file(tiny, launch({"gfx942": {"state": "not offered here", "why": "no tf32x3"}}))
    assert '1 not offered here<br><small lang="en">no tf32x3</small>' in cards(tiny)


def test_a_changed_lab_shows_a_badge_and_no_figure(compiled):
    compiled.edit(compiled.lab, *CHANGED)
    assert "12 registers" not in cards(compiled)
    assert "代码改过，待重新编译" in cards(compiled, "zh")
