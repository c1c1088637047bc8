"""The site as readers see it, in Chromium: both languages, both palettes, a phone, paper, no network, no scripts."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from sites import ROOT, Site, Visitor, equip

from proof.book.lab import sections_of
from proof.book.model import LANGS, Book, Lang
from proof.book.translation import shown
from proof.problem import Problem
from proof.site import vendor

pytestmark = pytest.mark.browser
HEADS = {"zh": "", "en": "en/"}
LESSON = "lessons/vector_add/"
FACTS = """() => {
  const texts = svg => [...svg.querySelectorAll('.nodeLabel, text, span.edgeLabel')].filter(e => e.textContent.trim())
  const diagrams = [...document.querySelectorAll('.diagram')].map(box => {
    const svg = box.querySelector('div.mermaid')?.shadowRoot?.querySelector('svg')
    return {drawn: !!svg, error: !!svg?.querySelector('.error-icon, .error-text'), height: svg?.getBoundingClientRect().height ?? 0,
            words: svg ? texts(svg).length : 0}
  })
  const raw = [...document.querySelectorAll('.arithmatex')].filter(e => !e.querySelector('.katex') || e.querySelector('.katex-error'))
  return {diagrams, raw: raw.map(e => e.textContent), wide: document.documentElement.scrollWidth - document.documentElement.clientWidth}
}"""


@dataclass
class Seen:
    """What one visit to every page found."""

    facts: dict[str, dict]
    phone: dict[str, dict]
    complaints: list[str]
    foreign: list[str]


@pytest.fixture(scope="session")
def seen(browser, built: Site) -> Seen:
    """Every page of both languages, visited once, first at desktop width, then at a phone's, with every other host blocked."""
    visitor = Visitor(browser, built)
    facts, phone = {}, {}
    for path in built.pages:
        page = visitor.go(path)
        visitor.settled()
        facts[path] = page.evaluate(FACTS)
        page.set_viewport_size({"width": 390, "height": 844})
        phone[path] = page.evaluate(FACTS)
        page.set_viewport_size({"width": 1280, "height": 900})
    visitor.context.close()
    return Seen(facts, phone, visitor.complaints, visitor.foreign)


def test_C070_no_page_asks_another_host_or_complains(seen: Seen):
    assert (seen.foreign, seen.complaints) == ([], [])


INTRUDER = """() => new Promise(done => {
  document.addEventListener('securitypolicyviolation', event => done(event.effectiveDirective))
  const script = document.createElement('script')
  %s
  document.body.append(script)
  setTimeout(() => done(window.intruded ? 'ran' : 'nothing happened'), 2000)
})"""


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
@pytest.mark.parametrize(
    "code", ["script.textContent = 'window.intruded = true'", "script.src = 'data:,intruded=true'"]
)
def test_a_script_that_is_not_the_sites_does_not_run(browser, built: Site, head, code):
    visitor = Visitor(browser, built)
    assert visitor.go(head).evaluate(INTRUDER % code) == "script-src-elem"
    visitor.context.close()


def test_C070_C071_every_diagram_is_drawn(seen: Seen):
    diagrams = [(path, each) for path, facts in seen.facts.items() for each in facts["diagrams"]]
    assert {path for path, _ in diagrams} >= {LESSON, f"en/{LESSON}"}
    for path, each in diagrams:
        assert each["drawn"] and not each["error"] and each["height"] > 40 and each["words"] > 1, (
            path
        )


def test_C074_every_formula_is_drawn(seen: Seen):
    assert {path: facts["raw"] for path, facts in seen.facts.items() if facts["raw"]} == {}


def test_no_page_is_wider_than_the_window_or_a_phone(seen: Seen):
    assert {path: facts["wide"] for path, facts in seen.facts.items() if facts["wide"] > 0} == {}
    assert {path: facts["wide"] for path, facts in seen.phone.items() if facts["wide"] > 0} == {}


