"""The site as built: nothing wrong with it, every page in both languages, and every planted fault named by file and line."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
import zlib
from pathlib import Path
from urllib.parse import urljoin, urlsplit
from urllib.request import urlopen

import pytest
from bs4 import BeautifulSoup
from sites import PREFIX, ROOT, WORDS, Site

from proof.book.model import LANGS, Book
from proof.book.translation import download
from proof.site import assemble, vendor
from proof.site import build as site

HAN = re.compile(r"[\u3400-\u9fff]")
HEADS = {"zh": "", "en": "en/"}


def soup(built: Site, page: str) -> BeautifulSoup:
    return BeautifulSoup(
        built.read(page if page.endswith(".html") else f"{page}index.html"), "html.parser"
    )


def split(page: str) -> tuple[str, str]:
    """The language of a page's address and the rest of it."""
    return ("en", page[3:]) if page.startswith("en/") else ("zh", page)


def pages_of(built: Site, lang: str) -> set[str]:
    return {rest for its, rest in map(split, built.pages) if its == lang}


def said(problems, *words: str) -> bool:
    return any(
        all(word in str(problem) for word in words) and not problem.warning for problem in problems
    )


# The tree as it is


def test_the_tree_builds_with_nothing_to_mend(built: Site):
    assert [str(problem) for problem in built.problems if not problem.warning] == []


@pytest.mark.parametrize(("lang", "config"), [("zh", "mkdocs.yml"), ("en", "mkdocs.en.yml")])
def test_plain_mkdocs_builds_each_language(plant, tmp_path: Path, lang: str, config: str):
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "-q",
        "-f",
        config,
        "-d",
        str(tmp_path / "plain"),
    ]
    done = subprocess.run(command, cwd=plant.root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pages = {path.parent.name for path in (tmp_path / "plain").rglob("index.html")}
    assert {"glossary", "status", "devices", "adr"} <= pages


def test_plain_mkdocs_names_the_line_of_a_macro_that_fails(plant, tmp_path: Path):
    plant.write("docs/en/index.md", '# Home { #home }\n\n{{ claim("no.such.claim") }}\n')
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "-f",
        "mkdocs.en.yml",
        "-d",
        str(tmp_path / "plain"),
    ]
    done = subprocess.run(command, cwd=plant.root, capture_output=True, text=True)
    assert "docs/en/index.md:3: there is no claim 'no.such.claim'" in done.stderr


def test_every_page_is_there_in_both_languages(built: Site, book: Book):
    assert pages_of(built, "zh") == pages_of(built, "en")
    written = {
        re.sub(r"(^|/)index\.md$", r"\1", page.name).removesuffix(".md").rstrip("/")
        for page in book.pages
    }
    made = {"glossary", "status", "devices", "adr", *(f"labs/{stem}" for stem in book.labs)}
    made |= {f"adr/{decision.slug}" for decision in book.decisions.values()}
    made |= {"exercises", *(f"exercises/{name}" for name in book.exercises)}
    assert {page.rstrip("/") for page in pages_of(built, "zh")} == written | made


@pytest.mark.parametrize("lang", LANGS)
def test_C001_each_lab_page_shows_prose_code_and_the_recorded_output(
    built: Site, book: Book, lang: str
):
    index = json.loads(built.read(f"{HEADS[lang]}search/search_index.json"))["docs"]
    for stem in book.labs:
        article = soup(built, f"{HEADS[lang]}labs/{stem}/").article
        assert article.find("h1")
        assert (
            len(article.select("div.highlight code .k, div.highlight code .kn")) > 20
        )  # keywords, so highlighted
        assert article.select(".output code")
        assert not re.search(r"^# (%%|--8<--)", article.text, re.M)
        assert any(entry["location"].startswith(f"labs/{stem}/") for entry in index)


@pytest.mark.parametrize("lang", LANGS)
def test_a_lab_page_is_light_as_hosts_send_it(built: Site, book: Book, lang: str):
    """What a phone loads is the compressed text."""
    pages = {
        stem: (built.out / HEADS[lang] / "labs" / stem / "index.html").read_bytes()
        for stem in book.labs
    }
    assert {
        stem: len(zlib.compress(page))
        for stem, page in pages.items()
        if len(zlib.compress(page)) >= 50_000
    } == {}


