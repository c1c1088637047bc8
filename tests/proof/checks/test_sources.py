"""A cited source names one version of one file, and its address leads there."""

import pytest
from planted import found

from proof.checks import sources
from proof.checks.rules import check

CODE = """\
id: kernel
url: https://github.com/vllm-project/vllm/blob/v0.26.0/vllm/moe.py#L12-L40
shows:
  zh: 一个 kernel。
  en: One kernel.
accessed: 2026-11-01
repository: https://github.com/vllm-project/vllm
tag: v0.26.0
file: vllm/moe.py
lines: [12, 40]
sha256: {sha256}
""".format(sha256="0a" * 32)
PATH = "docs/sources/kernel.yml"


def told(tiny, old: str = "", new: str = "") -> list[str]:
    assert old in CODE
    tiny.write(PATH, CODE.replace(old, new) if old else CODE)
    return [line.split(":", 2)[2].strip() for line in found(tiny, sources.faults)]


def test_a_good_source_passes(tiny):
    assert told(tiny) == [] and check(tiny.book()) == []


def test_one_line_may_be_cited_in_both_ways(tiny):
    for anchor in ("#L12", "#L12-L12"):
        tiny.write(PATH, CODE.replace("#L12-L40", anchor).replace("[12, 40]", "[12, 12]"))
        assert found(tiny, sources.faults) == []


def test_a_repository_may_be_named_in_short(tiny):
    assert told(tiny, "https://github.com/vllm-project/vllm\ntag", "vllm-project/vllm\ntag") == []


@pytest.mark.parametrize("branch", ["main", "master", "HEAD", "develop", "latest"])
def test_a_branch_is_no_tag(tiny, branch):
    assert told(tiny, "v0.26.0", branch) == [f"{branch} is a branch, and branches move"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("blob/v0.26.0", "blob/v0.25.0"),
        ("#L12-L40", "#L12-L41"),
        ("#L12-L40", ""),
        ("/vllm/moe.py#", "/vllm/moes.py#"),
        ("url: https://github.com/vllm-project", "url: https://github.com/others"),
        ("url: https://github.com", "url: https://gitlab.com"),
    ],
)
def test_an_address_that_does_not_fit_is_found_with_the_right_one(tiny, old, new):
    tiny.write(PATH, CODE.replace(old, new))
    (problem,) = sources.faults(tiny.book())
    assert (
        problem.fix
        == "It would be https://github.com/vllm-project/vllm/blob/v0.26.0/vllm/moe.py#L12-L40"
    )


@pytest.mark.parametrize("key", ["lines", "sha256"])
def test_code_without_lines_or_hash_is_found(tiny, key):
    text = "\n".join(
        line for line in CODE.split("\n") if not line.startswith((f"{key}:", "lines:", "sha256:"))
    )
    tiny.write(PATH, text)
    (line,) = found(tiny, sources.faults)
    assert key in line


def test_a_range_that_runs_backwards_is_found(tiny):
    tiny.write(PATH, CODE.replace("[12, 40]", "[40, 12]").replace("#L12-L40", "#L40"))
    assert any("are no range" in line for line in found(tiny, sources.faults))


@pytest.mark.parametrize("digest", ["0a" * 31, "0A" * 32, "x" * 64])
def test_a_malformed_hash_is_found(tiny, digest):
    tiny.write(PATH, CODE.replace("0a" * 32, digest))
    assert any(problem.file == PATH for problem in check(tiny.book()))


def test_an_address_of_code_without_a_version_is_found(tiny):
    tiny.edit(
        tiny.source,
        "https://triton-lang.org/main/python-api/generated/triton.language.load.html",
        "https://github.com/a/b/blob/main/c.py",
    )
    (line,) = found(tiny, sources.faults)
    assert line.endswith("an address of code has no repository, tag, file and lines")


@pytest.mark.parametrize("key", ["url", "shows", "accessed"])
def test_a_missing_key_is_found(tiny, key):
    lines = tiny.read(tiny.source).split("\n")
    tiny.write(tiny.source, "\n".join(line for line in lines if not line.startswith(key)))
    assert any(problem.file == tiny.source for problem in check(tiny.book()))


def test_a_day_after_today_is_found(tiny):
    tiny.edit(tiny.source, "accessed: ", "accessed: 2030-01-01 # ")
    (line,) = found(tiny, sources.faults)
    assert line.endswith("accessed is 2030-01-01, after today, 2026-11-29")