COLOURS = """() => {
  const grounds = element => {
    const found = []
    for (let e = element; e; e = e.parentElement) found.push(getComputedStyle(e).backgroundColor)
    return found
  }
  const found = {}
  for (const css of ['p', 'h1', 'a.term', 'a.claim', 'a.claim small', '.state', 'td', 'code', '.highlight span', '.md-nav__link', 'small', '.md-button'])
    for (const e of document.querySelectorAll('.md-content ' + css + ', .md-sidebar ' + css))
      if (e.textContent.trim() && e.offsetParent) {
        const key = css === 'h1' ? 'large' : css + ' ' + e.className
        found[key] = [getComputedStyle(e).color, grounds(e)]
      }
  return found
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["", LESSON, "en/labs/triton_vector_add/"])
def test_text_stands_out_in_both_palettes(visit, built: Site, scheme: str, path: str):
    page = visit(built, color_scheme=scheme).go(path)
    assert (
        page.locator("body").get_attribute("data-md-color-scheme")
        == {"light": "default", "dark": "slate"}[scheme]
    )
    found = {
        what: _contrast(*_flat(colour, grounds))
        for what, (colour, grounds) in page.evaluate(COLOURS).items()
    }
    assert len(found) > 4
    assert {
        what: ratio for what, ratio in found.items() if ratio < (3 if what == "large" else 4.5)
    } == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_C071_words_in_diagrams_stand_out_in_both_palettes(visit, built: Site, scheme: str):
    visitor = visit(built, color_scheme=scheme)
    page = visitor.go(LESSON)
    visitor.settled()
    pairs = page.evaluate("""() => [...document.querySelectorAll('div.mermaid')].flatMap(host => {
      const ground = getComputedStyle(document.body).backgroundColor
      return [...host.shadowRoot.querySelectorAll('.node')].map(node => {
        const label = node.querySelector('.nodeLabel, text'), shape = node.querySelector('rect, polygon, circle, path')
        return [getComputedStyle(label).color, getComputedStyle(shape).fill, ground]
      })
    })""")
    assert pairs
    for text, fill, ground in pairs:
        assert _contrast(text, _over(fill, ground)) >= 4.5, (text, fill)


def _numbers(colour: str) -> list[float]:
    return [float(x) for x in re.findall(r"[\d.]+", colour)]


def _over(colour: str, ground: str) -> str:
    """A colour that lets light through, laid over another."""
    (*top, alpha), below = [*_numbers(colour), 1.0][:4], _numbers(ground)
    return "rgb({}, {}, {})".format(
        *(t * alpha + b * (1 - alpha) for t, b in zip(top, below, strict=False))
    )


def _flat(colour: str, grounds: list[str]) -> tuple[str, str]:
    """What is seen of a text's colour and of its ground, which lies in layers, the nearest first."""
    ground = "rgb(255, 255, 255)"
    for layer in reversed(grounds):
        ground = _over(layer, ground)
    return _over(colour, ground), ground


def _contrast(a: str, b: str) -> float:
    def light(colour: str) -> float:
        parts = [x / 255 for x in _numbers(colour)[:3]]
        r, g, b = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    lights = sorted((light(a), light(b)))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


# Diagrams in the sources


def fences(page) -> list[tuple[int, str]]:
    """Line and text of each Mermaid fence of a page."""
    found = re.finditer(r"^([ \t]*)```mermaid\n(.*?)^\1```", page.text, re.M | re.S)
    return [(page.text.count("\n", 0, match.start()) + 1, match[2]) for match in found]


def bad_diagrams(browser, named: list[tuple[str, int, str]]) -> list[Problem]:
    """The diagrams that the vendored Mermaid cannot read; each is given with its file and line."""
    page = browser.new_page()
    page.add_script_tag(path=str(ROOT / vendor.FOLDER / "mermaid.min.js"))
    parse = "text => mermaid.parse(text).then(() => '', error => String(error.message ?? error))"
    found = []
    for file, line, text in named:
        if said := " ".join(page.evaluate(parse, text).split()):
            found.append(
                Problem(
                    file,
                    line,
                    f"Mermaid cannot read it: {said}",
                    "Put the label between double quotes",
                )
            )
    page.close()
    return found


