"""Kernels in the reader's browser: an exercise solved, failed, reset and resumed, in Chromium, in both languages."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from sites import ROOT, Site, Visitor, equip
from tiny_project import Tiny

from proof.book.exercises import starter
from proof.book.model import LANGS, Book

pytestmark = pytest.mark.browser
HEADS = {"zh": "", "en": "en/"}
NAME = "06_relu_bias"
RUN = {"zh": "运行", "en": "Run"}
CHECK = {"zh": "检查", "en": "Check"}
RESET = {"zh": "重置", "en": "Reset"}
CANCEL = {"zh": "取消", "en": "Cancel"}
SNIPPET = """\
import play
import triton
import triton.language as tl


@triton.jit
def double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    tl.store(out_ptr + i, 2 * x, mask=i < n)


x = play.tensor(range(10), name="x")
out = play.empty(10, name="out")
double_kernel[(3,)](x, out, 10, BLOCK=4)
print(out.tolist())
"""
PAGE = """# {title} {{ #kernels }}

## {title} 1 {{ #exercise }}

<div class="playground" data-exercise="{name}" markdown>

```python
{starter}```

</div>

## {title} 2 {{ #snippet }}

<div class="playground" data-snippet markdown>

```python
{snippet}```

</div>

<span data-progress="{name}"></span>

