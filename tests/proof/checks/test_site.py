"""Faults planted in a small built site: each is found, with its file, and the whole site has none."""

import pytest

from proof.checks.rules import check_site

BASE = "https://example.org/course/"


def page(lang: str, path: str, body: str = "", head: str = "") -> str:
    """One page of the site; `path` is the address below the language's root, such as "a/"."""
    own = "en/" if lang == "en" else ""
    up = "../" * (path.count("/") + own.count("/"))
    return f"""<!doctype html>
<html lang="{lang}">
<head>
<link rel="canonical" href="{BASE}{own}{path}">
<link rel="alternate translation" hreflang="zh" href="{BASE}{path}">
<link rel="alternate translation" hreflang="en" href="{BASE}en/{path}">
<link rel="stylesheet" href="{up}assets/site.css">
{head}
</head>
<body>
<h1 id="top">一</h1>
<p><a href="{up}a/#top">甲</a> <a href="#top">上</a> <a href="https://elsewhere.org/x">远</a></p>
{body}
</body>
</html>
"""


NOT_FOUND = f"""<!doctype html>
<html lang="zh"><head><link rel="stylesheet" href="/course/assets/site.css"></head><body>
<p>这个页面不存在。<a href="/course/">中文首页</a></p>
<p lang="en">This page does not exist. <a href="{BASE}en/">English home</a></p>
</body></html>
"""


class Site:
    def __init__(self, root):
        self.root = root
        for lang, own in (("zh", ""), ("en", "en/")):
            self.write(f"{own}index.html", page(lang, ""))
            self.write(f"{own}a/index.html", page(lang, "a/"))
        self.write("404.html", NOT_FOUND)
        self.write(
            "assets/site.css",
            "p { background: url(dot.png) } @font-face { src: url('font.woff2') }",
        )
        self.write("assets/dot.png", "")
        self.write("assets/font.woff2", "")

    def write(self, file, text):
        (self.root / file).parent.mkdir(parents=True, exist_ok=True)
        (self.root / file).write_text(text, encoding="utf-8")

    def body(self, body, head="", file="a/index.html"):
        """The Chinese page a/ with that in its body."""
        self.write(file, page("zh", "a/", body, head))

    def found(self):
        return [f"{problem.file}: {problem.what}" for problem in check_site(self.root)]


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path / "site")


def test_the_whole_site_has_no_fault(site):
    assert site.found() == []


def test_a_folder_without_a_site_is_said(tmp_path):
    (problem,) = check_site(tmp_path)
    assert problem.what == "there is no index.html in the site"


# Links


def test_C063_a_link_to_a_missing_page_is_found(site):
    site.body('<a href="../b/">b</a>')
    assert site.found() == ["site/a/index.html: ../b/ leads to b/index.html, which does not exist"]


def test_C063_a_wrong_anchor_is_found_on_this_page_and_on_another(site):
    site.body('<a href="#gone">x</a> <a href="../#%E4%B8%80">y</a>')
    assert site.found() == [
        "site/a/index.html: #gone: a/index.html has no id 'gone'",
        "site/a/index.html: ../#%E4%B8%80: index.html has no id '一'",
    ]


def test_a_percent_encoded_anchor_is_decoded(site):
    site.body('<h2 id="一">一</h2><a href="#%E4%B8%80">y</a><a href="#一">z</a>')
    assert site.found() == []


def test_a_link_out_of_the_site_is_found(site):
    site.body('<a href="../../x/">x</a>')
    assert site.found() == [
        "site/a/index.html: ../../x/ leads to /x/index.html, which does not exist"
    ]


def test_an_absolute_link_counts_from_the_sub_path(site):
    site.body('<a href="/course/a/#top">right</a> <a href="/a/">wrong</a>')
    assert site.found() == ["site/a/index.html: /a/ leads to /a/index.html, which does not exist"]


def test_an_absolute_address_of_this_site_is_followed(site):
    site.body(f'<a href="{BASE}b/">b</a>')
    assert site.found() == [
        f"site/a/index.html: {BASE}b/ leads to b/index.html, which does not exist"
    ]


def test_mail_and_data_addresses_are_left_alone(site):
    site.body('<a href="mailto:a@b.c">m</a><img src="data:image/gif;base64,R0lGODdh">')
    assert site.found() == []


def test_the_line_of_a_fault_is_named(site):
    site.body('\n\n<a href="#gone">x</a>')
    (problem,) = check_site(site.root)
    lines = (site.root / "a/index.html").read_text(encoding="utf-8").split("\n")
    assert '#gone"' in lines[problem.line - 1]


# Foreign hosts


@pytest.mark.parametrize(
    "body",
    [
        '<script src="https://cdn.example/x.js"></script>',
        "<script src='//cdn.example/x.js'></script>",
        "<script src=https://cdn.example/x.js></script>",
        '<img src="https://cdn.example/x.png">',
        '<img src="../assets/dot.png" srcset="https://cdn.example/x.png 2x">',
        '<link rel="stylesheet" href="https://cdn.example/x.css">',
        '<link rel="preconnect" href="https://cdn.example">',
        '<link href="https://cdn.example/i.ico" rel="shortcut icon">',
        '<iframe src="https://cdn.example/"></iframe>',
        '<video poster="https://cdn.example/x.png"></video>',
        '<p style="background: url(https://cdn.example/x.png)">x</p>',
        "<style>@import 'https://cdn.example/x.css';</style>",
        "<style>@font-face { src: url(https://cdn.example/x.woff2) }</style>",
        '<script type="module">import x from "./y.js"; import("https://cdn.example/x.js")</script>',
        '<script>fetch("https://cdn.example/x.json")</script>',
    ],
)
def test_C070_a_foreign_load_is_found(site, body):
    site.body(body)
    (found,) = site.found()
    assert "cdn.example" in found and "is loaded from another host" in found


