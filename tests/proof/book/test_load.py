"""proof/book/load.py: what the rooms hold, what cannot be read and why, and the hash of a lesson."""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_project import LAB, TODAY

from proof.book import common_part as fix
from proof.book.load import arithmetic, decode, lesson_hash, load_book, parse_json, parse_yaml
from proof.problem import Fault

# The lesson hash

CODE = '''\
"""Title."""
import os  # why


class A:
    """Of a class."""

    def f(self, x):
        """Of a function.

        # not a comment
        """
        # a comment
        text = """kept

        # kept too
        """
        return f"{x!r} # kept" + 'a' \\
            "b", text


def g():
    """Only this."""


"no docstring, yet a statement"
x = [
    1,  # one

    2,
]
'''
BARE = '''\
import os
class A:
    def f(self, x):
        text = """kept

        # kept too
        """
        return f"{x!r} # kept" + 'a' \\
            "b", text
def g():
x = [
    1,
    2,
]'''


def test_lesson_hash_is_of_the_code_alone():
    """The same hexadecimal digits on every Python version."""
    assert lesson_hash(CODE) == "7f7ad5b7503b2e0235952a8d4df7e6982ed5a2e6fcef2bf89f5736da29ea1b25"


def test_lesson_hash_cuts_comments_docstrings_and_blank_lines():
    assert lesson_hash(CODE) == hashlib.sha256(BARE.encode()).hexdigest()


def test_lesson_hash_stops_at_the_common_part():
    assert lesson_hash(CODE + "# %% The common part, version 1\nx = 1\n") == lesson_hash(CODE)
    assert lesson_hash(CODE + "# %% The common part, version 2\ny = (\n") == lesson_hash(CODE)


def test_lesson_hash_takes_bom_and_crlf_as_plain_text():
    assert lesson_hash("\ufeff" + CODE.replace("\n", "\r\n")) == lesson_hash(CODE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# kept too", "# kept to"),  # inside a string that is a value
        ("kept\n\n", "kept\n"),  # a blank line inside it
        ("!r} # kept", "!r} # kep"),  # inside an f-string
        ("1,  #", "3,  #"),
        ("    def f", "    def h"),
    ],
)
def test_lesson_hash_changes_with_what_is_code(old, new):
    assert CODE.count(old) == 1
    assert lesson_hash(CODE.replace(old, new)) != lesson_hash(CODE)


def test_lesson_hash_tells_apart_a_blank_at_the_end_of_a_line_in_a_string():
    assert lesson_hash('x = """a \nb"""\n') != lesson_hash('x = """a\nb"""\n')
    assert lesson_hash('x = f"""a \nb"""\n') != lesson_hash('x = f"""a\nb"""\n')
    assert lesson_hash("x = 1 \n") == lesson_hash("x = 1\n")


def test_lesson_hash_of_an_f_string_that_is_a_statement():
    """It is evaluated, so it is code; older tokenizers call it a plain string."""
    assert lesson_hash('x = 1\nf"{x}"\n') != lesson_hash("x = 1\n")


def test_lesson_hash_refuses_what_does_not_tokenize():
    with pytest.raises(SyntaxError):
        lesson_hash('x = """\n')


TOKENS = [
    token
    for token in tokenize.generate_tokens(io.StringIO(LAB).readline)
    if token.type in (tokenize.NAME, tokenize.NUMBER, tokenize.STRING) and '"""' not in token.string
]
STATEMENTS = [node.lineno for node in ast.walk(ast.parse(LAB)) if isinstance(node, ast.stmt) and node.lineno > 20]
FUNCTIONS = [node.body[0].lineno for node in ast.walk(ast.parse(LAB)) if isinstance(node, ast.FunctionDef)]


@given(st.lists(st.tuples(st.sampled_from(STATEMENTS), st.text("# ab'\"三(", max_size=9)), max_size=6), st.booleans())
def test_lesson_hash_ignores_comments_and_blank_lines_anywhere(added, blank):
    lines = LAB.split("\n")
    for row, text in added:
        lines[row - 1] = f"{'#' + text}\n{lines[row - 1]}" + (
            "\n \n" if blank and lines[row - 1].strip() == "import os" else ""
        )
    assert lesson_hash("\n".join(lines)) == lesson_hash(LAB)