<div class="playground-progress"></div>
"""


def solution() -> str:
    return (ROOT / "labs/exercises" / NAME / "solution.py").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def starters(book: Book) -> dict[str, str]:
    """What the reader starts from, by language."""
    return {lang: starter(book.exercises[NAME], lang) for lang in LANGS}


NAV = """\
  - {kernels}: kernels.md
  - {lesson}: lessons/vector_add.md
  - {exercises}:
      - exercises/index.md
      - exercises/*
"""
LESSON = {"zh": "# 向量加法 { #vector-add }\n", "en": "# Vector addition { #vector-add }\n"}


def equip_with_kernels(tiny: Tiny, starters: dict[str, str]) -> None:
    """Give the project the evaluator, one exercise and its lesson, and the page that tests look at."""
    equip(
        tiny,
        zh=NAV.format(kernels="写 kernel", lesson="向量加法", exercises="练习"),
        en=NAV.format(kernels="Kernels", lesson="Vector addition", exercises="Exercises"),
    )
    (tiny.root / "play").symlink_to(ROOT / "play")
    (tiny.root / "labs/exercises").mkdir()
    for path in (ROOT / "labs/exercises").glob("*"):
        if path.name.startswith(NAME) or (path.suffix == ".py" and path.stem.isalpha()):
            (tiny.root / "labs/exercises" / path.name).symlink_to(path)
    (tiny.root / "labs/exercises/in_page.py").symlink_to(ROOT / "labs/exercises/in_page.py")
    for lang, title in (("zh", "写"), ("en", "Write")):
        text = PAGE.format(title=title, name=NAME, starter=starters[lang], snippet=SNIPPET)
        tiny.write(f"docs/{lang}/kernels.md", text)
        tiny.write(f"docs/{lang}/lessons/vector_add.md", LESSON[lang])
    tiny.sync()


@pytest.fixture(scope="session")
def kernels(served, starters, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A tiny site with an exercise and a snippet on one page, and the reader's progress."""
    tiny = Tiny(tmp_path_factory.mktemp("kernels"))
    equip_with_kernels(tiny, starters)
    site = served(tiny.root, "kernels-site")
    assert [str(problem) for problem in site.problems] == []
    return site


class Exercise:
    """A playground of a page, as a reader handles it."""

    def __init__(self, page, lang: str, kind: str = "exercise") -> None:
        self.page, self.lang = page, lang
        self.box = page.locator(f".playground[data-{kind}]")
        self.status = self.box.locator(".said")
        self.box.locator(".tools").wait_for()

    def press(self, names: dict[str, str]) -> None:
        self.box.get_by_role("button", name=names[self.lang], exact=True).click()

    def write(self, text: str) -> None:
        """Replace the text as a reader does who pastes an answer."""
        if not self.box.locator(".cm-content").count():
            self.press({"zh": "编辑", "en": "Edit"})
        content = self.box.locator(".cm-content")
        content.wait_for()
        content.press("Control+a")
        self.page.keyboard.insert_text(text)

    def text(self) -> str:
        return "\n".join(self.box.locator(".cm-line").all_text_contents())

    def said(self, text: str) -> None:
        """Wait for a sentence, in which code stands between backticks."""
        self.status.filter(has_text=text.replace("`", "")).wait_for()

    def idle(self) -> None:
        self.page.locator('.playground[aria-busy="false"]').first.wait_for()


@pytest.fixture
def opened(visit, kernels: Site):
    """opened(lang, kind="exercise", **context options): a playground on its page."""

    def start(lang: str, kind: str = "exercise", **options) -> Exercise:
        page = visit(kernels, **options).go(f"{HEADS[lang]}kernels/")
        return Exercise(page, lang, kind)

    return start


@pytest.mark.parametrize("lang", LANGS)
def test_an_exercise_is_solved_and_stays_solved(opened, lang: str):
    exercise = opened(lang)
    exercise.write(solution())
    exercise.press(CHECK)
    exercise.said({"zh": "全部 5 个情形都对了。", "en": "All 5 cases are correct."}[lang])
    exercise.page.reload()
    again = Exercise(exercise.page, lang)
    again.page.locator("[data-progress]").filter(
        has_text={"zh": "已完成", "en": "solved"}[lang]
    ).wait_for()
    assert "tl.maximum(x + bias, 0.0)" in again.box.locator("pre code").text_content()


def typical_mistakes() -> list[tuple[str, dict[str, str]]]:
    """Each typical wrong answer of the exercise, and what it teaches by language."""
    text = (ROOT / "labs/exercises" / NAME / "exercise.yml").read_text(encoding="utf-8")
    found = []
    for wrong in yaml.safe_load(text)["wrong"].values():
        answer = solution()
        for change in wrong["change"]:
            answer = answer.replace(change["old"], change["new"])
        found.append((answer, {lang: wrong[lang] for lang in LANGS}))
    return found


@pytest.mark.parametrize("lang", LANGS)
def test_each_typical_mistake_is_told_what_it_is(opened, lang: str):
    exercise = opened(lang)
    for answer, texts in typical_mistakes():
        exercise.write(answer)
        exercise.press(CHECK)
        exercise.said(texts[lang])
        assert exercise.status.locator("strong.incorrect").count() == 1
        assert exercise.box.locator(".cm-line.faulty, .drawing").count() > 0
    assert exercise.page.locator("[data-progress]").get_attribute("data-state") == "started"


HEAD = "import triton\nimport triton.language as tl\n\n\n"
KERNEL = (
    HEAD
    + "@triton.jit\ndef kernel(out_ptr):\n    {}\n\n\ndef relu_bias(x, bias, out, BLOCK):\n    kernel[(1,)](out)\n"
)
BAD_INPUT = {
    "syntax": ("def relu_bias(x, bias, out, BLOCK:\n", "第 1 行", "line 1"),
    "hole": (KERNEL.format("..."), "第 7 行的 `...`", "`...` in line 7"),
    "name": (
        HEAD + "def relu(x):\n    pass\n",
        "找不到函数 `relu_bias`",
        "no function `relu_bias`",
    ),
    "torch": ("import torch\n" + HEAD, "第 1 行的 `import torch`", "`import torch` in line 1"),
    "endless": (KERNEL.format("while True: pass"), "第 7 行", "line 7"),
    "recursion": (KERNEL.format("kernel(out_ptr)"), "第 7 行", "line 7"),
    "python": (HEAD + "def relu_bias(*_, **__):\n    1 / 0\n", "第 6 行", "line 6"),
}


@pytest.mark.parametrize("lang", LANGS)
def test_bad_input_is_answered_with_a_sentence_and_its_line_and_the_page_goes_on(opened, lang):
    exercise = opened(lang)
    for text, zh, en in BAD_INPUT.values():
        exercise.write(text)
        exercise.press(RUN)
        exercise.said({"zh": zh, "en": en}[lang])
    exercise.write(solution())
    exercise.press(CHECK)
    exercise.status.locator("strong.correct").wait_for()


def test_a_megabyte_of_output_is_cut(opened):
    snippet = opened("en", "snippet")
    snippet.write("for i in range(200_000):\n    print('spam', i)\n")
    snippet.press(RUN)
    snippet.box.locator(".result pre", has_text="the rest is left out").wait_for()
    assert len(snippet.box.locator(".result pre").inner_text()) < 25_000


@pytest.mark.parametrize("lang", LANGS)
def test_a_reset_brings_back_what_was_handed_out_and_can_be_undone(opened, starters, lang: str):
    exercise = opened(lang)
    exercise.write("x = 1")
    exercise.press(RESET)
    assert exercise.text().strip() == starters[lang].strip()
    exercise.press({"zh": "撤销重置", "en": "Undo reset"})
    assert exercise.text().strip() == "x = 1"


def test_copying_the_code_does_not_open_the_editor_and_pressing_the_code_does(opened):
    exercise = opened("en")
    exercise.box.locator("button[data-md-type=copy]").click()
    exercise.page.get_by_text("Copied to clipboard").wait_for()
    assert exercise.box.locator(".cm-content").count() == 0
    exercise.box.locator("pre code").click()
    exercise.box.locator(".cm-content").wait_for()


def test_what_was_written_is_there_after_a_reload(opened):
    exercise = opened("en")
    exercise.write("x = 41")
    exercise.page.reload()
    again = Exercise(exercise.page, "en")
    assert again.box.locator("pre code").inner_text() == "x = 41"
    assert again.page.locator("[data-progress]").inner_text() == "started"


def test_a_run_is_canceled_and_the_next_one_works(opened):
    exercise = opened("en")
    exercise.write(HEAD + "def relu_bias(x, bias, out, BLOCK):\n    sum(range(10**12))\n")
    exercise.press(RUN)
    exercise.press(CANCEL)
    exercise.said("Canceled.")
    exercise.write(solution())
    exercise.press(CHECK)
    exercise.said("All 5 cases are correct.")


def test_python_can_be_canceled_while_it_is_fetched(opened):
    exercise = opened("zh")
    exercise.page.route("**/pyodide.asm.wasm", lambda route: None)  # it never comes
    exercise.press(RUN)
    exercise.said("正在")
    exercise.press(CANCEL)
    exercise.said("已取消。")
    exercise.page.unroute("**/pyodide.asm.wasm")
    exercise.press(RUN)
    exercise.box.locator(".drawing").wait_for()