def test_code_on_pages_has_its_comments_in_the_language_of_the_page(built: Site):
    english, chinese = "# false only past the end", "# 只在最后一块里、末尾之后为假"
    for page in ("lessons/vector_add/", "labs/triton_vector_add/"):
        zh, en = (soup(built, f"{HEADS[lang]}{page}").get_text() for lang in ("zh", "en"))
        assert (chinese in zh, english in zh) == (True, False)
        assert (chinese in en, english in en) == (False, True)


def test_C001_labs_can_be_downloaded_as_one_file_and_records_as_they_lie_in_the_tree(
    built: Site, book: Book
):
    for lang in LANGS:
        for stem, lab in book.labs.items():
            assert built.read(f"{HEADS[lang]}downloads/{stem}.py") == download(book, lab, lang)
            assert json.loads(built.read(f"{HEADS[lang]}downloads/{stem}.ipynb"))["nbformat"] == 4
        for record in book.records:
            name = Path(*record.path.parts[-3:])
            assert (
                built.out / HEADS[lang] / "records" / name
            ).read_bytes() == record.path.read_bytes()


def test_C015_both_not_found_pages_speak_both_languages_and_lead_to_both_homes(built: Site):
    for name in ("404.html", "en/404.html"):
        page = soup(built, name)
        here = f"{PREFIX}no/such/page/"
        links = {
            (a.find_parent(lang=True)["lang"], urljoin(here, a["href"]))
            for a in page.article.select("a")
        }
        assert links == {("zh", PREFIX), ("en", f"{PREFIX}en/")}
        assert page.html["lang"] == ("en" if name.startswith("en") else "zh")


def test_C019_no_bold_mark_is_left_in_prose(built: Site):
    for page in built.pages:
        article = soup(built, page).article
        for code in article.select("pre, code, .arithmatex"):
            code.decompose()
        assert not re.search(r"(?<!\d)\*\*(?!\d)", article.text), page  # 2**31 is meant


def test_C062_heading_ids_are_meaningful_unique_and_the_same_in_both_languages(built: Site):
    ids = {}
    for page in built.pages:
        whole = soup(built, page)
        ids[page] = [heading.get("id") for heading in whole.article.select("h1, h2, h3, h4")]
        assert not [i for i in ids[page] if not i or re.fullmatch(r"_\d+|.*_\d", i)], page
        every = [tag["id"] for tag in whole.select("[id]")]
        assert len(every) == len(set(every)), page
    for page in pages_of(built, "zh") - {"glossary/"}:
        assert ids[f"en/{page}"] == ids[page], page
    assert set(ids["en/glossary/"]) == set(ids["glossary/"])  # each in its own order


def test_C065_every_page_names_its_twin_and_itself_absolutely(built: Site):
    for page in built.pages:
        lang, rest = split(page)
        head, both = soup(built, page).head, {"zh": built.url + rest, "en": f"{built.url}en/{rest}"}
        assert {link["hreflang"]: link["href"] for link in head.select("link[hreflang]")} == both
        assert head.select_one("link[rel=canonical]")["href"] == both[lang]
        assert not head.select(
            "link[rel=alternate]"
        )  # the theme would take it for the root of a site


@pytest.mark.parametrize("lang", LANGS)
def test_C065_the_site_map_lists_each_page_with_its_twin(built: Site, lang: str):
    space = {
        "s": "http://www.sitemaps.org/schemas/sitemap/0.9",
        "x": "http://www.w3.org/1999/xhtml",
    }
    found = {}
    for url in ET.fromstring(built.read(f"{HEADS[lang]}sitemap.xml")).findall("s:url", space):
        twins = {link.get("hreflang"): link.get("href") for link in url.findall("x:link", space)}
        found[url.findtext("s:loc", None, space)] = twins
    wanted = {
        rest: {"zh": built.url + rest, "en": f"{built.url}en/{rest}"}
        for rest in pages_of(built, lang)
    }
    assert found == {twins[lang]: twins for twins in wanted.values()}
    for twins in wanted.values():
        for address in twins.values():
            assert (built.out / address.removeprefix(built.url) / "index.html").is_file()


def test_C065_robots_are_told_of_both_site_maps(built: Site):
    assert re.findall(r"^Sitemap: (.+)$", built.read("robots.txt"), re.M) == [
        f"{built.url}sitemap.xml",
        f"{built.url}en/sitemap.xml",
    ]


