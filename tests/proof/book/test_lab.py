"""proof/book/lab.py: what a lab says, what in it is wrong and in which line, and the hash of its lesson."""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_project import LAB

from proof.book import common_part
from proof.book.lab import arithmetic, lesson_hash
from proof.book.model import Argument

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
    assert list(lab.claims) == [tiny.error, tiny.count, tiny.ratio, tiny.bug]


def test_a_claim_is_a_row_of_the_table(tiny):
    claim = tiny.book().claims[tiny.error]
    assert (claim.kind, claim.judges, claim.gib, claim.line) == ("error", "any", 0, 63)
    assert claim.bound == 2.0**-24
    assert claim.why == "two roundings of a result below one half"


@pytest.mark.parametrize(
    ("written", "argument", "shown", "number"),
    [
        ("98_432", Argument("98_432", 98_432), "98_432", 98_432.0),
        ("2**20", Argument("2**20", 2**20), "2**20", 2.0**20),
        ('"tree"', Argument('"tree"', "tree"), '"tree"', None),
        ("True", Argument("True", True), "True", None),
        ("torch.float16", Argument("torch.float16", None), "float16", None),
    ],
)
def test_an_argument_is_a_value_and_what_the_lab_wrote(tiny, written, argument, shown, number):
    tiny.edit(tiny.lab, "error, dict(n=1000)", f"error, dict(n={written})")
    n = tiny.book().claims[tiny.error].arguments["n"]
    assert (n, n.shown, n.number) == (argument, shown, number)


def test_a_bug_takes_judges_and_memory_from_its_claim(tiny):
    tiny.edit(tiny.lab, '2 * 2**-25, "any", 0', '2 * 2**-25, "gpu", 14')
    claim = tiny.book().claims[tiny.bug]
    assert (claim.kind, claim.bound, claim.judges, claim.gib, claim.claim) == ("bug", "guard", "gpu", 14, tiny.error)


def test_a_section_has_its_text_and_first_line(tiny):
    line, text = tiny.book().labs["triton_tiny"].sections["kernel"]
    assert text.startswith("@triton.jit\ndef third_kernel(") and text.endswith("mask=mask)\n")
    assert LAB.split("\n")[line - 1] == "@triton.jit"


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ('"ragged.programs"', '"ragged_fp32.max_abs_err"', "programs, dict", "is in CLAIMS twice"),
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
        (
            '"kernel", "offsets <',
            '"launch", "offsets <',
            '"no_mask"',
            "changes the section launch, which does not exist",
        ),
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


def test_every_lab_carries_the_hash_of_its_lesson(book):
    for lab in book.labs.values():
        assert lab.sha256 == lesson_hash(lab.source) == lesson_hash(common_part.repaired(lab.source))


def test_a_lab_knows_the_lines_of_what_it_says(tiny):
    lab, lines = tiny.book().labs["triton_tiny"], LAB.split("\n")
    starts = {"docstring": '"""A third', "Memory": "Memory:", "dependencies": "# dependencies", "BREAKS": "BREAKS"}
    assert {key: lines[lab.lines[key] - 1].startswith(start) for key, start in starts.items()} == dict.fromkeys(
        starts, True
    )
    assert '"ragged.programs"' in lines[lab.claims[tiny.count].line - 1]
    assert '"no_mask"' in lines[lab.bugs["no_mask"].line - 1]
