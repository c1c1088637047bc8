"""docs/parity/: a half that changes alone is found, told to its readers, and fixed by `proof parity sync` or `ack`."""

from __future__ import annotations

import re
import unicodedata
from datetime import date

import pytest
from planted import add, found

from proof.book.model import LANGS
from proof.checks import parity as rules
from proof.checks.rules import check, tally
from proof.pages.notice import notice
from proof.text import parity as sidecars
from proof.text.parity import digest

LATER = date(2026, 12, 24)
MORE = {"zh": "多一句话。", "en": "One more sentence."}
TODAY = "2026-11-29"


def drift(tiny) -> list[str]:
    return found(tiny, rules.drift)


def remembered(tiny) -> dict[str, str]:
    """The sidecar of the home page."""
    return dict(re.findall(r'^(\w+): "?(.*?)"?$', tiny.read(tiny.sidecar), re.M))


def shown(tiny, lang: str) -> str:
    """What readers of the home page get, before its macros are expanded."""
    book = tiny.book()
    page = next(page for page in book.pages if page.lang == lang)
    return notice(page.text, page, book, "./")


# Drift


@pytest.mark.parametrize("lang", LANGS)
def test_C027_a_half_that_changed_alone_is_found_there_with_both_ways_to_mend_it(tiny, lang):
    add(tiny, MORE[lang], lang)
    (problem,) = rules.drift(tiny.book())
    here, there = tiny.page[lang], tiny.page["en" if lang == "zh" else "zh"]
    assert str(problem) == (
        f"{here}:1: this page has changed since it was compared with {there} on {TODAY}, and that one has not. "
        f"Change {there} too and run `proof parity sync index.md`; "
        'where that one needs nothing, `proof parity ack index.md --reason "…"`'
    )
    assert not problem.warning


def test_C027_two_halves_that_changed_are_to_be_compared(tiny):
    add(tiny, MORE["zh"], "zh")
    add(tiny, MORE["en"], "en")
    (problem,) = rules.drift(tiny.book())
    assert (
        problem.what
        == f"this page and docs/en/index.md have both changed since they were compared on {TODAY}"
    )
    assert problem.fix == "Compare them, then run `proof parity sync index.md`"


def test_C027_a_pair_that_nobody_compared_is_found(tiny):
    tiny.remove("docs/parity")
    assert drift(tiny) == [
        "docs/zh/index.md:1: nobody has compared this page with docs/en/index.md: there is no docs/parity/index.yml"
    ]


@pytest.mark.parametrize(
    "fault", ["## 一 { #one }", "```python\nx = 1\n```", "![图](assets/a.svg)"]
)
def test_C027_a_heading_code_or_figure_on_one_page_is_both_drift_and_a_difference(tiny, fault):
    add(tiny, fault, "zh")
    told = [problem.what for problem in check(tiny.book()) if problem.file == tiny.page["zh"]]
    assert any("has changed since it was compared" in what for what in told)
    assert any("has no counterpart in docs/en/index.md" in what for what in told)


def test_C027_a_change_undone_is_no_drift(tiny):
    before = tiny.read(tiny.page["zh"])
    add(tiny, MORE["zh"], "zh")
    tiny.write(tiny.page["zh"], before)
    assert drift(tiny) == []


def test_a_page_of_one_language_is_another_rule_s_business(tiny):
    tiny.write("docs/zh/alone.md", "# 一 { #one }\n")
    assert drift(tiny) == []


@pytest.mark.parametrize(
    "path", ["docs/parity/gone.yml", "docs/parity/index.yaml", "docs/parity/lessons/index.yml"]
)
def test_a_sidecar_without_a_page_is_found(tiny, path):
    tiny.write(path, tiny.read(tiny.sidecar))
    assert drift(tiny) == [f"{path}:1: this belongs to no page"]


SPOILED = {  # what replaces the line of the day -> line, what is found
    "synced_on: soon": (4, "synced_on: 'soon' is not a day"),
    "synced_on: 2026-11-29\nsynced_on: 2026-11-30": (
        5,
        "the key synced_on is given twice, first in line 4",
    ),
    "synced_on: 2026-11-29\nen_sha256: no": (
        5,
        "the key en_sha256 is given twice, first in line 3",
    ),
    "synced_on: [2026-11-29]": (4, 'synced_on: ["2026-11-29"] is not a day'),
    "synced_on: 2026-11-29\nby_hand: yes": (5, "by_hand is unknown"),
    "": (1, "synced_on is missing"),
}


