"""Adds to a build what has no file in docs/<language>: shared files, records, labs and the generated pages."""

from __future__ import annotations

import os
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files

from proof.pages import notebook
from proof.pages.generated import generated
from proof.site import assemble


def on_config(config: MkDocsConfig) -> None:
    """SITE_URL is the root of the site; English lies below it. The menu takes in the labs and decisions there are."""
    lang = config.theme["language"]
    config.extra["root"] = config.site_url
    if lang == "en":
        config.site_url += "en/"
    config.nav = assemble.menu(config.nav, config.extra["book"], lang)


@event_priority(100)  # before mkdocs-jupyter looks for notebooks
def on_files(files: Files, config: MkDocsConfig) -> None:
    root, book = Path(config.config_file_path).parent, config.extra["book"]
    for path, text in generated(book, config.theme["language"]).items():
        files.append(File.generated(config, path, content=text))
    for path in sorted((root / "docs/assets").rglob("*.*")):
        files.append(_file(config, root / "docs", path.relative_to(root / "docs").as_posix()))
    for path in sorted((root / "labs/records").rglob("*.json")):
        files.append(_file(config, root / "labs", path.relative_to(root / "labs").as_posix()))
    for stem, lab in book.labs.items():
        text = notebook.recorded_notebook(book, lab)
        _write(root / f"build/labs/{stem}.ipynb", text)
        files.append(_file(config, root / "build", f"labs/{stem}.ipynb"))  # the page
        files.append(File.generated(config, f"downloads/{stem}.ipynb", content=text))
        files.append(File.generated(config, f"downloads/{stem}.py", content=lab.path.read_bytes()))


def on_post_build(config: MkDocsConfig) -> None:
    for pattern, fix in {"bundle.*.js": assemble.own_mermaid, "workers/search.*.js": assemble.own_search}.items():
        (script,) = Path(config.site_dir, "assets/javascripts").glob(pattern)
        script.write_text(fix(script.read_text(encoding="utf-8")), encoding="utf-8")


def _file(config: MkDocsConfig, folder: Path, path: str) -> File:
    return File(path, str(folder), config.site_dir, config.use_directory_urls)


def _write(path: Path, text: str) -> None:
    """Whole or not at all, since both languages may write it at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(f".{os.getpid()}")
    scratch.write_text(text, encoding="utf-8")
    scratch.replace(path)
