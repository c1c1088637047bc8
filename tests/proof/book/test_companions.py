"""proof/book/companions.py: which files a lab imports, their text in one, and the two hashes of a lab."""

from __future__ import annotations

import pytest

from proof.book.companions import (
    bundle,
    companions,
    inlined,
    is_bundle,
    judge_hash,
    lab_hash,
    lesson_of,
    missing,
    names_twice,
)

HEAD = '"""A lab."""\n\n'
BLOCK = """\
# --8<-- [start:companions]
import sys

try:
    from judge import main
    from arguments import check
except ModuleNotFoundError:
    sys.exit(2)
# --8<-- [end:companions]
"""
TAIL = '\n\ndef lesson():\n    return DEVICE\n\n\n# fmt: off\nCLAIMS = [check(1)]\nBUGS = []\n# fmt: on\n\nif __name__ == "__main__":\n    main()\n'
LAB = HEAD + BLOCK + TAIL
TEXTS = {
    "arguments.py": '"""Arguments."""\n\nimport math\n\n\n# --8<-- [start:overlap]\ndef check(x):\n    return math.isfinite(x)\n    # --8<-- [end:overlap]\n',
    "claims.py": '"""Claims."""\n\nKINDS = ("error",)\n',
    "judge.py": '"""The judge."""\n\n# --8<-- [start:where]\nDEVICE = "cpu"\n# --8<-- [end:where]\nimport json\n\nfrom claims import KINDS\n\n__all__ = ["KINDS"]\n\n\ndef main():\n    print(json.dumps(KINDS))\n',
    "harness.py": "def harness():\n    return 2\n",
}


def test_companions_come_below_those_that_they_import():
    assert list(companions(LAB, TEXTS)) == ["claims.py", "judge.py", "arguments.py"]


def test_the_standard_library_is_no_companion():
    assert list(
        companions(LAB.replace("import sys\n", "import sys\nfrom math import inf\n"), TEXTS)
    ) == [
        "claims.py",
        "judge.py",
        "arguments.py",
    ]


def test_what_is_not_there_is_named():
    assert missing(LAB, {"judge.py": ""}) == ["arguments.py"]
    assert missing(LAB, TEXTS) == []


def test_two_that_import_each_other_are_refused():
    texts = TEXTS | {"claims.py": "from judge import main\n"}
    with pytest.raises(ValueError, match=r"judge\.py and claims\.py import each other"):
        companions(LAB, texts)


def test_inlined_they_are_one_program_without_imports_of_each_other():
    text = inlined(companions(LAB, TEXTS))
    assert (
        "from claims" not in text
        and "__all__" not in text
        and "--8<--" not in text
        and '"""' not in text
    )
    names: dict = {}
    exec(text, names)
    assert names["check"](1.0) and names["KINDS"] == ("error",) and callable(names["main"])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("from claims import KINDS as K", "by another name or by *"),
        ("from claims import *", "by another name or by *"),
        ("import claims", "as a module"),
    ],
)
def test_an_import_that_cannot_be_inlined_is_refused(line, said):
    texts = TEXTS | {"judge.py": TEXTS["judge.py"].replace("from claims import KINDS", line)}
    found = {"claims.py": texts["claims.py"], "judge.py": texts["judge.py"]}
    with pytest.raises(ValueError, match=r"judge\.py imports") as error:
        inlined(found)
    assert said in str(error.value)


def test_the_lesson_is_the_lab_without_the_block():
    assert lesson_of(LAB) == HEAD + TAIL


def test_a_bundle_has_the_hashes_of_its_lab():
    one_file = bundle(LAB, TEXTS)
    assert is_bundle(one_file) and not is_bundle(LAB)
    assert lab_hash(one_file) == lab_hash(LAB)
    assert judge_hash(one_file, {}) == judge_hash(LAB, TEXTS)
    assert companions(one_file, TEXTS) == {} and missing(one_file, TEXTS) == []


def test_in_a_bundle_the_lesson_stands_between_the_choice_of_device_and_the_judge():
    one_file = bundle(LAB, TEXTS)
    places = [
        one_file.index(text)
        for text in ('DEVICE = "cpu"', "def lesson", "def main", "# fmt: off\nCLAIMS")
    ]
    assert places == sorted(places) and "from judge" not in one_file


def test_a_bundle_is_one_program(capsys):
    names: dict = {"__name__": "__main__"}
    exec(bundle(LAB, TEXTS), names)
    assert capsys.readouterr().out == '["error"]\n' and names["lesson"]() == "cpu"


def test_a_bundle_of_a_bundle_is_itself():
    assert bundle(bundle(LAB, TEXTS), TEXTS) == bundle(LAB, TEXTS)


def test_the_lab_hash_ignores_what_the_block_imports():
    assert lab_hash(LAB.replace("import check", "import check, other")) == lab_hash(LAB)
    assert lab_hash(LAB.replace("return DEVICE", "return 2")) != lab_hash(LAB)


def test_the_judge_hash_is_of_the_code_of_every_companion_that_is_imported():
    before = judge_hash(LAB, TEXTS)
    assert judge_hash(LAB, TEXTS | {"harness.py": "x = 1\n"}) == before
    assert (
        judge_hash(LAB, TEXTS | {"claims.py": '# new\n"""Other words."""\n\nKINDS = ("error",)\n'})
        == before
    )
    assert judge_hash(LAB, TEXTS | {"claims.py": 'KINDS = ("error", "ratio")\n'}) != before
    with_harness = LAB.replace("    from judge", "    from harness import harness\n    from judge")
    assert judge_hash(with_harness, TEXTS) != before


def test_a_name_that_two_files_define_is_named():
    assert names_twice(LAB, TEXTS) == []
    assert names_twice(LAB.replace("def lesson", "def check"), TEXTS) == ["check"]
    assert names_twice(LAB.replace("def lesson():\n    return DEVICE", "KINDS = 1"), TEXTS) == [
        "KINDS"
    ]