@pytest.mark.parametrize("line", SPOILED)
def test_a_sidecar_that_cannot_be_read_is_named_with_its_line(tiny, line):
    tiny.edit(tiny.sidecar, f"synced_on: {TODAY}", line)
    (problem,) = rules.drift(tiny.book())
    assert (problem.file, problem.line) == (tiny.sidecar, SPOILED[line][0])
    assert problem.what.startswith(SPOILED[line][1])
    assert "proof parity sync index.md" in problem.fix


def test_C090_a_sidecar_in_another_encoding_is_said_plainly(tiny):
    tiny.write(tiny.sidecar, tiny.read(tiny.sidecar).encode("utf-16"))
    assert drift(tiny) == [f"{tiny.sidecar}:1: the file is UTF-16 or binary, not UTF-8"]


# What does not count

SAME = {
    "a comment": lambda text: text + "\n<!-- look at this again -->\n",
    "a comment of several lines": lambda text: text.replace(
        "\n\n", "\n\n<!-- one\n\ntwo -->\n\n", 1
    ),
    "a comment in a line": lambda text: text.replace("，", "，<!-- 逗号 -->", 1),
    "a comment at the end of a line": lambda text: text.rstrip("\n") + " <!-- end -->\n",
    "a comment before a line": lambda text: text.replace("每个", "<!-- 每 --> 每个"),
    "an exception from parity": lambda text: text + "<!-- parity: 只对中国读者 -->\n",
    "front matter": lambda text: "---\ntitle: 另一个标题\n---\n\n" + text,
    "trailing blanks": lambda text: text.replace("\n", " \t\n"),
    "blank lines at the end": lambda text: text + "\n\n",
    "blanks beside Chinese": lambda text: re.sub(
        r"([\u3400-\u9fff]) *(?=[A-Za-z`{])", r"\1  ", text
    ),
    "a byte order mark": lambda text: "\ufeff" + text,
    "Windows line ends": lambda text: text.replace("\n", "\r\n"),
}


@pytest.mark.parametrize("what", SAME)
def test_C027_what_readers_never_see_is_no_drift(tiny, what):
    text = tiny.read(tiny.page["zh"])
    assert SAME[what](text) != text
    tiny.write(tiny.page["zh"], SAME[what](text).encode())
    assert drift(tiny) == []


def test_C027_another_unicode_form_is_no_drift(tiny):
    add(tiny, "é", "zh", "en")
    tiny.sync()
    tiny.write(tiny.page["zh"], unicodedata.normalize("NFD", tiny.read(tiny.page["zh"])))
    assert drift(tiny) == []


OTHER = {
    "a comment in a fence": ("```html\n<!-- a -->\n```", "```html\n<!-- b -->\n```"),
    "a comment as code": ("`<!-- a -->`", "`<!-- b -->`"),
    "a comment that does not close": ("<!-- a\n\n甲", "<!-- a\n\n乙"),
    "a split paragraph": ("甲\n乙", "甲\n\n乙"),
    "an indent": ("- 甲\n- 乙", "- 甲\n    - 乙"),
    "an indent of Chinese": ("!!! note\n    甲", "!!! note\n甲"),
    "a macro": ('{{ claim("a.b.c") }}', '{{ claim("a.b.d") }}'),
    "a rule that is no front matter": ("甲\n\n---\n乙\n\n---\n", "甲\n\n---\n丙\n\n---\n"),
}


@pytest.mark.parametrize("what", OTHER)
def test_C027_what_readers_see_counts(what):
    one, two = OTHER[what]
    assert digest(one) != digest(two)


# proof parity sync


def test_sync_of_a_first_pair_remembers_both_hashes_and_the_day(tiny):
    tiny.remove("docs/parity")
    result = tiny.proof("parity", "sync")
    assert (result.exit_code, result.output) == (0, "wrote    docs/parity/index.yml\n")
    hashes = {f"{lang}_sha256": digest(tiny.read(tiny.page[lang])) for lang in LANGS}
    assert remembered(tiny) == hashes | {"synced_on": TODAY}
    assert drift(tiny) == []


def test_sync_of_all_pages_is_one_command_and_keeps_their_folders(tiny):
    for lang in LANGS:
        tiny.write(f"docs/{lang}/lessons/first_kernel.md", f"# {MORE[lang]} {{ #first }}\n")
    result = tiny.proof("parity", "sync")
    assert (result.exit_code, result.output) == (
        0,
        "wrote    docs/parity/lessons/first_kernel.yml\n",
    )
    assert drift(tiny) == []