def test_files_that_cannot_be_had_are_named_and_the_next_run_tries_again(browser, kernels: Site):
    visitor = Visitor(browser, kernels)
    visitor.page.route("**/pyodide.asm.wasm", lambda route: route.abort())
    snippet = Exercise(visitor.go("en/kernels/"), "en", "snippet")
    snippet.press(RUN)
    snippet.said("Python stopped unexpectedly (TypeError: Failed to fetch).")
    visitor.page.unroute("**/pyodide.asm.wasm")
    snippet.press(RUN)
    snippet.box.locator(".drawing").wait_for()
    visitor.context.close()


def test_a_host_that_forbids_webassembly_to_the_worker_is_named(browser, kernels: Site):
    visitor = Visitor(browser, kernels)
    strict = {"Content-Security-Policy": "script-src 'self'"}
    visitor.page.route(
        "**/worker.js",
        lambda route: _with(route, strict),
    )
    snippet = Exercise(visitor.go("en/kernels/"), "en", "snippet")
    snippet.press(RUN)
    snippet.said("violates the following Content Security Policy directive")
    visitor.context.close()


def test_a_file_as_handed_out_names_its_hole_and_all_that_it_leaves_unwritten(opened):
    exercise = opened("en")
    exercise.press(RUN)
    exercise.said("Still to fill in: the `...` in line")
    exercise.box.locator(".drawing p", has_text="No program loaded or stored anything.").wait_for()
    assert exercise.box.locator("figure g.never").count() == 15


def test_one_steps_through_programs_with_the_keyboard(opened):
    snippet = opened("en", "snippet")
    snippet.press(RUN)
    where = snippet.box.locator(".where")
    where.filter(has_text="program (0) of grid (3)").wait_for()
    out = snippet.box.locator("figure").nth(1)
    assert out.locator("g.store").count() == 4
    slider = snippet.box.get_by_label("Step")
    slider.press("ArrowRight")
    slider.press("ArrowRight")
    where.filter(has_text="program (2) of grid (3)").wait_for()
    assert (out.locator("g.store").count(), out.locator("g.done").count()) == (2, 8)
    assert snippet.box.locator(".cm-line.lit").count() == 2
    load = snippet.box.get_by_role("button", name="line 9: load x · 2 of 4 lanes, 2 masked off")
    load.press("Enter")
    assert out.locator("g.store").count() == 0
    assert snippet.box.locator(".cm-line.lit").count() == 1


OVERRUN = SNIPPET.replace("2 * x, mask=i < n", "2 * x")
COLLISION = SNIPPET.replace("out_ptr + i, 2", "out_ptr + i % 4, 2")
MISSING = SNIPPET.replace("[(3,)]", "[(2,)]")


LIT = [(OVERRUN, "outside", 2), (COLLISION, "meeting", 4), (MISSING, "never", 2)]


def test_what_is_out_of_bounds_collides_or_is_never_written_lights_up(opened):
    snippet = opened("zh", "snippet")
    for source, css, count in LIT:
        snippet.write(source)
        snippet.press(RUN)
        snippet.box.locator(f"figure g.{css}").nth(count - 1).wait_for()
        assert snippet.box.locator(f"figure g.{css}").count() == count
        assert snippet.box.locator(f".legend .{css}").count() == 1