def test_C071_mermaid_reads_every_diagram_of_the_sources(browser, book: Book):
    named = [
        (str(page.path.relative_to(ROOT)), *fence) for page in book.pages for fence in fences(page)
    ]
    assert {file.split("/")[1] for file, _, _ in named} == set(LANGS)
    assert [str(problem) for problem in bad_diagrams(browser, named)] == []


@pytest.mark.parametrize("label", ["网格[0]", "形状(128, 64)", "a: b [c]", "x@{y}"])
def test_C071_a_bad_label_is_named_by_page_and_line(browser, tiny, label: str):
    file = tiny.page["zh"]
    line = len(tiny.read(file).splitlines()) + 2
    tiny.write(file, tiny.read(file) + f"\n```mermaid\nflowchart LR\n  A[{label}] --> B\n```\n")
    named = [(file, *fence) for page in tiny.book().pages for fence in fences(page)]
    assert [str(problem).split(": ")[0] for problem in bad_diagrams(browser, named)] == [
        f"{file}:{line}"
    ]


# Search


ASK = """async () => {
  const worker = new Worker(new URL(JSON.parse(document.querySelector('#__config').textContent).search, location.href))
  const index = await (await fetch('search/search_index.json')).json()
  const hear = () => new Promise(resolve => worker.onmessage = message => resolve(message.data))
  worker.postMessage({type: 0, data: {...index, options: {suggest: false}}})
  await hear()
  window.ask = async query => {
    worker.postMessage({type: 2, data: query})
    return (await hear()).data.items.map(group => group[0].location.replace(/#.*/, ''))
  }
}"""


@pytest.fixture(params=LANGS)
def asked(request, visit, built: Site):
    """A language and a function: what the theme's own search worker finds there for a query, best page first."""
    page = visit(built).go(HEADS[request.param])
    page.evaluate(ASK)
    return request.param, lambda query: page.evaluate("query => ask(query)", query)


QUERIES = {
    "zh": "归约|规约|访存|合并访存|softmax|Softmax|GPU kernel|softmax 归约|归约，访存|掩码|tl.load|kernels",
    "en": "reduction|reductions|coalesced|coalescing|softmax|kernels|masks|tl.load|accumulator",
}


def test_C016_C068_every_query_finds_pages_of_this_language_each_once(asked, built: Site):
    lang, find = asked
    found = {query: find(query) for query in QUERIES[lang].split("|")}
    assert [query for query, pages in found.items() if not pages] == []
    for pages in found.values():
        assert len(pages) == len(set(pages))
        assert all((built.out / HEADS[lang] / page / "index.html").is_file() for page in pages)


def test_C016_a_term_finds_the_glossary_and_a_title_its_page_among_the_first_three(
    asked, book: Book
):
    lang, find = asked
    text = book.terms["reduction"].zh if lang == "zh" else book.terms["reduction"].en
    for name in (text.preferred, *text.alt):
        assert "glossary/" in find(name)[:3], name
    source = next(
        page.text
        for page in book.pages
        if (page.lang, page.name) == (lang, "lessons/vector_add.md")
    )
    title = re.search(r"^# (.+?) *\{", source, re.M)[1]
    for query in (title, title.replace("：", " "), title.replace(" ", "，")):
        assert LESSON in find(query)[:3], query


def test_C001_C068_every_lab_is_found_by_its_name(asked, book: Book):
    _, find = asked
    for stem in book.labs:
        assert f"labs/{stem}/" in find(stem)[:3], stem


def test_nothing_is_found_for_a_word_that_is_nowhere(asked):
    assert asked[1]("zzqqxx") == []