def test_C065_the_language_link_leads_to_the_twin_without_scripts(built: Site):
    for page in built.pages:
        lang, rest = split(page)
        link = soup(built, page).select_one("a.language")
        assert (
            urljoin(built.url + page, link["href"])
            == built.url + ("en/" if lang == "zh" else "") + rest
        )
        assert link["lang"] == link["hreflang"] == ("en" if lang == "zh" else "zh")


@pytest.mark.parametrize("lang", LANGS)
def test_C067_a_page_is_in_the_language_that_it_says(built: Site, lang: str):
    for rest in pages_of(built, lang):
        page = soup(built, HEADS[lang] + rest)
        assert page.html["lang"] == lang
        for foreign in page.article.select(f"pre, code, [lang]:not([lang={lang}])"):
            foreign.decompose()
        share = len(HAN.findall(page.article.text)) / max(1, len(page.article.text))
        assert share > 0.1 if lang == "zh" else share < 0.02, rest


@pytest.mark.parametrize("lang", LANGS)
def test_C068_the_index_holds_each_page_of_its_language_once(built: Site, lang: str):
    docs = json.loads(built.read(f"{HEADS[lang]}search/search_index.json"))["docs"]
    places = [entry["location"] for entry in docs]
    assert len(places) == len(set(places))
    assert {place.partition("#")[0] for place in places} == pages_of(built, lang)
    han = sum(bool(HAN.search(entry["title"] + entry["text"])) for entry in docs)
    assert han > len(docs) / 2 if lang == "zh" else han < len(docs) / 4


@pytest.mark.parametrize("lang", LANGS)
def test_C068_sources_of_formulas_and_diagrams_are_not_indexed(built: Site, lang: str):
    index = built.read(f"{HEADS[lang]}search/search_index.json")
    written = [entry["title"] + entry["text"] for entry in json.loads(index)["docs"]]
    texts = [
        re.sub(r"<pre>.*?</pre>", "", text, flags=re.S) for text in written
    ]  # code may hold any mark
    for mark in ("\\frac", "\\sum", "\\(", "\\[", "flowchart LR", "sequenceDiagram"):
        assert not [text for text in texts if mark in text], mark


@pytest.mark.parametrize("lang", LANGS)
def test_C068_tips_of_terms_are_not_indexed_where_they_are_shown(
    built: Site, book: Book, lang: str
):
    docs = json.loads(built.read(f"{HEADS[lang]}search/search_index.json"))["docs"]
    other = "".join(d["text"] for d in docs if not d["location"].startswith("glossary/")).replace(
        "\u200b", ""
    )
    shorts = [(term.zh if lang == "zh" else term.en).short for term in book.terms.values()]
    assert not [short for short in shorts if short in other]


def test_C104_no_menu_label_is_left_in_the_other_language(built: Site):
    """Labs have short names of their own in each language; decisions are listed by number, with their own titles."""

    def menu(page: str) -> list[str]:
        labels = soup(built, page).select(".md-nav--primary .md-nav__link .md-ellipsis")
        return [" ".join(label.text.split()) for label in labels]

    ours, theirs = menu(""), menu("en/")
    assert len(ours) == len(theirs)
    assert not [a for a, b in zip(ours, theirs, strict=True) if a == b]
    assert not [label for label in theirs if HAN.search(label)]


def test_C104_every_picture_style_script_and_download_of_a_page_is_there(built: Site):
    for page in [*built.pages, "404.html", "en/404.html"]:
        for tag in soup(built, page).select("[src], link[href], a[href]"):
            address = urlsplit(urljoin(built.url + page, tag.get("src") or tag["href"]))
            if not address.geturl().startswith(built.url):
                continue
            target = built.out / address.path.removeprefix(PREFIX)
            assert target.is_file() or (target / "index.html").is_file(), f"{page}: {address.path}"


def test_nothing_is_loaded_from_another_host(built: Site):
    names = "[rel=canonical], [rel~=translation], [rel=next], [rel=prev]"  # of pages, which nothing loads
    for page in [*built.pages, "404.html", "en/404.html"]:
        for tag in soup(built, page).select(f"[src], link[href]:not({names})"):
            assert not urlsplit(tag.get("src") or tag["href"]).netloc, f"{page}: {tag}"
    for script in built.out.rglob("bundle.*.js"):
        assert "unpkg.com/mermaid" not in script.read_text(encoding="utf-8")


