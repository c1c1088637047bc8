"""Kernels in the reader's browser: an exercise solved, failed, reset and resumed, in Chromium, in both languages."""

from __future__ import annotations

import pytest
from sites import ROOT, Site, equip
from tiny_project import Tiny

from proof.book.model import LANGS
from proof.site import playground as built_playground

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


def starter(lang: str) -> str:
    return built_playground.exercise(ROOT, NAME)["starter"][lang]


@pytest.fixture(scope="session")
def kernels(served, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A tiny site with one page: an exercise, a snippet, and the reader's progress."""
    tiny = Tiny(tmp_path_factory.mktemp("kernels"))
    equip(tiny, zh="  - 写 kernel: kernels.md\n", en="  - Kernels: kernels.md\n")
    (tiny.root / "play").symlink_to(ROOT / "play")
    (tiny.root / "labs/exercises").symlink_to(ROOT / "labs/exercises")
    for lang, title in (("zh", "写"), ("en", "Write")):
        text = PAGE.format(title=title, name=NAME, starter=starter(lang), snippet=SNIPPET)
        tiny.write(f"docs/{lang}/kernels.md", text)
    tiny.sync()
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
        return "\n".join(self.box.locator(".cm-line").all_inner_texts()).replace("\xa0", " ")

    def said(self, text: str) -> None:
        self.status.filter(has_text=text).wait_for()

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
