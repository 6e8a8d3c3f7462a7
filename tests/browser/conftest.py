"""Real Chromium, driven by playwright, on the search page of a server process."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawlctl.tests.browser.visitor import Visitor
from crawlctl.tests.pipeline.serve.served_web import write_web
from crawlctl.tests.pipeline.serve.server_process import serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser

# Nothing but what a test asks for reaches the network. Containers give Chromium no sandbox of its own.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
AXE = Path(__file__).parent.parent.parent / ".cache" / "axe-core" / "axe.min.js"


# For one file of tests: as long as playwright runs, no other test of the process can use asyncio.run.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("Chromium is not installed (on Debian and Ubuntu: apt install chromium)")
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: make integration")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    store = write_web(tmp_path_factory.mktemp("browsed"))
    with serving(store) as server:
        yield f"http://127.0.0.1:{server.port}"


@pytest.fixture
def visit(browser: Browser, address: str) -> Iterator[Callable[..., Visitor]]:
    """A function that opens the search page; options are those of a context of playwright."""
    visitors: list[Visitor] = []

    def opened(path: str = "/", **options: object) -> Visitor:
        visitors.append(Visitor(browser, address, options))
        visitors[-1].go(path)
        return visitors[-1]

    yield opened
    for visitor in visitors:
        visitor.leave()


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core, which looks for faults that keep people out."""
    if not AXE.exists():
        pytest.skip(f"needs axe-core in {AXE.parent}: make axe")
    return AXE.read_text()
