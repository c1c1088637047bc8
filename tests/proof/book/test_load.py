"""proof/book/load.py: what the rooms hold, and what cannot be read and why."""

from __future__ import annotations

from datetime import date

import pytest
from tiny_project import TODAY

from proof.book.load import load_book

# Records


def test_a_record_is_intact_until_a_digit_is_changed(tiny):
    assert [r.intact for r in tiny.book().records] == [True]
    tiny.edit(tiny.gpu, '"sms": 132', '"sms": 133')
    assert [r.intact for r in tiny.book().records] == [False]


def test_a_broken_record_is_named_with_its_line(tiny):
    tiny.edit(tiny.gpu, '"sms": 132', '"sms": 132,')
    book = tiny.book()
    problem = book.problems[0]
    assert book.records == [] and problem.what.startswith("is not JSON")
    assert problem.file == tiny.gpu.relative_to(tiny.root).as_posix()
    assert "restore it from git" in problem.fix


def test_a_record_outside_the_schema_is_named_with_its_line(tiny):
    tiny.edit(tiny.gpu, '"sms": 132', '"sms": -1')
    problem = tiny.book().problems[0]
    assert problem.what == "device.sms: -1 is less than 1"
    assert '"sms"' in tiny.read(tiny.gpu).split("\n")[problem.line - 1]


def test_a_record_in_the_folder_of_another_device_is_refused(tiny):
    tiny.write(
        tiny.root / "labs/records/rtx-4090/triton_tiny" / tiny.gpu.name, tiny.gpu.read_bytes()
    )
    tiny.gpu.unlink()
    book = tiny.book()
    assert book.records == []
    assert book.problems[0].what == "lies in the folder of another device or lab"


def test_a_record_whose_device_was_renamed_by_hand_is_kept_for_the_check_that_says_so(tiny):
    tiny.edit(tiny.gpu, '"name": "NVIDIA H200"', '"name": "NVIDIA H100"')
    book = tiny.book()
    assert book.problems == []
    assert [record.intact for record in book.records if record.path.name == tiny.gpu.name] == [
        False
    ]


# Terms, sources, decisions, pages


def test_a_term_keeps_its_words_as_text(tiny):
    term = tiny.book().terms["mask"]
    assert (term.topic, term.translate, term.scope) == ("memory", "no", "any")
    assert term.zh.preferred == "mask" and term.zh.alt == ("掩码",)


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("topic: memory", "topic: memery", 2, "topic: 'memery' is not one of model, memory"),
        ("topic: memory\n", "", 1, "topic is missing"),
        ("id: mask", "id: masks", 1, "the file of masks is named mask.yml"),
        (
            "topic: memory",
            "topic: memory\ntopic: model",
            3,
            "the key topic is given twice, first in line 2",
        ),
        ("topic: memory", "topic: [memory", 3, "is not YAML"),
        ("translate: no", "translate: maybe", 13, "translate: 'maybe' is not one of"),
        ("读写的布尔张量。", "读写" * 80, 6, "zh.short: has 172 characters, and 140 are allowed"),
    ],
)
def test_a_broken_term_is_named_with_its_line(tiny, old, new, line, what):
    tiny.edit(tiny.term, old, new)
    book = tiny.book()
    assert book.terms == {}
    assert (book.problems[0].file, book.problems[0].line) == ("glossary/mask.yml", line)
    assert what in book.problems[0].what


# What Chinese pages say of a lab


def test_the_chinese_words_of_a_lab_are_read_by_its_stem(tiny):
    (words,) = tiny.book().words.values()
    assert (words.path.name, words.title, words.gpu) == (
        "triton_tiny.zh.yml",
        "三分之一",
        "任何 GPU",
    )
    assert words.why["ragged.programs"] == "三个整块，一个凑不满的块"
    assert words.bugs == {"no_mask": "最后一块写到了末尾之后"}


def test_comments_and_docstrings_have_their_translations(tiny):
    tiny.write(
        tiny.words,
        tiny.read(tiny.words)
        + 'comments:\n  "[BLOCK_SIZE]": "[BLOCK_SIZE]"\ndocstrings:\n  One block.: 一块。\n',
    )
    (words,) = tiny.book().words.values()
    assert words.comments == {"[BLOCK_SIZE]": "[BLOCK_SIZE]"} and words.docstrings == {
        "One block.": "一块。"
    }


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("title: 三分之一\n", "", 1, "title is missing"),
        ("gpu: 任何 GPU", "gpu: 任何 GPU\ncost: 2 元", 6, "cost is unknown"),
        (
            "learn: 一次 load，一次 store",
            "learn: [load, store]",
            3,
            'learn: ["load", "store"] is not text',
        ),
        (
            "memory: 1 GiB",
            "memory: 1 GiB\nmemory: 2 GiB",
            5,
            "the key memory is given twice, first in line 4",
        ),
        (
            "  ragged.programs: 三个整块",
            "  ragged.programs: |\n    三个\n    整块",
            8,
            "why.ragged.programs: ",
        ),
        ("bugs:\n  no_mask: ", "bugs: ", 10, "bugs: '最后一块写到了末尾之后' is not a mapping"),
    ],
)
def test_broken_words_are_named_with_their_line(tiny, old, new, line, what):
    tiny.edit(tiny.words, old, new)
    book = tiny.book()
    assert book.words == {}
    assert (book.problems[0].file, book.problems[0].line) == (tiny.words, line)
    assert what in book.problems[0].what