# Planted faults


def test_a_tiny_project_builds_with_nothing_to_mend(plant):
    assert [str(problem) for problem in plant.build().problems] == []


def test_a_lab_without_a_record_still_has_its_page_which_says_so(plant):
    plant.remove("labs/records")
    built = plant.build(strict=False)
    for head in HEADS.values():
        output = soup(built, f"{head}labs/triton_tiny/").select(".output")
        assert "No run on a GPU is on record yet." in "".join(each.text for each in output)


def test_C015_not_found_pages_at_the_root_of_a_host(plant, tmp_path: Path):
    site.build(plant.root, False, tmp_path / "out", "https://example.org/")
    for name in ("404.html", "en/404.html"):
        page = soup(Site(tmp_path / "out", ""), name)
        links = [
            urljoin("https://example.org/no/such/", a["href"]) for a in page.article.select("a")
        ]
        assert links == ["https://example.org/", "https://example.org/en/"]


@pytest.mark.parametrize("planted", ["labs/triton_gone.py:kernel", "labs/triton_tiny.py:gone"])
def test_C018_a_lost_file_or_section_names_page_line_file_and_section(plant, planted: str):
    page = plant.page["en"]
    plant.write(page, plant.read(page) + f'\n```python\n--8<-- "{planted}"\n```\n')
    line = plant.read(page).splitlines().index(f'--8<-- "{planted}"') + 1
    for strict in (True, False):
        assert said(
            plant.build(strict).problems,
            f"{page}:{line}:",
            planted.split(":")[planted.endswith("gone")],
        )


MARKS = "，。：；！？、”’）】》」』—…"


def test_C019_bold_that_ends_in_a_full_width_mark_is_bold_everywhere(plant):
    bold = [f"**重点{mark}**后面" for mark in MARKS]
    bold += ["前面**（括号）**后面", "前面**“引号”**后面", "前面**《书名》**后面"]
    form = (
        "{0}\n\n- {0}\n\n| 表 |\n| --- |\n| {0} |\n\n## {0} {{ #h{1} }}\n\n!!! note\n\n    {0}\n\n"
    )
    text = "".join(form.format(each, number) for number, each in enumerate(bold))
    plant.write(plant.page["zh"], "# 页 { #third }\n\n" + text)
    article = soup(plant.build(strict=False), "").article
    assert "**" not in article.text
    assert len(article.select("strong")) == 5 * len(bold)


def test_C062_an_id_outlives_a_heading_put_before_it_and_a_heading_needs_one(plant):
    page = plant.page["zh"]
    plant.write(page, plant.read(page) + "\n## 内存 { #memory }\n\n文字。\n")
    before = [h["id"] for h in soup(plant.build(strict=False), "").article.select("h2")]
    plant.edit(page, "## 内存", "## 新的一节 { #new }\n\n文字。\n\n## 内存")
    after = [h["id"] for h in soup(plant.build(strict=False), "").article.select("h2")]
    assert (before, after) == (["memory"], ["new", "memory"])
    plant.write(page, plant.read(page) + "\n## 没有名字的一节\n\n文字。\n")
    line = len(plant.read(page).splitlines()) - 2
    assert said(plant.build().problems, f"{page}:{line}:")


def test_C063_each_doubtful_link_is_named_by_file_and_line(plant):
    page = plant.page["en"]
    plant.write("docs/en/Picture.png", b"")
    planted = {
        "a wrong fragment": "[a](#nowhere)",
        "no file ending": "[b](status)",
        "an absolute link": "[c](/status/)",
        "a picture in the wrong case": "![d](picture.png)",
        "a link in raw HTML": '<a href="gone/">e</a>',
        "a fragment of another page": "[f](status.md#nowhere)",
    }
    plant.write(page, plant.read(page) + "\n" + "\n\n".join(planted.values()) + "\n")
    lines, problems = plant.read(page).splitlines(), plant.build().problems
    for what, link in planted.items():
        assert said(problems, f"{page}:{lines.index(link) + 1}:"), what