@given(st.sets(st.sampled_from(FUNCTIONS)), st.text("ab 三\n#(", max_size=20))
def test_lesson_hash_ignores_docstrings_anywhere(rows, text):
    lines = LAB.split("\n")
    for row in rows:
        indent = lines[row - 1][: len(lines[row - 1]) - len(lines[row - 1].lstrip())]
        lines[row - 1] = f'{indent}"""x{text}"""\n{lines[row - 1]}'
    assert lesson_hash("\n".join(lines)) == lesson_hash(LAB)


@given(st.sampled_from(TOKENS))
def test_lesson_hash_changes_with_any_token(token):
    (row, column), lines = token.end, LAB.split("\n")
    at = column - 1 if token.type == tokenize.STRING else column
    lines[row - 1] = lines[row - 1][:at] + "7" + lines[row - 1][at:]
    assert lesson_hash("\n".join(lines)) != lesson_hash(LAB)


# A lab


def test_a_lab_is_read_without_running_it(tiny):
    tiny.edit(tiny.lab, "import torch\n\nif not", "import torch\n\nraise SystemExit('it was run')\n\nif not")
    lab = tiny.book().labs["triton_tiny"]
    assert lab.title == "A third: each element divided by three."
    assert lab.card == {
        "Learn": "one load, one store",
        "Run": "python triton_tiny.py",
        "Memory": "1 GiB",
        "Card": "any",
        "Minutes": "1",
    }
    assert lab.requires == {"torch": ">=2.11,<2.15", "triton": ">=3.6,<3.10", "numpy": ""}
    assert lab.switches == {"TRITON_DEFAULT_FP_FUSION": "1"}
    assert list(lab.claims) == [tiny.error, tiny.count, tiny.ratio, tiny.broken]


def test_a_claim_is_a_row_of_the_table(tiny):
    claim = tiny.book().claims[tiny.error]
    assert (claim.kind, claim.judges, claim.gib, claim.arguments) == ("error", "any", 0, "dict(n=1000)")
    assert claim.bound == 2.0**-24
    assert claim.why == "two roundings of a result below one half"


def test_a_break_takes_judges_and_memory_from_its_claim(tiny):
    tiny.edit(tiny.lab, '2 * 2**-25, "any", 0', '2 * 2**-25, "gpu", 14')
    claim = tiny.book().claims[tiny.broken]
    assert (claim.kind, claim.bound, claim.judges, claim.gib, claim.claim) == ("break", "guard", "gpu", 14, tiny.error)


def test_a_section_has_its_text_and_first_line(tiny):
    line, text = tiny.book().labs["triton_tiny"].sections["kernel"]
    assert text.startswith("@triton.jit\ndef third_kernel(") and text.endswith("mask=mask)\n")
    assert LAB.split("\n")[line - 1] == "@triton.jit"


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ('"ragged.programs"', '"ragged_fp32.max_abs_err"', "programs, dict", "stands in CLAIMS twice"),
        ('"ragged.programs"', '"Ragged.programs"', "programs, dict", "is not a claim id"),
        ('"ragged.programs"', 'f"ragged.programs"', "programs, dict", "not a string literal"),
        ('("count", programs', '("counts", programs', "programs, dict", "has the kind 'counts'"),
        ('4, "any"', 'programs(1000), "any"', "programs, dict", "has the bound programs(1000)"),
        ('4, "any"', '4, "all"', "programs, dict", "can be judged by 'all'"),
        ('2**-25, "any"', '2**-25 * eps, "any"', "error, dict", "has the bound 2 * 2 ** (-25) * eps"),
        ('2**-25, "any"', '9.0**9**9, "any"', "error, dict", "has the bound"),
        ('"three full blocks and a ragged one"', '""', "programs, dict", "gives no reason for its bound"),
        ('"gpu", 1, "as', '"gpu", 0.5, "as', "speed, dict", "needs 0.5 GiB"),
        (', "as many bytes as a copy")', ")", "speed, dict", "is not a tuple of 7"),
        ('"ragged_fp32.max_abs_err", "guard"', '"ragged.max_abs_err", "guard"', '"no_mask"', "is not in CLAIMS"),
        ('"kernel", "offsets <', '"launch", "offsets <', '"no_mask"', "changes the section launch, which is not there"),
        ('"offsets < n_elements", "', '"offsets <= n_elements", "', '"no_mask"', "occurs 0 times in section kernel"),
        ('"offsets < n_elements", "', '"offsets", "', '"no_mask"', "times in section kernel"),
        ('"offsets >= 0"', '"offsets < n_elements"', '"no_mask"', "changes nothing"),
        ('"guard", "the last', '"raised", "the last', '"no_mask"', "is to be caught by 'raised'"),
        ("# --8<-- [end:kernel]\n", "", "[start:kernel]", "section kernel is not closed"),
        ("# --8<-- [start:kernel]\n", "", "[end:kernel]", "section kernel is closed and was not open"),
        ('"triton>=3.6', '"triton>==3.6', "# /// script", "the PEP 723 header cannot be read"),
        ("# /// script\n", "", "", "has no PEP 723 header"),
        ("BREAKS = {", "BREAKS = dict() | {", "BREAKS = ", "BREAKS is not a dict literal"),
    ],
)
def test_a_fault_in_a_lab_is_named_with_its_line(tiny, old, new, line, what):
    tiny.edit(tiny.lab, old, new)
    problems = tiny.book().problems
    found = [p for p in problems if what in p.what]
    assert found, problems
    assert found[0].file == "labs/triton_tiny.py"
    assert line in tiny.read(tiny.lab).split("\n")[found[0].line - 1]
    assert found[0].fix