def test_words_in_a_file_that_ends_in_yaml_are_to_be_renamed(tiny):
    (tiny.root / tiny.words).rename(tiny.root / "labs/triton_tiny.zh.yaml")
    (problem,) = tiny.book().problems
    assert (problem.what, problem.fix) == (
        "the file of triton_tiny.zh is named triton_tiny.zh.yaml",
        "Call it triton_tiny.zh.yml",
    )


def test_a_source_names_a_day_and_lines(tiny):
    source = tiny.book().sources["triton-load"]
    assert source.accessed == date(2026, 11, 1) and source.lines is None
    tiny.edit(tiny.source, "2026-11-01", "2026-02-30")
    problem = tiny.book().problems[0]
    assert (problem.line, problem.what) == (6, "accessed: '2026-02-30' is not a day")


def test_a_source_with_lines_needs_their_hash(tiny):
    tiny.edit(
        tiny.source,
        "accessed:",
        "repository: https://github.com/a/b\ntag: v1\nfile: a.py\nlines: [1, 2]\naccessed:",
    )
    assert tiny.book().problems[0].what == "sha256 is missing, which beside lines must be there"


def test_a_decision_has_a_front_matter_and_a_body(tiny):
    decision = tiny.book().decisions["0001", "zh"]
    assert decision.slug == "0001-records-not-promises"
    assert (decision.status, decision.date, decision.supersedes, decision.superseded_by) == (
        "accepted",
        TODAY,
        (),
        None,
    )
    assert decision.body.startswith("# 记录，而非承诺 { #title }\n")


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ('id: "0001"', "id: 1", 2, "id: '1' does not fit"),
        ('id: "0001"', 'id: "0002"', 2, "the id 0002 is not the number of the file"),
        ("date: 2026-11-29", "date: 2026-13-29", 5, "date: '2026-13-29' is not a day"),
        ("status: accepted\n", "", 1, "status is missing"),
        ('---\nid: "0001"', 'id: "0001"', 1, "has no front matter"),
    ],
)
def test_a_broken_decision_is_named_with_its_line(tiny, old, new, line, what):
    tiny.edit(tiny.decision["zh"], old, new)
    book = tiny.book()
    assert ("0001", "zh") not in book.decisions
    assert (book.problems[0].file, book.problems[0].line) == (tiny.decision["zh"], line)
    assert what in book.problems[0].what


def test_two_decisions_with_one_number_are_named_both(tiny):
    tiny.write("adr/0001-another.zh.md", tiny.read(tiny.decision["zh"]))
    problem = tiny.book().problems[0]
    assert problem.file == tiny.decision["zh"]
    assert problem.what == "takes the number 0001, as adr/0001-another.zh.md does"


def test_a_page_has_the_same_name_in_both_languages(tiny):
    assert [(page.lang, page.name) for page in tiny.book().pages] == [
        ("zh", "index.md"),
        ("en", "index.md"),
    ]


def test_pages_follow_the_menu_and_then_their_names(tiny):
    tiny.write(
        "mkdocs.yml",
        "nav:\n  - 首页: index.md\n  - 课程:\n      - lessons/b.md\n      - 甲: lessons/a.md\n",
    )
    for name in ("lessons/a.md", "lessons/b.md", "x.md", "about.md"):
        tiny.write(f"docs/zh/{name}", "# 页 { #page }\n")
    names = [page.name for page in tiny.book().pages if page.lang == "zh"]
    assert names == ["index.md", "lessons/b.md", "lessons/a.md", "about.md", "x.md"]


# Encodings

WRITTEN = {
    "record": lambda tiny: tiny.gpu.relative_to(tiny.root).as_posix(),
    "term": lambda tiny: tiny.term,
    "decision": lambda tiny: tiny.decision["zh"],
    "page": lambda tiny: tiny.page["zh"],
    "lab": lambda tiny: tiny.lab,
    "source": lambda tiny: tiny.source,
    "words": lambda tiny: tiny.words,
}


def contents(tiny):
    """Everything that a book holds but paths."""
    book = tiny.book()
    assert book.problems == []
    rooms = (
        book.labs.values(),
        book.words.values(),
        book.records,
        book.terms.values(),
        book.decisions.values(),
        book.sources.values(),
        book.pages,
    )
    return [[vars(item) | {"body": getattr(item, "body", "")} for item in room] for room in rooms]


@pytest.mark.parametrize("kind", WRITTEN)
@pytest.mark.parametrize(
    "change",
    [lambda b: b"\xef\xbb\xbf" + b, lambda b: b.replace(b"\n", b"\r\n")],
    ids=["bom", "crlf"],
)
def test_c090_bom_and_crlf_are_read_as_plain_text(tiny, kind, change):
    path, plain = tiny.root / WRITTEN[kind](tiny), contents(tiny)
    path.write_bytes(change(path.read_bytes()))
    assert contents(tiny) == plain


@pytest.mark.parametrize("kind", WRITTEN)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "gbk"])
def test_c090_utf_16_and_gbk_are_refused_plainly(tiny, kind, encoding):
    file = WRITTEN[kind](tiny)
    text = tiny.read(file).replace("128", "一二八") if kind == "record" else tiny.read(file)
    text = text.replace("one load", "一次 load").replace("The arguments", "这些 arguments")
    tiny.write(file, text.encode(encoding))
    problems = tiny.book().problems
    assert [p.file for p in problems] == [file]
    assert "not UTF-8" in problems[0].what and problems[0].fix == "Save the file as UTF-8"


# The tree as it is


def test_the_tree_can_be_read(book):
    assert [str(problem) for problem in book.problems] == []


def test_an_empty_folder_is_an_empty_book(tmp_path):
    book = load_book(tmp_path, TODAY)
    assert (book.labs, book.records, book.pages, book.problems) == ({}, [], [], [])