def test_a_reader_types_sees_results_and_goes_there(visit, built: Site):
    page = visit(built).go(LESSON)
    page.locator(".md-search__input").click()
    page.locator(".md-search__input").fill("归约")
    page.keyboard.press("End")  # the theme listens for keys
    page.locator(".md-search-result__link").first.click()
    page.wait_for_url(re.compile(r"\?h="))


# The other language


def arrived(page, url: str) -> None:
    """Until the page at `url` is shown, however one got there."""
    page.wait_for_function(
        "url => document.querySelector('link[rel=canonical]')?.href === url", arg=url
    )


def test_C065_the_switch_keeps_page_and_section_also_after_instant_navigation(visit, built: Site):
    page = visit(built).go(LESSON)
    heading = page.locator("article h2[id]").nth(2)
    name = heading.get_attribute("id")
    page.goto(f"{built.url}{LESSON}#{name}")
    page.locator("a.language").click()
    page.wait_for_url(f"{built.url}en/{LESSON}#{name}")
    page.locator("a.language").click()
    page.wait_for_url(f"{built.url}{LESSON}#{name}")
    page.evaluate("window.mark = 1")
    page.locator(".md-nav--primary a", has_text="术语表").click()
    arrived(page, f"{built.url}glossary/")
    assert page.evaluate("window.mark") == 1, "instant navigation must not load the page anew"
    page.locator("a.language").click()
    page.wait_for_url(f"{built.url}en/glossary/")
    page.go_back()
    page.wait_for_url(f"{built.url}glossary/")


@pytest.mark.parametrize("path", ["", "labs/triton_vector_add/", "adr/", "status/"])
def test_C065_there_and_back_again(visit, built: Site, path: str):
    page = visit(built).go(path)
    page.locator("a.language").click()
    page.wait_for_url(f"{built.url}en/{path}")
    assert page.locator("html").get_attribute("lang") == "en"
    page.locator("a.language").click()
    page.wait_for_url(f"{built.url}{path}")
    assert page.locator("html").get_attribute("lang") == "zh"


@pytest.mark.parametrize("path", ["no/such/page/", "en/no/such/page/"])
def test_C015_C065_from_a_missing_page_both_homes_can_be_reached(visit, built: Site, path: str):
    visitor = visit(built)
    page = visitor.go(path)
    assert page.locator("article [lang=zh] a").evaluate("a => a.href") == built.url
    page.locator("article [lang=en] a").click()
    page.wait_for_url(f"{built.url}en/")
    assert page.locator("html").get_attribute("lang") == "en"
    visitor.go(path).locator("a.language").click()
    page.wait_for_url(re.compile(rf"{re.escape(built.url)}(en/)?$"))
    visitor.complaints.clear()  # Chromium reports the missing address itself


# Terms


@pytest.mark.parametrize("lang", LANGS)
def test_a_term_shows_its_tip_on_hover_and_to_the_keyboard(visit, built: Site, lang: str):
    page = visit(built).go(HEADS[lang] + LESSON)
    terms = page.locator("article a.term")
    assert terms.count() >= 5
    tip = page.locator(f"#{terms.first.get_attribute('aria-describedby')}")
    assert tip.get_attribute("role") == "tooltip" and not tip.is_visible()
    terms.first.hover()
    assert tip.is_visible()
    page.mouse.move(0, 0)
    assert not tip.is_visible()
    terms.first.focus()
    assert tip.is_visible()
    page.keyboard.press("Tab")
    assert not tip.is_visible()
    page.keyboard.press("Shift+Tab")
    assert tip.is_visible()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/glossary/#"))


@pytest.mark.parametrize("width", [390, 1280])
def test_no_tip_leaves_the_window(visit, built: Site, width: int):
    page = visit(built, viewport={"width": width, "height": 900}).go(LESSON)
    for term in page.locator(
        "article .term-wrap:visible"
    ).all():  # not those in answers that are folded
        term.locator("a.term").focus()
        box = term.locator(".term-tip").bounding_box()
        assert box and box["x"] >= 0 and box["x"] + box["width"] <= width
    assert (
        page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        <= 0
    )