def test_a_lab_that_is_not_python_is_named_and_left_out(tiny):
    tiny.edit(tiny.lab, "def third(x, out):", "def third(x, out:")
    book = tiny.book()
    assert book.labs == {}
    assert "is not Python" in book.problems[0].what
    assert "def third" in tiny.read(tiny.lab).split("\n")[book.problems[0].line - 1]


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("-2**-10", -(2.0**-10)), ("64 * 2**-24", 2.0**-18), ("(1 + 2) / 4", 0.75), ("7 // 2 % 2", 1)],
)
def test_arithmetic_of_numbers(text, value):
    assert arithmetic(ast.parse(text, mode="eval").body) == value


@pytest.mark.parametrize(
    "text", ["x", "f(1)", "True", "'3'", "1 / 0", "1e999", "9**9**9", "(-1)**0.5", "1 if 1 else 2", "2**5000"]
)
def test_what_is_not_arithmetic_of_numbers(text):
    assert arithmetic(ast.parse(text, mode="eval").body) is None


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
    assert "device.sms: -1 is less than the minimum of 1" in problem.what
    assert '"sms"' in tiny.read(tiny.gpu).split("\n")[problem.line - 1]


def test_a_record_in_the_folder_of_another_device_is_refused(tiny):
    tiny.write(tiny.root / "labs/records/rtx-4090/triton_tiny" / tiny.gpu.name, tiny.gpu.read_bytes())
    tiny.gpu.unlink()
    book = tiny.book()
    assert book.records == []
    assert book.problems[0].what == "lies in the folder of another device or lab"


def test_a_record_whose_device_was_renamed_by_hand_is_kept_for_the_check_that_says_so(tiny):
    name = parse_json(tiny.read(tiny.gpu))["device"]["name"]
    tiny.edit(tiny.gpu, f'"name": "{name}"', '"name": "NVIDIA H100"')
    book = tiny.book()
    assert book.problems == []
    assert [record.intact for record in book.records if record.path.name == tiny.gpu.name] == [False]


