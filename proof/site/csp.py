"""The content security policy of the site: what its pages may load and run.

It is put in after the build, since an inline script is allowed by the hash of its text as it then stands. All pages get
the same policy: the theme swaps pages without a reload, and the first one's policy holds for all that follow.

A worker does not inherit the policy of its page: its own response's headers decide. So pages, which forbid WebAssembly,
carry theirs in their text, and _headers has one for the playground's worker, which allows it.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

INLINE = re.compile(r"<script(?P<attributes>[^>]*)>(?P<text>.*?)</script>", re.S | re.I)
DATA = re.compile(r"""\bsrc\s*=|\btype\s*=\s*["']?(?!module|text/javascript)[\w./+-]+""", re.I)
HEAD = re.compile(r"<head\b[^>]*>\s*(?:<meta charset[^>]*>)?", re.I)


def hashes(page: str) -> set[str]:
    """What allows each inline script of the page; scripts with a src and blocks of data need nothing."""
    texts = (
        m["text"]
        for m in INLINE.finditer(page)
        if m["text"].strip() and not DATA.search(m["attributes"])
    )
    return {
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for text in texts
    }


def policy(pages: Iterable[str]) -> str:
    """The policy under which all these pages work and nothing else does.

    Styles may be inline: Mermaid and KaTeX write them into what they draw, and a style runs nothing.
    """
    allowed = " ".join(sorted(set().union(*map(hashes, pages))))
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src 'self' {allowed}".rstrip(),
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data:",
            "font-src 'self'",
            "connect-src 'self'",
            "worker-src 'self'",
            "manifest-src 'self'",
            "base-uri 'self'",
            "form-action 'self'",
        ]
    )


WORKER = "; ".join(
    ["default-src 'none'", "script-src 'self' 'wasm-unsafe-eval'", "connect-src 'self'"]
)
FOREVER = "Cache-Control: public, max-age=31536000, immutable"
HEADERS = {  # for hosts that send what _headers says; where two rules meet, both hold
    # A header can say two things that a page cannot: no frame, no guessing of types.
    "/*": [
        "Content-Security-Policy: frame-ancestors 'none'",
        "X-Content-Type-Options: nosniff",
        "Referrer-Policy: strict-origin-when-cross-origin",
    ],
    "/assets/playground/worker.js": [f"Content-Security-Policy: {WORKER}"],
    "/assets/play/*": [FOREVER],
    "/assets/pyodide/*": [FOREVER],
}


def protect(out: Path) -> str:
    """Write the policy into every page below `out`, and _headers for hosts that send them. Returns the policy."""
    pages = {path: path.read_text(encoding="utf-8") for path in sorted(out.rglob("*.html"))}
    whole = policy(pages.values())
    meta = f'<meta http-equiv="Content-Security-Policy" content="{whole}">'
    for path, text in pages.items():
        path.write_text(HEAD.sub(lambda head: head[0] + meta, text, count=1), encoding="utf-8")
    rules = (
        f"{place}\n" + "".join(f"  {line}\n" for line in lines) for place, lines in HEADERS.items()
    )
    (out / "_headers").write_text("".join(rules), encoding="utf-8")
    return whole
