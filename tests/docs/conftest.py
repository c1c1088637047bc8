"""The built site, and small ones to plant faults in. A test of the built site asks for `built`, one in Chromium for `visit`."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import chromium
import pytest
from sites import PREFIX, ROOT, Handler, Site, Visitor, equip

from proof.site import build as site


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Path, str], Site]]:
    """served(root, name): the site of the project at `root`, built strictly and served."""
    servers: list[http.server.ThreadingHTTPServer] = []

    def build_and_serve(root: Path, name: str) -> Site:
        out = tmp_path_factory.mktemp(name)
        server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Handler, directory=str(out))
        )
        servers.append(server)
        url = f"http://127.0.0.1:{server.server_port}{PREFIX}"
        problems = site.build(root, out=out, site_url=url)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return Site(out, url, problems)

    yield build_and_serve
    for server in servers:
        server.shutdown()


@pytest.fixture(scope="session")
def built(served) -> Site:
    """The site of the tree as it is."""
    return served(ROOT, "site")


@pytest.fixture
def plant(tiny, tmp_path: Path):
    """plant(): a tiny project with a menu, and build(): what a strict build of it says, and where it is."""
    equip(tiny)

    def build(strict: bool = True) -> Site:
        out = tmp_path / "out"
        return Site(out, "", site.build(tiny.root, strict, out, "https://example.org/course/"))

    tiny.build = build
    return tiny


def pytest_itemcollected(item: pytest.Item) -> None:
    """What shares the build or the browser runs in one worker."""
    if {"built", "planted", "browser"} & set(getattr(item, "fixturenames", ())):
        item.add_marker(pytest.mark.xdist_group("site"))


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    path = chromium.find()
    if path is None:
        pytest.fail(chromium.HOW, pytrace=False)
    flags = [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
    ]
    flags += [
        "--disable-component-update",
        "--disable-sync",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ]
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=flags)
        yield running
        running.close()


@pytest.fixture
def visit(browser):
    """visit(site, **context options): a Visitor, which must end with no complaint and no try to leave the site."""
    visitors: list[Visitor] = []

    def start(site: Site, **options) -> Visitor:
        visitors.append(Visitor(browser, site, **options))
        return visitors[-1]

    yield start
    for visitor in visitors:
        visitor.context.close()
        assert not visitor.foreign
        assert not visitor.complaints