def test_sync_after_both_halves_were_edited_remembers_the_new_day(tiny):
    add(tiny, MORE["zh"], "zh")
    add(tiny, MORE["en"], "en")
    tiny.today = LATER
    assert tiny.proof("parity", "sync", "index.md").exit_code == 0
    assert (drift(tiny), remembered(tiny)["synced_on"]) == ([], "2026-12-24")


def test_sync_of_what_did_not_change_writes_nothing(tiny):
    before = tiny.read(tiny.sidecar)
    tiny.today = LATER
    result = tiny.proof("parity", "sync")
    assert (result.exit_code, result.output) == (
        0,
        "nothing has changed since both languages were compared\n",
    )
    assert tiny.read(tiny.sidecar) == before


def test_C027_sync_refuses_while_the_halves_differ(tiny):
    before = tiny.read(tiny.sidecar)
    add(tiny, "有 12 个。", "zh")
    add(tiny, "There are 13.", "en")
    result = tiny.proof("parity", "sync")
    assert (result.exit_code, result.stdout) == (1, "")
    assert (
        "error  docs/zh/index.md:5: this number has no counterpart in docs/en/index.md: 12"
        in result.stderr
    )
    assert tiny.read(tiny.sidecar) == before


@pytest.mark.parametrize("pages", [[], ["index.md"]])
def test_C027_sync_refuses_what_changed_in_one_language_only(tiny, pages):
    before = tiny.read(tiny.sidecar)
    add(tiny, MORE["en"], "en")
    result = tiny.proof("parity", "sync", *pages)
    assert (result.exit_code, "proof parity ack index.md --reason" in result.stderr) == (1, True)
    assert tiny.read(tiny.sidecar) == before


def test_sync_writes_the_pairs_that_agree_and_names_the_others(tiny):
    for lang in LANGS:
        tiny.write(f"docs/{lang}/start.md", f"# {MORE[lang]} {{ #start }}\n")
    add(tiny, MORE["zh"], "zh")
    result = tiny.proof("parity", "sync")
    assert (result.exit_code, result.stdout) == (1, "wrote    docs/parity/start.yml\n")
    assert [line.split(":")[0] for line in result.stderr.splitlines()] == [
        "error  docs/zh/index.md"
    ]


@pytest.mark.parametrize("name", ["index", "index.md", "docs/zh/index.md", "./docs/en/index.md"])
def test_a_page_may_be_named_as_people_name_it(tiny, name):
    tiny.remove("docs/parity")
    assert tiny.proof("parity", "sync", name).exit_code == 0
    assert drift(tiny) == []


def test_an_unknown_page_is_refused_with_the_nearest(tiny):
    result = tiny.proof("parity", "sync", "indx.md")
    assert result.exit_code == 2
    assert "no page indx.md stands in both languages. Nearest: index.md" in result.stderr


def test_sync_mends_a_sidecar_in_which_two_branches_met(tiny):
    text = tiny.read(tiny.sidecar)
    tiny.write(tiny.sidecar, f"<<<<<<< ours\n{text}=======\n{text}>>>>>>> theirs\n")
    assert tiny.proof("parity", "sync", "index.md").exit_code == 0
    assert (drift(tiny), tiny.read(tiny.sidecar)) == ([], text)


# proof parity ack


def test_ack_remembers_the_half_that_changed_alone_and_why(tiny):
    before = remembered(tiny)
    add(tiny, MORE["zh"], "zh")
    tiny.today = LATER
    result = tiny.proof("parity", "ack", "index.md", "--reason", "改了一个“错字”\n")
    assert (result.exit_code, result.output) == (0, "wrote    docs/parity/index.yml\n")
    after = {"zh_sha256": digest(tiny.read(tiny.page["zh"])), "reason": "改了一个“错字”"}
    assert remembered(tiny) == before | after  # the day is still that of the comparison
    assert drift(tiny) == []


def test_C027_an_acknowledged_change_is_counted_among_the_exceptions_with_its_reason(tiny):
    add(tiny, MORE["zh"], "zh")
    tiny.proof("parity", "ack", "index.md", "--reason", "错字")
    assert tally(tiny.book()).endswith("1 exceptions from parity\n  docs/parity/index.yml:5: 错字")
    assert tiny.proof("check").stdout.endswith("\n  docs/parity/index.yml:5: 错字\n")