def test_C067_a_lost_page_of_one_language_makes_the_build_red(plant):
    plant.write("docs/zh/more.md", "# 更多 { #more }\n\n更多文字。\n")
    for lang in LANGS:
        home = f"  - {WORDS[lang]['home']}: index.md\n"
        plant.edit(f"mkdocs{'' if lang == 'zh' else '.en'}.yml", home, f"{home}  - more.md\n")
    problems = plant.build().problems
    assert said(problems, "docs/zh/more.md")
    assert said(problems, "mkdocs.en.yml", "more.md")


@pytest.mark.parametrize(
    ("said_by", "root"),
    [("", "http://127.0.0.1:8000/"), ("https://example.org/a", "https://example.org/a/")],
)
def test_C065_where_the_site_is_published_comes_from_SITE_URL(
    plant, tmp_path: Path, monkeypatch, said_by: str, root: str
):
    monkeypatch.setenv("SITE_URL", said_by)
    assert site.build(plant.root, False, tmp_path / "out") == []
    for lang, head in HEADS.items():
        page = soup(Site(tmp_path / "out", ""), head)
        assert page.select_one("link[rel=canonical]")["href"] == root + head
        assert page.select_one(f"link[hreflang={lang}]")["href"] == root + head


def test_an_address_that_is_none_is_named(plant, tmp_path: Path):
    problems = site.build(plant.root, False, tmp_path / "out", "example.org")
    assert said(problems, "mkdocs.yml:", "'site_url'", "The URL isn't valid")


def test_a_page_that_no_menu_holds_makes_the_build_red(plant):
    for lang, text in (
        ("zh", "# 多余 { #extra }\n\n文字。\n"),
        ("en", "# Extra { #extra }\n\nText.\n"),
    ):
        plant.write(f"docs/{lang}/extra.md", text)
        assert said(plant.build(strict=False).problems, f"docs/{lang}/extra.md")


def test_C027_a_page_that_lags_behind_says_so_and_leads_to_its_counterpart(plant):
    assert not soup(plant.build(strict=False), "").select(".admonition")
    plant.write(plant.page["en"], plant.read(plant.page["en"]) + "\nOne more sentence.\n")
    built = plant.build()
    assert [str(problem).split(":")[0] for problem in built.problems] == [plant.page["en"]]
    (notice,) = soup(built, "").select("h1 + .admonition.warning")
    assert (notice.p.text, notice.a["href"]) == ("这一页可能落后于英文版", "./en/")
    assert not soup(built, "en/").select(".admonition")
    assert plant.build(strict=False).problems == []


def test_mistakes_in_macros_are_all_told_at_once(plant):
    for lang in LANGS:
        plant.edit(plant.page[lang], plant.error, "tiny.ragged_fp32.max_abs_er")
    problems = plant.build(strict=False).problems
    assert all(said(problems, f"{plant.page[lang]}:3:", plant.error) for lang in LANGS)


# What the builds are made of


def test_the_menu_takes_in_every_lab_and_decision(tiny):
    nav = [{"Labs": ["running.md", "labs/*"]}, "adr/*"]
    assert assemble.menu(nav, tiny.book(), "en") == [
        {"Labs": ["running.md", {"A third": "labs/triton_tiny.ipynb"}]},
        {"0001 Records, not promises": "adr/0001-records-not-promises.md"},
    ]


@pytest.mark.parametrize(
    ("url", "way"), [("", "./"), ("status/", "../"), ("lessons/vector_add/", "../../")]
)
def test_the_way_up_from_a_page(url: str, way: str):
    assert assemble.up(url) == way


@pytest.mark.parametrize("mend", [assemble.own_mermaid, assemble.own_search])
@pytest.mark.parametrize("text", ["", "twice"])
def test_a_theme_that_changed_is_noticed(mend, text: str):
    with pytest.raises(ValueError, match="The theme has changed"):
        mend(text)


def test_a_formula_in_a_title_is_marked():
    assert assemble.formulas(r"A \(\alpha\) b") == r'A <span class="arithmatex">\(\alpha\)</span> b'


def test_a_diagram_keeps_its_text_readable():
    assert assemble.diagram('A["a < b"] --> B', "mermaid", "mermaid", {}, None) == (
        '<div class="diagram" data-search-exclude="diagram"><pre class="mermaid"><code>A["a &lt; b"] --&gt; B</code></pre></div>'
    )