@pytest.mark.parametrize("figure", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_figure_that_is_not_finite_is_refused_with_its_line(figure):
    with pytest.raises(Fault) as error:
        parse_json(f'{{"why": "NaN",\n "value": {figure}}}')
    assert error.value.line == 2
    assert f"{figure} is not a finite number" in error.value.what


# Terms, sources, decisions, pages


def test_a_term_keeps_its_words_as_text(tiny):
    term = tiny.book().terms["mask"]
    assert (term.topic, term.translate, term.scope) == ("memory", "no", "any")
    assert term.zh.preferred == "mask" and term.zh.alt == ("掩码",)


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("topic: memory", "topic: memery", 2, "topic: 'memery' is not one of"),
        ("topic: memory\n", "", 1, "'topic' is a required property"),
        ("id: mask", "id: masks", 1, "the file of masks is named mask.yml"),
        ("topic: memory", "topic: memory\ntopic: model", 3, 'found duplicate key "topic"'),
        ("topic: memory", "topic: [memory", 3, "is not YAML"),
        ("translate: no", "translate: maybe", 13, "translate: 'maybe' is not one of"),
        ("读写的布尔张量。", "读写" * 80, 6, "is too long"),
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
    assert (words.path.name, words.title, words.card) == ("triton_tiny.yml", "三分之一", "任何卡")
    assert words.why["ragged.programs"] == "三个整块，一个凑不满的块"
    assert words.breaks == {"no_mask": "最后一块写到了末尾之后"}


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("title: 三分之一\n", "", 1, "'title' is a required property"),
        ("card: 任何卡", "card: 任何卡\ncost: 2 元", 6, "'cost' was unexpected"),
        ("learn: 一次 load，一次 store", "learn: [load, store]", 3, "learn: ['load', 'store'] is not of type 'string'"),
        ("memory: 1 GiB", "memory: 1 GiB\nmemory: 2 GiB", 5, 'found duplicate key "memory"'),
        ("  ragged.programs: 三个整块", "  ragged.programs: |\n    三个\n    整块", 8, "does not match"),
        ("breaks:\n  no_mask: ", "breaks: ", 10, "breaks: '最后一块写到了末尾之后' is not of type 'object'"),
    ],
)
def test_broken_words_are_named_with_their_line(tiny, old, new, line, what):
    tiny.edit(tiny.words, old, new)
    book = tiny.book()
    assert book.words == {}
    assert (book.problems[0].file, book.problems[0].line) == (tiny.words, line)
    assert what in book.problems[0].what


def test_words_in_a_file_that_ends_in_yaml_are_to_be_renamed(tiny):
    (tiny.root / tiny.words).rename(tiny.root / "docs/zh/labs/triton_tiny.yaml")
    (problem,) = tiny.book().problems
    assert (problem.what, problem.fix) == (
        "the file of triton_tiny is named triton_tiny.yaml",
        "Call it triton_tiny.yml",
    )


def test_yaml_is_read_as_text_of_yaml_1_2():
    assert parse_yaml("a: no\nb: 0012\nc: null\nd:\ne: [1.0]\n") == {"a": "no", "b": "0012", "e": ["1.0"]}


def test_a_source_names_a_day_and_lines(tiny):
    source = tiny.book().sources["triton-load"]
    assert source.accessed == date(2026, 11, 1) and source.lines is None
    tiny.edit(tiny.source, "2026-11-01", "2026-02-30")
    problem = tiny.book().problems[0]
    assert (problem.line, problem.what) == (6, "accessed: 2026-02-30 is not a day")


def test_a_source_with_lines_needs_their_hash(tiny):
    tiny.edit(
        tiny.source, "accessed:", "repository: https://github.com/a/b\ntag: v1\nfile: a.py\nlines: [1, 2]\naccessed:"
    )
    assert "'sha256' is a dependency of 'lines'" in tiny.book().problems[0].what


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
        ('id: "0001"', "id: 1", 2, "id: '1' does not match"),
        ('id: "0001"', 'id: "0002"', 2, "the id 0002 is not the number of the file"),
        ("date: 2026-11-29", "date: 2026-13-29", 5, "date: 2026-13-29 is not a day"),
        ("status: accepted\n", "", 1, "'status' is a required property"),
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
    assert [(page.lang, page.name) for page in tiny.book().pages] == [("zh", "index.md"), ("en", "index.md")]


def test_pages_follow_the_menu_and_then_their_names(tiny):
    tiny.write("mkdocs.yml", "nav:\n  - 首页: index.md\n  - 课程:\n      - lessons/b.md\n      - 甲: lessons/a.md\n")
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
    return [[vars(item) for item in room] for room in rooms]


@pytest.mark.parametrize("kind", WRITTEN)
@pytest.mark.parametrize(
    "change", [lambda b: b"\xef\xbb\xbf" + b, lambda b: b.replace(b"\n", b"\r\n")], ids=["bom", "crlf"]
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


def test_a_legacy_byte_is_named_with_its_line():
    with pytest.raises(Fault) as error:
        decode("plain\n三\n".encode("gbk"))
    assert error.value.line == 2


# The tree as it is


def test_the_tree_can_be_read(book):
    assert [str(problem) for problem in book.problems] == []


def test_every_lab_carries_the_hash_of_its_lesson(book):
    for lab in book.labs.values():
        assert lab.sha256 == lesson_hash(lab.source) == lesson_hash(fix.repaired(lab.source))


def test_an_empty_folder_is_an_empty_book(tmp_path):
    book = load_book(tmp_path, TODAY)
    assert (book.labs, book.records, book.pages, book.problems) == ({}, [], [], [])
