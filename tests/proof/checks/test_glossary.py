"""One name leads to one term, terms lead to terms, and prose uses the preferred names."""

import os

import pytest
from planted import add, found

from proof.checks import glossary


def second(tiny, **changes: str) -> None:
    """A second term, lane; `changes` replace pieces of its text."""
    text = (
        tiny.read(tiny.term)
        .replace("id: mask", "id: lane")
        .replace("preferred: mask", "preferred: lane")
    )
    text = text.replace("alt: [掩码]", "alt: [通道]")
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    tiny.write("glossary/lane.yml", text)


def test_two_terms_with_their_own_names_pass(tiny):
    second(tiny)
    assert found(tiny, glossary.ambiguous) == []


@pytest.mark.parametrize("alias", ["掩码", "MASK", "ｍａｓｋ", "Mask"])
def test_C087_one_alias_of_two_terms_is_found_in_any_case_and_width(tiny, alias):
    second(tiny, 通道=alias)
    (line,) = found(tiny, glossary.ambiguous)
    assert line.startswith("glossary/") and "belongs to glossary/" in line


@pytest.mark.parametrize(("older", "newer"), [("mask", "lane"), ("lane", "mask")])
def test_C087_one_name_of_two_terms_is_the_fault_of_the_newer_file(tiny, older, newer):
    second(tiny, 通道="掩码")
    for time, name in enumerate((older, newer)):
        os.utime(tiny.root / f"glossary/{name}.yml", (time, time))
    (line,) = found(tiny, glossary.ambiguous)
    assert line.startswith(f"glossary/{newer}.yml:") and line.endswith(
        f"belongs to glossary/{older}.yml"
    )


def test_C087_the_same_alias_in_two_languages_passes(tiny):
    second(tiny)
    tiny.edit(tiny.term, "alt: []", "alt: [通道]")
    assert found(tiny, glossary.ambiguous) == []


def test_C087_an_alias_said_twice_is_found(tiny):
    tiny.edit(tiny.term, "alt: [掩码]", "alt: [掩码, Mask]")
    assert found(tiny, glossary.ambiguous) == [
        "glossary/mask.yml:5: the zh name 'Mask' belongs to itself, twice"
    ]


def test_C087_see_also_to_a_term_that_is_gone_names_the_pages_that_use_it(tiny):
    tiny.edit(tiny.term, "see_also: []", "see_also: [lane]")
    add(tiny, '{{ term("lane") }}', "en")
    assert found(tiny, glossary.relations) == [
        "glossary/mask.yml:16: see_also names 'lane', which is no term, which docs/en/index.md also cites"
    ]


def test_see_also_to_a_term_that_cannot_be_read_is_told_there_only(tiny):
    tiny.edit(tiny.term, "see_also: []", "see_also: [lane]")
    tiny.write("glossary/lane.yml", "id: lane\n")
    assert found(tiny, glossary.relations) == []


def test_C087_see_also_by_an_alias_is_found(tiny):
    tiny.edit(tiny.term, "see_also: []", "see_also: [lane-mask]")
    assert len(found(tiny, glossary.relations)) == 1


def test_see_also_to_the_term_itself_is_found(tiny):
    tiny.edit(tiny.term, "see_also: []", "see_also: [mask]")
    (line,) = found(tiny, glossary.relations)
    assert line.endswith("see_also names the term itself")


def test_an_unknown_source_is_found(tiny):
    tiny.edit(tiny.term, "sources: []", "sources: [triton-store]")
    (line,) = found(tiny, glossary.relations)
    assert line.endswith("no source is called 'triton-store'")


@pytest.mark.parametrize("source", ["triton-load", "https://a.b/c"])
def test_a_known_source_or_an_address_passes(tiny, source):
    tiny.edit(tiny.term, "sources: []", f"sources: [{source}]")
    assert found(tiny, glossary.relations) == []


def test_an_untranslated_term_with_another_chinese_name_is_found(tiny):
    tiny.write(tiny.term, tiny.read(tiny.term).replace("preferred: mask", "preferred: 遮罩", 1))
    (line,) = found(tiny, glossary.untranslated)
    assert line == "glossary/mask.yml:4: translate is no, but the Chinese name is '遮罩'"


def test_an_untranslated_term_shown_as_another_word_is_found(tiny):
    add(
        tiny,
        '{{ term("mask", "遮罩") }} {{ term("mask", "掩码") }} {{ term("mask", "mask 张量") }}',
        "zh",
    )
    assert found(tiny, glossary.untranslated) == [
        "docs/zh/index.md:5: '遮罩' stands for a term that stays English"
    ]


def forbid(tiny, lang: str, word: str, use: str) -> None:
    tiny.edit(
        tiny.term, "forbidden: []", f"forbidden: [{{lang: {lang}, term: {word}, use: {use}}}]"
    )


def test_a_forbidden_word_names_the_one_to_use(tiny):
    forbid(tiny, "zh", "遮罩", "mask")
    add(tiny, "再加一层遮罩。", "zh")
    (problem,) = glossary.forbidden(tiny.book())
    assert (problem.file, problem.line, problem.fix) == ("docs/zh/index.md", 5, "Use mask instead")


def test_a_forbidden_english_word_is_found_whole_and_in_any_case(tiny):
    forbid(tiny, "en", "predicate", "mask")
    add(tiny, "Predicate, predicated.", "en")
    (line,) = found(tiny, glossary.forbidden)
    assert "'Predicate'" in line


@pytest.mark.parametrize("text", ["`遮罩`", "```\n遮罩\n```", "<!-- 遮罩 -->", "[x](遮罩.md)"])
def test_a_forbidden_word_in_code_or_a_target_passes(tiny, text):
    forbid(tiny, "zh", "遮罩", "mask")
    add(tiny, text, "zh")
    assert found(tiny, glossary.forbidden) == []


def test_a_forbidden_word_inside_a_right_name_passes(tiny):
    forbid(tiny, "zh", "码", "mask")
    add(tiny, "掩码", "zh")
    assert found(tiny, glossary.forbidden) == []


def test_a_forbidden_word_in_the_chinese_words_of_a_lab_is_found(tiny):
    tiny.edit(tiny.term, "forbidden: []", "forbidden: [{lang: zh, term: 掩膜, use: mask}]")
    tiny.edit(tiny.words, "最后一块写到了末尾之后", "没有掩膜")
    assert found(tiny, glossary.forbidden) == [
        f"{tiny.words}:11: the glossary does not use '掩膜' (glossary/mask.yml)"
    ]


def test_a_word_forbidden_in_chinese_may_stand_in_english(tiny):
    forbid(tiny, "zh", "guard", "mask")
    add(tiny, "guard", "en")
    assert found(tiny, glossary.forbidden) == []


def test_a_forbidden_word_in_another_term_s_text_is_found(tiny):
    forbid(tiny, "zh", "遮罩", "mask")
    second(tiny, **{"mask 为假": "遮罩为假"})
    (line,) = found(tiny, glossary.forbidden)
    assert line.startswith("glossary/lane.yml:7: ")


def test_C087_a_link_by_alias_is_legal(tiny):
    add(tiny, '{{ term("mask", "掩码") }}', "zh")
    assert found(tiny, glossary.relations) == [] and found(tiny, glossary.untranslated) == []
