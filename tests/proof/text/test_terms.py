"""Terms are found where readers meet them, once, and never inside other words, code, links or headings."""

from __future__ import annotations

import handmade as made
import pytest
from bs4 import BeautifulSoup

from proof.text.terms import link_terms, mentioned

TERMS = [
    made.term("mask", "掩码", "mask", en_alt=["masks"]),
    made.term("coalescing", "合并访存", "coalescing"),
    made.term("access", "访存", "memory access"),
    made.term("program", "程序", "program"),
    made.term("reduction", "归约", "reduction", zh_alt=["规约"]),
    made.term("sm", "流式多处理器", "SM", en_alt=["streaming multiprocessor"]),
    made.term("tensor-core", "张量核心", "tensor core"),
    made.term("warp", "warp", "warp"),
    made.term("l2", "L2 缓存", "L2"),
]


def linked(html: str, lang: str = "zh", up: str = "../../") -> list[tuple[str, str]]:
    """Text and target of each term link."""
    soup = BeautifulSoup(link_terms(html, TERMS, lang, up), "html.parser")
    return [
        (a.get_text(), a["href"].removeprefix(f"{up}glossary/#")) for a in soup.select("a.term")
    ]


def test_the_markup_of_a_term_is_a_link_described_by_a_tooltip():
    assert link_terms("<p>a mask here</p>", TERMS, "en", "../../") == (
        '<p>a <span class="term-wrap"><a aria-describedby="tip-mask" class="term" href="../../glossary/#mask">mask</a>'
        '<span class="term-tip" data-search-exclude="" id="tip-mask" role="tooltip">What mask is</span></span> here</p>'
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("用mask守住边界", ["mask"]),
        ("mask的作用", ["mask"]),
        ("本课讲合并访存如何省带宽", ["合并访存"]),
        ("归约，先做再说", ["归约"]),
        ("先做归约。", ["归约"]),
        ("（归约）", ["归约"]),
        ("每个SM上", ["SM"]),
        ("先规约后写回", ["规约"]),
        ("命中L2时", ["L2"]),
    ],
)
def test_c020_a_term_glued_to_chinese_text_is_linked(text, found):
    assert [name for name, _ in linked(f"<p>{text}</p>")] == found


@pytest.mark.parametrize("text", ["bitmask", "masked", "mask_m", "my_mask", "unmask", "mask2"])
def test_c020_a_latin_term_inside_a_longer_word_is_not_linked(text):
    assert linked(f"<p>这里用{text}来写</p>") == []


def test_a_plural_is_linked_where_it_is_another_name():
    assert linked("<p>two masks</p>", "en") == [("masks", "mask")]


def test_c020_the_longest_name_wins():
    assert linked("<p>合并访存</p>") == [("合并访存", "coalescing")]


def test_c020_a_term_inside_a_longer_term_is_not_linked_when_that_one_is_linked_already():
    assert linked("<p>合并访存，再说合并访存</p>") == [("合并访存", "coalescing")]


@pytest.mark.parametrize("text", ["程序员都知道", "产品和服务"])
def test_c020_a_chinese_term_inside_an_unrelated_word_is_not_linked(text):
    terms = [*TERMS, made.term("kimono", "和服", "kimono")]
    assert link_terms(f"<p>{text}</p>", terms, "zh", "") == f"<p>{text}</p>"


def test_c020_the_word_itself_is_still_found_after_a_longer_one():
    assert linked("<p>程序员写程序</p>") == [("程序", "program")]


def test_only_the_first_mention_on_a_page_is_linked():
    assert linked("<p>mask 与 mask</p><p>掩码</p>") == [("mask", "mask")]