def test_a_link_to_another_host_is_allowed(site):
    site.body('<a href="https://cdn.example/x.js">x</a>')
    assert site.found() == []


def test_C070_a_style_sheet_that_loads_from_elsewhere_is_found(site):
    site.write(
        "assets/site.css",
        "p { background: url(https://cdn.example/x.png) }\nq { background: url(dot.png) }",
    )
    assert site.found() == [
        "site/assets/site.css: https://cdn.example/x.png is loaded from another host"
    ]


def test_C070_a_script_that_knows_a_cdn_is_found(site):
    site.write("assets/x.js", 'load("https://unpkg.com/mermaid@11/dist/mermaid.min.js")')
    assert site.found() == [
        "site/assets/x.js: the script knows https://unpkg.com/mermaid@11/dist/mermaid.min.js"
    ]


# What was left raw


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("<p>这是**重点：**后面</p>", "a stray **"),
        ('<p>{{ claim("a.b.c") }}</p>', "a macro"),
        ('<p>--8<-- "labs/a.py"</p>', "a snippet"),
        ("<p>--8&lt;-- &quot;labs/a.py&quot;</p>", "a snippet"),
        ("<pre><code>--8&lt;-- labs/a.py\n</code></pre>", "a snippet"),
        (
            '<pre><span></span><code><span class="o">--</span><span class="mi">8</span>&lt;- labs/a.py\n</code></pre>',
            "a snippet",
        ),
        ("<p>&#42;*x</p>", "a stray **"),
        ("<p>&#123;{ x }}</p>", "a macro"),
        ("<p>设 $$x$$</p>", "mathematics"),
        ("<p>设 \\(x\\)</p>", "mathematics"),
        ("<h2 id='x'>标题 { #mask }</h2>", "a heading's id"),
        ("<p>!!! note</p>", "an admonition"),
    ],
)
def test_C019_markdown_left_raw_is_found(site, body, what):
    site.body(body)
    assert {line.split(" was left raw")[0] for line in site.found()} == {
        f"site/a/index.html: {what}"
    }


@pytest.mark.parametrize(
    "body",
    [
        "<p><code>a ** b</code></p>",
        "<pre><code>x ** 2, f'{{y}}' <span>**</span></code> **</pre>",
        '<span class="arithmatex">\\(x\\)</span><div class="arithmatex">\\[y\\]</div>',
        "<script>var a = '**{{'</script>",
        "<style>a { content: '**' }</style>",
        "<!-- ** {{ -->",
        "<p>2 * 3 * 4, 2**31, 2**-24</p>",
        '<a title="a ** b" href="#top">x</a>',
    ],
)
def test_code_mathematics_scripts_and_comments_may_hold_marks(site, body):
    site.body(body)
    assert site.found() == []


def test_a_mark_after_code_is_still_seen(site):
    site.body("<pre><code>**</code></pre><script>if (a<b) { '<p>' }</script><p>**</p>")
    assert len(site.found()) == 1


# Languages


@pytest.mark.parametrize(
    ("old", "new"), [('lang="zh"', 'lang="en"'), ('<html lang="zh">', "<html>")]
)
def test_C067_a_wrong_or_missing_lang_is_found(site, old, new):
    site.write("a/index.html", page("zh", "a/").replace(old, new, 1))
    (found,) = site.found()
    assert found.startswith("site/a/index.html: the page says lang=")


def test_C067_a_page_without_its_other_half_is_found(site):
    site.write(
        "b/index.html",
        page("zh", "b/").replace(
            f'hreflang="en" href="{BASE}en/b/"', f'hreflang="en" href="{BASE}en/"'
        ),
    )
    assert site.found() == ["site/b/index.html: the page has no other half, en/b/index.html"]


def test_C065_an_alternate_that_leads_elsewhere_is_found(site):
    site.write(
        "a/index.html",
        page("zh", "a/").replace(
            f'hreflang="en" href="{BASE}en/a/"', f'hreflang="en" href="{BASE}en/"'
        ),
    )
    assert site.found() == [
        f"site/a/index.html: hreflang en leads to {BASE}en/, not to en/a/index.html"
    ]


def test_C065_a_head_without_alternates_is_found(site):
    text = page("zh", "a/")
    lines = [line for line in text.split("\n") if 'hreflang="en"' not in line]
    site.write("a/index.html", "\n".join(lines))
    assert site.found() == ["site/a/index.html: the head names no en version (hreflang)"]


# The page for wrong addresses


def test_C015_a_missing_404_page_is_found(site):
    (site.root / "404.html").unlink()
    assert site.found() == ["site/404.html: there is no 404 page"]


def test_C015_a_404_page_in_one_language_is_found(site):
    site.write(
        "404.html",
        NOT_FOUND.replace("This page does not exist. ", "").replace("English home", "英文首页"),
    )
    assert site.found() == ["site/404.html: the 404 page does not speak both languages"]


def test_C015_a_404_page_without_both_homes_is_found(site):
    site.write("404.html", NOT_FOUND.replace(f"{BASE}en/", f"{BASE}en/a/"))
    assert site.found() == ["site/404.html: the 404 page does not link to the English home page"]


def test_C015_a_relative_link_on_the_404_page_is_found(site):
    site.write("404.html", NOT_FOUND.replace("/course/assets", "assets"))
    assert site.found() == [
        "site/404.html: assets/site.css is relative on a page that has no place"
    ]