def test_the_next_sync_forgets_the_reason(tiny):
    add(tiny, MORE["zh"], "zh")
    tiny.proof("parity", "ack", "index.md", "--reason", "错字")
    add(tiny, MORE["zh"], "zh")
    add(tiny, MORE["en"], "en")
    assert tiny.proof("parity", "sync").exit_code == 0
    assert "reason" not in remembered(tiny)


@pytest.mark.parametrize(
    "reason", ['a "quoted" word: # no comment', "yes", "冒号：与 \\ 反斜线", "'"]
)
def test_any_reason_is_read_as_it_was_written(tiny, reason):
    add(tiny, MORE["zh"], "zh")
    tiny.proof("parity", "ack", "index.md", "--reason", reason)
    assert sidecars.pair(tiny.book(), "index.md").synced.reason == reason


@pytest.mark.parametrize("reason", [[], ["--reason", ""], ["--reason", " \n"]])
def test_ack_wants_a_reason(tiny, reason):
    add(tiny, MORE["zh"], "zh")
    result = tiny.proof("parity", "ack", "index.md", *reason)
    assert (result.exit_code, "reason" in result.stderr) == (2, True)
    assert drift(tiny) != []


def test_ack_refuses_when_both_halves_changed(tiny):
    add(tiny, MORE["zh"], "zh")
    add(tiny, MORE["en"], "en")
    result = tiny.proof("parity", "ack", "index.md", "--reason", "typo")
    assert (result.exit_code, "run `proof parity sync index.md`" in result.stderr) == (1, True)
    assert drift(tiny) != []


def test_ack_refuses_what_nobody_compared(tiny):
    tiny.remove("docs/parity")
    result = tiny.proof("parity", "ack", "index.md", "--reason", "typo")
    assert (result.exit_code, "nobody has compared this page" in result.stderr) == (1, True)


def test_ack_refuses_while_the_halves_differ(tiny):
    add(tiny, "有 12 个。", "zh")
    result = tiny.proof("parity", "ack", "index.md", "--reason", "typo")
    assert (result.exit_code, "this number has no counterpart" in result.stderr) == (1, True)


# The notice to readers

NOTICE = {
    "zh": '!!! warning "这一页可能落后于英文版"\n\n    <a href="./en/">英文版</a>在 2026-11-29 两版核对之后又改过，这一页还没有跟上。',
    "en": '!!! warning "This page may lag behind the Chinese edition"\n\n'
    '    <a href="./../">The Chinese edition</a> has changed since both were compared on 2026-11-29, and this page has not.',
}


@pytest.mark.parametrize(("changed", "lags"), [("en", "zh"), ("zh", "en")])
def test_C027_readers_of_the_half_that_did_not_change_are_told_in_their_language(
    tiny, changed, lags
):
    add(tiny, MORE[changed], changed)
    title, _, rest = tiny.read(tiny.page[lags]).partition("\n")
    assert shown(tiny, lags) == f"{title}\n\n{NOTICE[lags]}\n\n{rest}"
    assert shown(tiny, changed) == tiny.read(tiny.page[changed])


def test_C027_a_deeper_page_leads_to_its_own_counterpart(tiny):
    for lang in LANGS:
        tiny.write(f"docs/{lang}/lessons/one.md", f"# {MORE[lang]} {{ #one }}\n")
    tiny.sync()
    tiny.write("docs/en/lessons/one.md", "# Another { #one }\n")
    book = tiny.book()
    page = next(page for page in book.pages if (page.lang, page.name) == ("zh", "lessons/one.md"))
    assert '<a href="../../en/lessons/one/">' in notice(page.text, page, book, "../../")


@pytest.mark.parametrize("changed", [(), LANGS])
def test_no_notice_where_neither_or_both_changed(tiny, changed):
    for lang in changed:
        add(tiny, MORE[lang], lang)
    assert all(shown(tiny, lang) == tiny.read(tiny.page[lang]) for lang in LANGS)


@pytest.mark.parametrize("state", ["never compared", "unreadable"])
def test_no_notice_where_nothing_is_known(tiny, state):
    tiny.remove("docs/parity") if state == "never compared" else tiny.write(tiny.sidecar, "- no")
    add(tiny, MORE["zh"], "zh")
    assert all(shown(tiny, lang) == tiny.read(tiny.page[lang]) for lang in LANGS)


def test_a_page_without_a_title_has_the_notice_at_its_top(tiny):
    tiny.write(tiny.page["en"], "Text.\n")
    tiny.sync()
    add(tiny, MORE["zh"], "zh")
    assert shown(tiny, "en") == f"\n{NOTICE['en']}\n\nText.\n"
