"""`proof new`: what each scaffold writes is valid as created, each new file is one warning, and nothing is overwritten."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tiny_project import ROOT, TODAY, Tiny

from proof.book.load import load_book
from proof.checks import exercises
from proof.checks.drafts import MARK, drafts
from proof.checks.rules import check
from proof.cli import new

MENU = """site_name: 小 # 注释
nav:
  - 首页: index.md
  - 课程:
      - 第一课: lessons/one.md
  - 依据: status.md
"""
TEMPLATES = ROOT / "proof" / "cli" / "templates"


@pytest.fixture
def grown(tiny: Tiny) -> Tiny:
    """The tiny project with what every kind needs: a menu with a lesson, and the test that new decisions name."""
    for name in ("mkdocs.yml", "mkdocs.en.yml"):
        tiny.write(name, MENU)
    tiny.write(new.CONFIRMATION, "def test_nothing():\n    pass\n")
    return tiny


def texts(root: Path) -> dict[str, bytes]:
    return {
        p.relative_to(root).as_posix(): p.read_bytes()
        for p in root.rglob("*")
        if p.is_file() and ".git" not in p.parts
    }


def refused(tiny: Tiny, *arguments: str) -> str:
    """What the command says when it refuses; it must then have written nothing."""
    before = texts(tiny.root)
    result = tiny.proof("new", *arguments)
    assert result.exit_code == 2, result.output
    assert texts(tiny.root) == before
    return result.stderr.splitlines()[-1].removeprefix("Error: ")


# Valid as created


KINDS = {
    "term": (("term", "Bank", "group"), ["glossary/bank-group.yml"]),
    "adr": (
        ("adr", "Kernels name: their fill values"),
        [f"adr/0002-kernels-name-their-fill-values.{lang}.md" for lang in ("en", "zh")],
    ),
    "lab": (
        ("lab", "wave"),
        ["labs/triton_wave.py", "labs/triton_wave.zh.yml", "tests/labs/test_wave.py"],
    ),
    "lesson": (
        ("lesson", "wave"),
        ["docs/en/lessons/wave.md", "docs/parity/lessons/wave.yml", "docs/zh/lessons/wave.md"],
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_one_command_writes_a_valid_start_and_each_file_is_one_warning(grown, kind):
    before, errors = texts(grown.root), [str(p) for p in check(grown.book()) if not p.warning]
    arguments, files = KINDS[kind]
    result = grown.proof("new", *arguments)
    assert result.exit_code == 0, result.output
    assert sorted(texts(grown.root).keys() - before.keys()) == files
    assert all(f"wrote    {file}\n" in result.stdout for file in files)
    problems = check(grown.book())
    assert [str(p) for p in problems if not p.warning] == errors
    warned = [p.file for p in problems if p.warning]
    assert set(warned) >= set(files) - {"docs/parity/lessons/wave.yml"}
    assert sorted(drafts(grown.book())) == sorted(warned)


def test_a_new_file_is_one_warning_with_its_open_lines_and_forbids_a_release(grown):
    grown.proof("new", "term", "bank", "group")
    file, said = (
        "glossary/bank-group.yml",
        "model, memory, device, compiler, numerics, kernels, measuring or serving",
    )
    (warning,) = [problem for problem in check(grown.book()) if problem.file == file]
    (error,) = [problem for problem in check(grown.book(), release=True) if problem.file == file]
    assert str(warning) == (
        f"{file}:2: still to write, in lines 2, 3, 6, 8, 10, 14, 16, 19; first: {said}. "
        "Write it, and take each mark TODO(new) out"
    )
    assert (warning.warning, error.warning, error.what) == (True, False, warning.what)


def test_the_whole_project_stays_valid_with_one_of_each(tmp_path):
    """A copy of this tree: the four commands one after another, then every rule."""
    tree = tmp_path / "tree"
    made = shutil.ignore_patterns("vendor", "records", "__pycache__", "site", "build")
    for name in ("adr", "docs", "glossary", "labs", "proof", "tests", ".github", ".ci"):
        if (ROOT / name).exists():
            shutil.copytree(ROOT / name, tree / name, ignore=made)
    for path in ROOT.glob("*.*"):
        if path.is_file():
            shutil.copy(path, tree)
    shutil.copy(ROOT / "Makefile", tree)
    before = {(p.file, p.what) for p in check(load_book(tree, TODAY)) if not p.warning}
    for arguments in (
        ("lab", "wave"),
        ("lesson", "wave"),
        ("exercise", "wave"),
        ("term", "bank group"),
        ("adr", "Waves are gentle"),
    ):
        new.write(tree, new.start(load_book(tree, TODAY), *arguments))
    after = {(p.file, p.what) for p in check(load_book(tree, TODAY)) if not p.warning}
    assert after - before == set()


def test_a_new_exercise_is_valid_takes_the_next_number_and_is_judged_as_it_says(tmp_path):
    """Beside the exercises that there are: each new file is one warning, the tests of exercises pass."""
    tree = tmp_path / "tree"
    made = shutil.ignore_patterns("__pycache__", "records", "compiled", "triton_*.py")
    for name in ("labs", "play", "tests/exercises", "docs/zh/lessons", "docs/en/lessons"):
        shutil.copytree(ROOT / name, tree / name, ignore=made)
    book = load_book(tree, TODAY)
    last = int(max(book.exercises)[:2])
    place = f"labs/exercises/{last + 1:02}_wave"
    start = new.start(book, "exercise", "wave")
    new.write(tree, start)
    grown = load_book(tree, TODAY)
    assert list(exercises.faults(grown)) == list(exercises.strays(grown)) == []
    assert set(start.files) == {file for file in drafts(grown) if file.startswith(place)}
    judged = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "tests/exercises/test_exercises.py",
            "-k",
            place[-7:],
        ],
        cwd=tree,
        capture_output=True,
        text=True,
    )
    assert judged.returncode == 0, judged.stdout


def test_an_exercise_without_any_lesson_is_refused(tiny):
    assert refused(tiny, "exercise", "wave").startswith("an exercise belongs to a lesson")


def test_every_template_has_open_places_and_no_other_kind_of_mark():
    for path in TEMPLATES.glob("*.txt"):
        text = path.read_text(encoding="utf-8")
        assert MARK.search(text), path
        assert text.count("TODO") == len(MARK.findall(text)), path


# A lab


@pytest.fixture(scope="module")
def lab(tmp_path_factory) -> Path:
    """A new lab and its companions in an empty folder, with its test beside it."""
    tiny = Tiny(tmp_path_factory.mktemp("lab") / "project")
    assert tiny.proof("new", "lab", "triton_wave").exit_code == 0
    alone = tmp_path_factory.mktemp("alone")
    for path in (tiny.root / "labs").glob("*.py"):
        if path.name != "triton_tiny.py":
            shutil.copy(path, alone)
    shutil.copy(
        tiny.root / "tests/labs/test_wave.py", tmp_path_factory.mktemp("tests") / "test_wave.py"
    )
    return alone / "triton_wave.py"


def test_a_new_lab_runs_in_the_interpreter_and_leaves_nothing_behind(lab):
    before = sorted(path.name for path in lab.parent.iterdir())
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("TRITON_")
    }
    done = subprocess.run(
        [sys.executable, lab],
        cwd=lab.parent,
        env=environment
        | {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [
        line.split()[:2]
        for line in done.stdout.splitlines()
        if line.startswith("  ") and "…" not in line
    ]
    verdicts = {name: verdict for verdict, name in lines}
    assert verdicts.pop("wave.large_fp32.vs_copy") == "-"
    assert len(verdicts) == 6 and set(verdicts.values()) == {"ok"}
    assert sorted(path.name for path in lab.parent.iterdir()) == before


def test_the_tests_of_a_new_lab_pass(grown):
    grown.proof("new", "lab", "wave")
    for name in ("conftest.py", "doubting.py", "running.py"):
        shutil.copy(ROOT / "tests/labs" / name, grown.root / "tests/labs")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/labs/test_wave.py"],
        cwd=grown.root,
        env=os.environ | {"CUDA_VISIBLE_DEVICES": "", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0 and "skipped" not in done.stdout, done.stdout + done.stderr


def test_what_is_new_is_formatted_as_all_python_is(grown):
    grown.proof("new", "lab", "wave")
    new = [grown.root / "labs/triton_wave.py", grown.root / "tests/labs/test_wave.py"]
    ruff = [sys.executable, "-m", "ruff", "format", "--diff", "--line-length", "100", *new]
    assert subprocess.run(ruff, capture_output=True, text=True).stdout == ""


def test_a_new_lab_asks_for_what_the_others_ask_for(grown, book):
    grown.proof("new", "lab", "wave")
    assert grown.book().labs["triton_wave"].requires == book.labs["triton_vector_add"].requires
    assert grown.book().labs["triton_wave"].switches == book.labs["triton_vector_add"].switches


@pytest.mark.parametrize(
    "name", ["x", "out", "torch", "sum", "lambda", "reference", "error", "judge", "math"]
)
def test_a_launcher_hides_nothing(grown, name):
    assert refused(grown, "lab", name).startswith(
        f"a launcher called {name} would hide what a lab or Python calls so"
    )


# A lesson


def test_a_lesson_quotes_the_lab_of_its_name(grown):
    grown.proof("new", "lab", "wave")
    grown.proof("new", "lesson", "wave")
    for lang in ("zh", "en"):
        page = grown.read(f"docs/{lang}/lessons/wave.md")
        assert '--8<-- "labs/triton_wave.py:kernel"' in page
        assert (
            '{{ notes("triton_wave:kernel") }}\n\n- `tl.store(out_ptr + offsets, y, mask=mask)`'
            in page
        )
        assert page.count("{{ bug_diff(") == 2 and '{{ lab_card("triton_wave") }}' in page
        assert '"wave.ragged_fp32.max_rel_err"' in page


def test_a_lesson_without_a_lab_says_so(grown):
    result = grown.proof("new", "lesson", "wave")
    assert (
        "there is no lab triton_wave; a lesson that is made after its lab quotes it from the start"
        in result.stderr
    )
    assert "8<" not in grown.read("docs/en/lessons/wave.md")


def test_a_lesson_stands_below_the_others_in_both_menus(grown):
    grown.write("mkdocs.en.yml", MENU.replace("\n", "\r\n").encode())
    grown.proof("new", "lesson", "wave_two")
    zh, en = grown.read("mkdocs.yml"), (grown.root / "mkdocs.en.yml").read_bytes().decode()
    below = "      - 第一课: lessons/one.md\n"
    assert zh == MENU.replace(
        below, below + "      - 新课：Wave two: lessons/wave_two.md # TODO(new): 中文标题\n"
    )
    assert en == MENU.replace(below, below + "      - Wave two: lessons/wave_two.md\n").replace(
        "\n", "\r\n"
    )
    assert yaml.safe_load(zh)["nav"][1]["课程"][1] == {"新课：Wave two": "lessons/wave_two.md"}


def test_a_lesson_has_a_statement_in_the_curriculum_to_be_written(grown):
    grown.write(
        new.CURRICULUM,
        "parts:\n  - title: {en: One, zh: 一}\n    statements:\n      - en: a\n        zh: 甲\n\n",
    )
    grown.proof("new", "lab", "wave")
    grown.proof("new", "lesson", "wave")
    statements = yaml.safe_load(grown.read(new.CURRICULUM))["parts"][0]["statements"]
    assert statements[0] == {"en": "a", "zh": "甲"} and len(statements) == 2
    assert statements[1]["page"] == "lessons/wave.md#summary" and statements[1]["proof"] == [
        "wave.whole_fp32.max_rel_err"
    ]
    assert new.CURRICULUM in drafts(grown.book())


@pytest.mark.parametrize("menu", [b"nav: []\n", "菜单".encode("gb18030"), None])
def test_a_menu_that_cannot_be_added_to_is_said(grown, menu):
    grown.remove("mkdocs.yml")
    if menu is not None:
        grown.write("mkdocs.yml", menu)
    assert "mkdocs.yml" in refused(grown, "lesson", "wave")


# Numbers of decisions


def git(root: Path, *arguments: str) -> None:
    command = ["git", "-C", root, "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    subprocess.run(command, check=True, capture_output=True)


def test_the_next_number_knows_every_branch_of_the_clone(grown):
    git(grown.root, "init", "-q", "-b", "main")
    git(grown.root, "add", "-A")
    git(grown.root, "commit", "-qm", "start")
    git(grown.root, "checkout", "-qb", "elsewhere")
    grown.write("adr/0007-taken.en.md", "")
    git(grown.root, "add", "-A")
    git(grown.root, "commit", "-qm", "seven")
    git(grown.root, "checkout", "-q", "main")
    git(grown.root, "update-ref", "refs/remotes/origin/main", "HEAD")
    result = grown.proof("new", "adr", "Waves are gentle")
    assert "adr/0008-waves-are-gentle.zh.md" in result.stdout
    assert (
        "0008 is free here and on every branch of this clone, 3 in all (0007 is taken on elsewhere)"
        in result.stderr
    )
    assert (
        "Not seen: branches that were not fetched, other people's clones, work that is not committed"
        in result.stderr
    )


def test_without_git_it_says_that_no_branch_was_looked_at(grown, monkeypatch):
    monkeypatch.setenv("PATH", "")
    result = grown.proof("new", "adr", "Waves are gentle")
    assert (
        "0002 is free in this folder; git could not be asked, so no branch was looked at"
        in result.stderr
    )


def test_a_title_reaches_the_file_as_written(grown):
    grown.proof("new", "adr", 'Say "no": 5 $x # twice')
    assert grown.book().decisions["0002", "en"].title == 'Say "no": 5 $x # twice'
    assert grown.book().decisions["0002", "zh"].slug == "0002-say-no-5-x-twice"


# Names


@pytest.mark.parametrize(
    ("kind", "name", "says"),
    [
        ("lab", "Layer-Norm", "Try layer_norm"),
        ("lab", "3d", "Try d"),
        ("lesson", "two words", "Try two_words"),
        ("lesson", "../up", "Try up"),
        ("lab", "波", "is no name here: small letters, digits and _, at most 40"),
        ("lab", "a_" * 30 + "b", "Try " + ("a_" * 20).rstrip("_")),
        (
            "term",
            "掩码层",
            "gives no file name: write the term's English name; the Chinese one goes into the file",
        ),
        (
            "adr",
            "记录",
            "gives no file name: write the title in English; the Chinese one goes into its own file",
        ),
        ("adr", "two\nlines", "gives no file name"),
        ("term", "nul", "cannot be checked out on Windows"),
        ("lesson", "con", "cannot be checked out on Windows"),
    ],
)
def test_a_name_that_cannot_be_is_refused_with_one_that_can(grown, kind, name, says):
    assert says in refused(grown, kind, name)


@pytest.mark.parametrize(
    ("kind", "name", "says"),
    [
        ("term", "mask", "'mask' is a name of glossary/mask.yml already: change that one"),
        ("term", "Mask", "'Mask' is a name of glossary/mask.yml already: change that one"),
        (
            "lab",
            "tiny",
            "labs/triton_tiny.py is there already: change that one, or choose another name",
        ),
        ("adr", "Records, not promises!", "adr/0001-records-not-promises has this title already"),
    ],
)
def test_a_name_that_is_taken_is_refused(grown, kind, name, says):
    assert refused(grown, kind, name).startswith(says)


def test_an_alias_and_a_forbidden_name_are_taken_too(grown):
    grown.edit(grown.term, "  alt: []", "  alt: [masking]")
    grown.edit(grown.term, "forbidden: []", "forbidden: [{lang: en, term: stencil, use: mask}]")
    assert refused(grown, "term", "masking").startswith(
        "'masking' is a name of glossary/mask.yml already"
    )
    assert (
        refused(grown, "term", "stencil")
        == "the glossary says mask instead of 'stencil': see glossary/mask.yml"
    )


@pytest.mark.parametrize(
    ("kind", "name", "there"),
    [
        ("term", "masks", "mask (glossary/mask.yml)"),
        ("lab", "tinys", "triton_tiny"),
        ("adr", "Record, not promise", "adr/0001-records-not-promises"),
    ],
)
def test_a_name_that_is_nearly_taken_is_a_warning(grown, kind, name, there):
    result = grown.proof("new", kind, name)
    assert result.exit_code == 0
    assert f"there is {there} already: is this another thing?" in result.stderr


def test_an_unknown_kind_names_the_kinds(grown):
    assert "'lab', 'lesson', 'exercise', 'term', 'adr'" in refused(grown, "page", "wave")


# Nothing is written over


def test_a_file_that_is_there_already_is_not_written_over_and_nothing_else_is_written(grown):
    made = new.start(grown.book(), "lesson", "wave")
    grown.write("docs/zh/lessons/wave.md", "mine")
    before = texts(grown.root)
    with pytest.raises(FileExistsError, match=r"docs/zh/lessons/wave\.md is there already"):
        new.write(grown.root, made)
    assert texts(grown.root) == before