# Scripts, paper, disk


@pytest.mark.parametrize("lang", LANGS)
def test_C073_readable_without_scripts(visit, built: Site, lang: str):
    visitor = visit(built, java_script_enabled=False)
    page = visitor.go(HEADS[lang] + LESSON)
    assert page.locator("article pre.mermaid code").first.is_visible()
    assert page.locator("article .highlight code").first.is_visible()
    details = page.locator("article details").last
    details.locator("summary").first.click()
    assert details.locator("p").first.is_visible()
    page.locator("article a.term").first.hover()
    assert page.locator("article .term-tip").first.is_visible()
    page.locator("a.language").click()
    assert page.url == f"{built.url}{'en/' if lang == 'zh' else ''}{LESSON}"


def test_C073_answers_open_once_a_click_after_every_way_to_the_page(visit, built: Site):
    page = visit(built).go("")
    for _ in range(3):
        page.locator(f".md-nav--primary a[href$='{LESSON}']").first.evaluate("a => a.click()")
        arrived(page, built.url + LESSON)
        details = page.locator("article details").last
        details.wait_for()
        toggles = "d => { d.seen = []; d.addEventListener('toggle', () => d.seen.push(d.open)) }"
        details.evaluate(toggles)
        details.locator("summary").first.click()
        page.evaluate(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        assert details.evaluate("d => d.seen") == [True]
        page.locator(".md-nav--primary a", has_text="首页").first.evaluate("a => a.click()")
        arrived(page, built.url)


def test_on_paper_there_is_the_text_and_nothing_to_click(visit, built: Site):
    page = visit(built).go(LESSON)
    page.emulate_media(media="print")
    for gone in (
        ".md-header",
        ".md-sidebar--primary",
        ".md-footer",
        ".term-tip",
        ".md-code__nav",
        ".headerlink",
    ):
        assert not any(each.is_visible() for each in page.locator(gone).all()), gone
    assert page.locator("article .highlight code").first.is_visible()
    assert (
        page.locator("article .highlight code").first.evaluate(
            "c => getComputedStyle(c).whiteSpace"
        )
        == "pre-wrap"
    )


@pytest.mark.parametrize("lang", LANGS)
def test_C075_from_disk_the_text_is_readable_and_a_page_says_what_is_not(
    visit, built: Site, lang: str
):
    visitor = visit(built)
    page = visitor.page
    page.goto(f"{(built.out / HEADS[lang] / LESSON / 'index.html').as_uri()}")
    assert page.locator("article h1").is_visible()
    assert page.locator("article .highlight code").first.is_visible()
    assert page.evaluate("getComputedStyle(document.querySelector('.md-grid')).maxWidth") != "none"
    visitor.complaints.clear()  # a browser tells of what it does not load from disk
    assert "make serve" in (ROOT / f"docs/{lang}/running.md").read_text(encoding="utf-8")


# Code


def sections(book: Book, lang: Lang) -> dict[str, str]:
    """The sections of all labs as pages of that language quote them: in Chinese, with Chinese comments."""
    return {
        f"{stem}:{name}": text
        for stem, lab in book.labs.items()
        for name, (_, text) in sections_of(shown(book, lab, lang)).items()
    }


@pytest.mark.parametrize("lang", LANGS)
def test_C076_the_button_copies_a_section_as_it_lies_in_the_lab(
    visit, built: Site, book: Book, lang: str
):
    visitor = visit(built)
    visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visitor.go(HEADS[lang] + LESSON)
    text = next(p.text for p in book.pages if (p.lang, p.name) == (lang, "lessons/vector_add.md"))
    quoted = re.findall(r'--8<-- "labs/(\w+)\.py:(\w+)"', text)
    assert quoted
    page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
    copied = []
    for block in page.locator("article .highlight:not(.output)").all():
        block.scroll_into_view_if_needed()
        block.hover()
        block.locator("button[data-md-type=copy]").click()
        copied.append(page.evaluate("navigator.clipboard.readText()"))
    for stem, name in quoted:
        wanted = sections(book, lang)[f"{stem}:{name}"].strip("\n")
        assert wanted in copied, f"{stem}:{name}"
        compile(wanted, stem, "exec")


def test_C076_output_has_no_button(visit, built: Site, book: Book):
    page = visit(built).go("labs/triton_vector_add/")
    page.locator("button[data-md-type=copy]").first.wait_for(state="attached")
    assert page.locator(".output").count() >= 1
    buttons = page.locator(".output button[data-md-type=copy]")
    assert not any(button.is_visible() for button in buttons.all())


# A planted page


PLANTED = {
    "zh": """# 植入 { #planted }

行内公式\\(x^2\\)夹在汉字之间。一度电 $5，两度 $6。

## 标题里的 \\(\\alpha\\) 公式 { #formula }

| 公式 | 说明 |
| --- | --- |
| \\(\\sum_i x_i\\) | 表格里 |

$$
y = \\frac{1}{N}
$$

```text
+--------+   ┌────────┐
| block  |-->│ a → b  │
+--------+   └────────┘
```
""",
    "en": """# Planted { #planted }

Inline \\(x^2\\) in text. A price of $5, two for $6.

## A formula \\(\\alpha\\) in a heading { #formula }

| Formula | What |
| --- | --- |
| \\(\\sum_i x_i\\) | in a table |

$$
y = \\frac{1}{N}
$$

```text
+--------+   ┌────────┐
| block  |-->│ a → b  │
+--------+   └────────┘
```
""",
}


_PLANTED: list[Site] = []  # built by the first test that asks


@pytest.fixture
def planted(served, tiny) -> Site:
    """A tiny site with one page of formulas and frames."""
    if not _PLANTED:
        equip(tiny, zh="  - 植入: planted.md\n", en="  - Planted: planted.md\n")
        for lang, text in PLANTED.items():
            tiny.write(f"docs/{lang}/planted.md", text)
        tiny.sync()
        _PLANTED.append(served(tiny.root, "planted"))
    assert _PLANTED[0].problems == []
    return _PLANTED[0]


@pytest.mark.parametrize("lang", LANGS)
def test_C074_formulas_are_drawn_after_instant_navigation_and_prices_left_alone(
    visit, planted: Site, lang: str
):
    visitor = visit(planted)
    page = visitor.go(HEADS[lang])
    page.evaluate("window.mark = 1")
    page.locator(".md-nav--primary a", has_text={"zh": "植入", "en": "Planted"}[lang]).click()
    page.locator("#planted").wait_for()
    visitor.settled()
    assert page.evaluate("window.mark") == 1
    assert page.locator(".katex-error").count() == 0
    assert page.locator("article .katex").count() == 4
    assert (
        page.locator("article h2 .katex").count() == page.locator("article td .katex").count() == 1
    )
    price = {"zh": "一度电 $5，两度 $6。", "en": "A price of $5, two for $6."}[lang]
    assert price in page.locator("article").inner_text()


@pytest.mark.parametrize("lang", LANGS)
def test_ascii_frames_close(visit, planted: Site, lang: str):
    """Every line of the frames is as wide as the others, whatever it is drawn with."""
    page = visit(planted).go(f"{HEADS[lang]}planted/")
    widths = page.locator("article .highlight code").last.evaluate("""code => code.textContent.trimEnd().split('\\n').map(line => {
      const span = document.createElement('span')
      span.textContent = line
      code.append(span)
      const {width} = span.getBoundingClientRect()
      span.remove()
      return Math.round(width)
    })""")
    assert len(widths) == 3 and max(widths) - min(widths) <= 1, widths