def test_serving_shows_both_languages_and_what_changes_and_keeps_the_last_site(plant):
    code = f"from pathlib import Path; from proof.site.build import serve; serve(Path({str(plant.root)!r}), port=8100)"
    pipes = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    running = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, **pipes)

    def shown(path: str) -> str:
        return urlopen(url + path).read().decode()

    try:
        assert running.stdout.readline() == "building both languages …\n"
        url = running.stdout.readline().split()[0]
        assert "三分之一" in shown("") and "A third" in shown("en/")
        version = shown("livereload/0/0")
        plant.edit(plant.page["en"], "# A third", "# Another third")
        while (
            shown(f"livereload/{version}/0") == version
        ):  # answers when there is a newer one, or after a while
            pass
        assert "Another third" in shown("en/")
        (plant.root / "mkdocs.yml").write_text("site_name: [", encoding="utf-8")
        assert "mkdocs.yml:1:" in running.stderr.readline()
        assert "三分之一" in shown("")
    finally:
        running.terminate()
        running.communicate()
    assert running.returncode == 0


def test_a_taken_port_gives_way_to_the_next():
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert site.free_port("127.0.0.1", port) > port


# The vendored scripts


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A root that holds vendored files as they should be."""
    import shutil

    shutil.copy(ROOT / "package-lock.json", tmp_path)
    shutil.copytree(ROOT / vendor.FOLDER, tmp_path / vendor.FOLDER)
    return tmp_path


def test_files_that_fit_the_lock_are_not_fetched_again(shelf: Path, monkeypatch):
    monkeypatch.setattr(vendor, "npm_candidates", lambda: pytest.fail("npm was called"))
    assert vendor.vendor(shelf) is False


@pytest.mark.parametrize("damage", ["changed", "missing", "other lock"])
def test_damaged_or_outdated_files_are_noticed(shelf: Path, damage: str):
    script = shelf / vendor.FOLDER / "mermaid.min.js"
    if damage == "changed":
        script.write_text("alert(1)")
    elif damage == "missing":
        script.unlink()
    else:
        (shelf / "package-lock.json").write_text("{}")
    assert not vendor.fresh(shelf)


def _npm(tmp_path: Path, monkeypatch, says: str) -> None:
    npm = tmp_path / "npm"
    npm.write_text(f"#!/bin/sh\necho '{says}' >&2\nexit 1\n")
    npm.chmod(0o755)
    monkeypatch.setattr(vendor, "npm_candidates", lambda: [str(npm)])


@pytest.mark.parametrize(
    ("says", "sentence"),
    [
        (
            "npm error code ENOTFOUND",
            "could not fetch Mermaid, KaTeX, Pyodide and CodeMirror (code ENOTFOUND): connect to the network",
        ),
        ("npm error code EINTEGRITY", "does not have the hash that package-lock.json pins"),
    ],
)
def test_a_failed_fetch_is_one_sentence_and_keeps_what_was_there(
    shelf: Path, monkeypatch, says: str, sentence: str
):
    _npm(shelf, monkeypatch, says)
    (shelf / "package.json").write_text("{}")
    (shelf / "package-lock.json").write_text("{}")
    with pytest.raises(vendor.VendorError) as caught:
        vendor.vendor(shelf)
    assert sentence in str(caught.value)
    assert (shelf / vendor.FOLDER / "mermaid.min.js").is_file()


def test_without_npm_one_sentence_says_how_to_get_it(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(vendor, "npm_candidates", list)
    for name in ("package.json", "package-lock.json"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(vendor.VendorError, match="pip install --group node"):
        vendor.vendor(tmp_path)


def test_only_the_fonts_that_are_copied_are_named():
    css = 'src:url(fonts/A.woff2) format("woff2"),url(fonts/A.woff) format("woff"),url(fonts/A.ttf) format("truetype")}'
    assert vendor.only_woff2(css) == 'src:url(fonts/A.woff2) format("woff2")}'
    named = re.findall(
        r"url\(([^)]+)\)",
        (ROOT / vendor.FOLDER / "katex/katex.min.css").read_text(encoding="utf-8"),
    )
    assert named and all((ROOT / vendor.FOLDER / "katex" / name).is_file() for name in named)