@pytest.mark.parametrize(
    "html",
    [
        "<p><code>mask</code></p>",
        "<pre><code>mask</code></pre>",
        '<p><a href="x">mask</a></p>',
        "<h1>mask</h1>",
        "<h4>用mask</h4>",
        "<table><tr><th>mask</th></tr></table>",
        '<p><span class="arithmatex">\\(mask\\)</span></p>',
        '<div class="arithmatex">mask</div>',
        '<pre class="mermaid">mask</pre>',
        '<div class="mermaid">mask</div>',
        "<details><summary>mask</summary></details>",
        '<p class="admonition-title">mask</p>',
        "<script>mask</script>",
        "<style>mask{}</style>",
        "<!-- mask -->",
        '<p><span class="term-tip">mask</span></p>',
        '<p><img alt="mask" src="x"/></p>',
    ],
)
def test_c020_code_links_headings_and_mathematics_stay_as_they_are(html):
    assert link_terms(html, TERMS, "zh", "") == html


def test_a_page_without_terms_stays_byte_for_byte():
    assert link_terms("<p>a<br>b &nbsp; <b>c</p>", TERMS, "en", "") == "<p>a<br>b &nbsp; <b>c</p>"


def test_letter_case_means_nothing_at_the_start_of_a_sentence():
    assert linked("<p>Mask the tail. MASKS</p>", "en") == [("Mask", "mask")]


def test_an_acronym_is_only_itself():
    assert linked("<p>sm_90 sm Sm</p>", "en") == []


def test_a_name_of_two_words_may_be_broken_across_lines():
    assert linked("<p>a tensor\ncore</p>", "en") == [("tensor\ncore", "tensor-core")]


def test_an_english_page_does_not_use_chinese_names():
    assert linked("<p>掩码</p>", "en") == []


def test_the_tooltip_speaks_the_language_of_the_page():
    tips = [
        BeautifulSoup(link_terms("<p>mask</p>", TERMS, lang, ""), "html.parser").select_one(
            ".term-tip"
        )
        for lang in ("zh", "en")
    ]
    assert [tip.get_text() for tip in tips] == ["掩码的简短说法", "What mask is"]


def test_a_link_that_the_author_wrote_is_the_first_mention():
    html = '<p><a class="term" href="../../glossary/#mask">守边界</a>，再用mask</p>'
    assert linked(html) == [("守边界", "mask")]
    assert 'aria-describedby="tip-mask"' in link_terms(html, TERMS, "zh", "../../")


def test_every_id_on_the_page_stays_unique():
    html = '<p>mask <a class="term" href="../../glossary/#mask">a</a> <a class="term" href="../../glossary/#mask">b</a></p>'
    assert link_terms(html, TERMS, "zh", "../../").count('id="tip-mask"') == 1


def test_the_glossary_does_not_link_a_term_to_itself():
    html = '<h3 class="term-entry" id="mask">掩码</h3><p>mask 守住归约</p><h3 class="term-entry" id="reduction">归约</h3><p>用mask</p>'
    assert linked(html) == [("归约", "reduction"), ("mask", "mask")]


def test_the_way_to_the_glossary_starts_at_the_page():
    assert 'href="../glossary/#mask"' in link_terms("<p>mask</p>", TERMS, "en", "../")


def test_text_around_a_term_is_escaped_as_before():
    assert "a &lt; b &amp; <span" in link_terms("<p>a &lt; b &amp; mask</p>", TERMS, "en", "")


def test_a_name_that_two_terms_share_by_case_belongs_to_each():
    terms = [made.term("upper", "甲", "SM"), made.term("lower", "乙", "sm")]
    shown = link_terms("<p>SM sm</p>", terms, "en", "")
    assert [a["href"] for a in BeautifulSoup(shown, "html.parser").select("a")] == [
        "glossary/#upper",
        "glossary/#lower",
    ]


def test_no_terms_link_nothing():
    assert link_terms("<p>mask</p>", [], "zh", "") == "<p>mask</p>"


def test_mentioned_names_the_terms_of_a_text():
    assert mentioned("用mask做归约，程序员", TERMS, "zh") == {"mask", "reduction"}


def test_the_search_index_still_finds_parts_of_terms():
    """Terms must not enter jieba's shared dictionary: then 访存 would no longer be found inside 合并访存."""
    import jieba

    jieba.initialize()
    mentioned("合并访存", TERMS, "zh")
    assert "合并访存" not in jieba.dt.FREQ
