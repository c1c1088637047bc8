"""The configuration: short, pinned, strict, self-hosted, and the same menu in both languages."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
LATIN_LABELS = (
    set()
)  # labels that are the same in both languages; labs and decisions are filled in by the build


class _Loader(yaml.SafeLoader):
    """Reads MkDocs's own tags as what they stand on."""


_Loader.add_multi_constructor("!", lambda loader, tag, node: getattr(node, "value", tag))
_Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, tag, node: tag)


def config(name: str) -> dict:
    return yaml.load((ROOT / name).read_text(encoding="utf-8"), _Loader)


@pytest.fixture(scope="module")
def zh() -> dict:
    return config("mkdocs.yml")


@pytest.fixture(scope="module")
def en() -> dict:
    return config("mkdocs.en.yml")


def entries(nav: list, label: str = "") -> list[tuple[str, str]]:
    """Label and path of each entry, sections included with the path ''."""
    found = []
    for entry in nav:
        for name, value in entry.items() if isinstance(entry, dict) else [("", entry)]:
            found += [(name, ""), *entries(value)] if isinstance(value, list) else [(name, value)]
    return found


def test_configuration_stays_short():
    lines = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").splitlines()
    assert len(lines) < 120


def test_C104_menus_hold_the_same_pages_under_translated_labels(zh, en):
    ours, theirs = entries(zh["nav"]), entries(en["nav"])
    assert [path for _, path in ours] == [path for _, path in theirs]
    same = {a for (a, _), (b, _) in zip(ours, theirs, strict=True) if a and a == b}
    assert same == LATIN_LABELS
    assert not [label for label, _ in theirs if re.search(r"[\u3400-\u9fff]", label)]


def test_C104_every_visible_word_of_the_theme_is_given_in_both_languages(zh, en):
    for toggle, other in zip(zh["theme"]["palette"], en["theme"]["palette"], strict=True):
        assert {**toggle, "toggle": None} == {**other, "toggle": None}
        assert toggle["toggle"]["name"] != other["toggle"]["name"]
    for key in ("site_name", "site_description", "copyright"):
        assert zh[key] != en[key]


def test_english_overrides_words_and_places_only(en):
    assert set(en) == {
        "INHERIT", "site_name", "site_description", "docs_dir", "site_dir", "nav", "theme", "copyright", "markdown_extensions",
    }  # fmt: skip
    assert en["theme"].keys() == {"language", "palette"}
    assert en["markdown_extensions"] == {"toc": {"permalink_title": "Link to this section"}}


def test_plugins_and_extensions_are_mappings_so_that_english_inherits_them(zh):
    assert isinstance(zh["plugins"], dict)
    assert isinstance(zh["markdown_extensions"], dict)


def test_C016_separator_splits_at_hidden_marks_and_punctuation_of_both_scripts(zh):
    separator = re.compile(zh["plugins"]["search"]["separator"])
    for mark in "\u200b\u3000 ，。、；：？！（）【】《》“”‘’…—·,;:?!()":
        assert separator.split(f"归约{mark}访存") == ["归约", "访存"], hex(ord(mark))
    assert separator.split("tl.load(x_ptr)") == ["tl", "load", "x_ptr", ""]
    assert separator.split("Triton 3.7.1") == ["Triton", "3.7.1"]


def test_C016_the_word_splitter_is_a_pinned_dependency():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "jieba==0.42.1" in project["dependencies"]
    assert all("==" in each for each in project["dependencies"])


def test_C018_a_missing_snippet_is_an_error(zh):
    assert zh["markdown_extensions"]["pymdownx.snippets"]["check_paths"] is True


def test_C019_no_extension_that_breaks_bold_next_to_full_width_marks(zh):
    assert not [name for name in zh["markdown_extensions"] if re.search(r"betterem|extra$", name)]


def test_C063_every_kind_of_doubtful_link_is_a_warning_and_so_an_error(zh):
    assert set(zh["validation"]["links"].values()) == {"warn"}
    assert zh["validation"]["links"].keys() == {
        "not_found",
        "absolute_links",
        "unrecognized_links",
        "anchors",
    }
    assert set(zh["validation"]["nav"].values()) == {"warn"}


def test_nothing_of_ours_names_another_host(zh):
    """Addresses in our templates, scripts and styles are of this site; names of XML namespaces are no addresses."""
    ours = [ROOT / "mkdocs.yml", ROOT / "mkdocs.en.yml", *(ROOT / "docs/overrides").rglob("*.*")]
    ours += [path for path in (ROOT / "docs/assets").glob("*.*")]
    for path in ours:
        found = re.findall(r"(?:https?:)?//[\w-]+\.[\w.-]+\S*", path.read_text(encoding="utf-8"))
        allowed = ("http://127.0.0.1", "http://www.w3.org/", "http://www.sitemaps.org/")
        assert not [address for address in found if not address.startswith(allowed)], path
    assert zh["theme"]["font"] is False


def test_scripts_are_pinned_by_version_and_hash_and_no_registry_is_named():
    wanted = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))["dependencies"]
    lock = json.loads((ROOT / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in wanted.values())
    for name, package in lock.items():
        assert "resolved" not in package
        assert name == "" or package["integrity"].startswith("sha512-"), name
    assert {name: lock[f"node_modules/{name}"]["version"] for name in wanted} == wanted


def test_mermaid_is_of_the_line_that_the_dark_palette_can_show():
    wanted = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))["dependencies"]
    assert wanted["mermaid"].startswith("11.")