def test_a_page_that_is_swapped_in_has_its_playground(visit, kernels: Site):
    page = visit(kernels).go("en/")
    page.evaluate("window.mark = 1")
    page.locator(".md-nav--primary a", has_text="Kernels").first.click()
    snippet = Exercise(page, "en", "snippet")
    assert page.evaluate("window.mark") == 1
    snippet.press(RUN)
    snippet.box.locator(".drawing").wait_for()


@pytest.mark.parametrize("lang", LANGS)
def test_everything_fits_on_a_phone(opened, lang: str):
    exercise = opened(lang, viewport={"width": 390, "height": 844})
    exercise.write(solution())
    exercise.press(CHECK)
    exercise.box.locator(".drawing").wait_for()
    page = exercise.page
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) == 0
    for button in exercise.box.locator(".tools button:visible").all():
        assert button.bounding_box()["height"] >= 24


def test_a_page_fetches_what_it_uses_and_no_more(visit, kernels: Site):
    visitor = visit(kernels)
    asked: list[str] = []
    visitor.page.on("request", lambda request: asked.append(request.url))

    def fetched(*parts: str) -> set[str]:
        return {part for part in parts if any(part in url for url in asked)}

    parts = ("playground/", "codemirror", "pyodide", "play.json")
    visitor.go("")
    visitor.page.wait_for_load_state("networkidle")
    assert fetched(*parts) == set()
    exercise = Exercise(visitor.go("kernels/"), "zh")
    visitor.page.wait_for_load_state("networkidle")
    assert fetched(*parts) == {"playground/"}
    exercise.write("x = 1")
    assert fetched(*parts) == {"playground/", "codemirror"}
    exercise.press(RUN)
    exercise.said("relu_bias")
    assert fetched(*parts) == set(parts)


EMPTY_MODULE = "WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))"


@pytest.mark.parametrize("headers", [False, True], ids=["no headers", "headers of _headers"])
def test_webassembly_runs_in_the_worker_and_not_in_the_page(browser, kernels: Site, headers: bool):
    visitor = Visitor(browser, kernels)
    if headers:
        visitor.page.route("**/*", lambda route: _with_headers(route, kernels))
    page = visitor.go("en/kernels/")
    found = page.evaluate(f"{EMPTY_MODULE}.then(() => 'compiled', error => error.name)")
    assert found == "CompileError"
    exercise = Exercise(page, "en")
    exercise.write(solution())
    exercise.press(CHECK)
    exercise.said("All 5 cases are correct.")
    assert visitor.foreign == []
    visitor.context.close()


def _with_headers(route, site: Site) -> None:
    """Answer as a host does that reads _headers: where several rules fit, their policies all hold."""
    path = "/" + route.request.url.removeprefix(site.url)
    found: dict[str, list[str]] = {}
    fits = False
    for line in site.read("_headers").splitlines():
        if not line.startswith(" "):
            fits = re.fullmatch(line.replace("*", ".*"), path) is not None
        elif fits:
            name, _, value = line.strip().partition(": ")
            found.setdefault(name, []).append(value)
    _with(route, {name: ", ".join(each) for name, each in found.items()})


def _with(route, headers: dict[str, str]) -> None:
    response = route.fetch()
    route.fulfill(response=response, headers={**response.headers, **headers})


def test_answers_are_downloaded_and_taken_in_elsewhere(opened, tmp_path: Path):
    here = opened("en")
    here.write("x = 41")
    with here.page.expect_download() as download:
        here.page.get_by_role("button", name="Download my answers").click()
    file = tmp_path / "answers.json"
    download.value.save_as(file)
    assert json.loads(file.read_text()) == {"exercises": {NAME: {"text": "x = 41"}}}
    there = opened("zh")
    there.page.locator("input[type=file]").set_input_files(file)
    there.page.get_by_text("已载入 1 题。").wait_for()
    assert there.page.locator("[data-progress]").inner_text() == "已开始"
    other = tmp_path / "other.json"
    other.write_text('{"exercises": []}')
    there.page.locator("input[type=file]").set_input_files(other)
    there.page.get_by_text("这个文件里没有答案。").wait_for()


@pytest.mark.parametrize("lang", LANGS)
def test_a_page_from_disk_says_why_it_runs_nothing(browser, kernels: Site, lang: str):
    page = browser.new_page()
    page.goto((kernels.out / HEADS[lang] / "kernels/index.html").as_uri())
    said = {"zh": "从磁盘打开的页面不能运行代码", "en": "opened from disk cannot run code"}[lang]
    page.locator(".playground .said", has_text=said).first.wait_for()
    assert page.locator(".playground .tools").count() == 0
    page.close()


def test_without_scripts_the_code_is_there_to_read(visit, kernels: Site):
    page = visit(kernels, java_script_enabled=False).go("en/kernels/")
    assert "def relu_bias_kernel" in page.locator(".playground pre code").first.inner_text()
    assert page.locator(".playground button:visible").count() == 0
