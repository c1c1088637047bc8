"""proof/site/csp.py: what a page of the site may run."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from proof.site import csp as policy

PAGE = '<!doctype html><html><head>\n<meta charset="utf-8"><title>t</title>{}</head><body></body></html>'


def allowed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_an_inline_script_is_allowed_by_its_text():
    assert policy.hashes(PAGE.format("<script>let a = 1</script>")) == {allowed("let a = 1")}


def test_an_inline_module_is_a_script_too():
    assert policy.hashes(PAGE.format('<script type="module">go()</script>')) == {allowed("go()")}


def test_what_runs_nothing_inline_needs_nothing():
    page = PAGE.format(
        '<script src="a.js"></script><script id="__config" type="application/json">{}</script>'
    )
    assert policy.hashes(page) == set()


def test_every_page_gets_the_scripts_of_all_since_pages_are_swapped_in_place():
    whole = policy.policy(
        [PAGE.format("<script>one</script>"), PAGE.format("<script>two</script>")]
    )
    assert allowed("one") in whole and allowed("two") in whole


def test_no_host_and_no_inline_script_at_large_is_allowed():
    directives = dict(part.split(" ", 1) for part in policy.policy([PAGE.format("")]).split("; "))
    assert directives["default-src"] == "'none'"
    assert directives["script-src"] == "'self'"
    assert {name for name, value in directives.items() if "unsafe" in value} == {"style-src"}
    assert not any("http" in value or "*" in value for value in directives.values())


def test_the_policy_stands_first_in_the_head_of_every_page(tmp_path: Path):
    (tmp_path / "en").mkdir()
    for name in ("index.html", "en/index.html"):
        (tmp_path / name).write_text(PAGE.format("<script>one</script>"), encoding="utf-8")
    whole = policy.protect(tmp_path)
    for name in ("index.html", "en/index.html"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert (
            text.index("Content-Security-Policy") < text.index("<title>")
            and f'content="{whole}"' in text
        )


def test_headers_forbid_frames_and_allow_webassembly_in_the_playgrounds_worker_alone(
    tmp_path: Path,
):
    whole = policy.protect(tmp_path)
    headers = (tmp_path / "_headers").read_text(encoding="utf-8")
    assert "/*\n  Content-Security-Policy: frame-ancestors 'none'\n" in headers
    rules = [rule for rule in headers.split("\n/") if "wasm" in rule]
    assert rules == [
        "assets/playground/worker.js\n  Content-Security-Policy: default-src 'none'; "
        "script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'"
    ]
    assert "wasm" not in whole


def test_files_with_a_hash_or_a_version_in_their_address_are_kept(tmp_path: Path):
    policy.protect(tmp_path)
    headers = (tmp_path / "_headers").read_text(encoding="utf-8")
    for place in ("play", "pyodide"):
        assert f"/assets/{place}/*\n  Cache-Control: public, max-age=31536000, immutable" in headers
