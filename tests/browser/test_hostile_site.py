"""A hostile site, crawled for real, on the search page in real Chromium: it is shown, and does nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, urlencode

import pytest

from crawlctl.cli import run
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.browser.hostile_site import FIELDS, PAYLOADS, RUN, WORD, hostile_site
from crawlctl.tests.browser.visitor import Visitor
from crawlctl.tests.pipeline.serve.server_process import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from crawlctl.tests.browser.hostile_site import HostileSite

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

PER_PAGE = 10
# Reports of the policy, by the browser itself: asked for before any script of a page.
WATCH = "window.reports = []; addEventListener('securitypolicyviolation', e => reports.push(e.blockedURI))"
SETTINGS = (
    *("fetch.allowed_networks=[127.0.0.1]", "fetch.contact=test@example.org", "politeness.delay=0"),
    *("politeness.response_factor=0", "partitions=1"),
)


class Shown(NamedTuple):
    """The site, the pages of it that can be searched, and the address of the search page."""

    site: HostileSite
    found: int
    address: str


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    folder = tmp_path_factory.mktemp("hostile")
    with hostile_site() as site:
        (folder / "seeds").write_text(f"{site.origin}/\n")
        words = ["run", "--seed", str(folder / "seeds"), "--iterations", "3"]
        words += ["--store", str(folder / "crawl")]
        words += [word for setting in SETTINGS for word in ("--set", setting)]
        assert run([*words, "--runner", "inline"]) == 0
        site.ran.clear()  # the crawl itself follows links and frames
        with serving(LocalStore(folder / "crawl"), "--client-rate", "0") as server:
            total = int(server.get(f"/api/search?q={WORD}")[1].partition('"total":')[2].partition(",")[0])
            yield Shown(site, total, f"http://127.0.0.1:{server.port}")


@pytest.fixture
def visitor(browser: Browser, shown: Shown) -> Iterator[Visitor]:
    visitor = Visitor(browser, shown.address, {})
    visitor.page.add_init_script(WATCH)
    yield visitor
    visitor.leave()  # no dialog, no error of a script, no request to another origin
    assert not shown.site.ran


def look(visitor: Visitor, path: str) -> None:
    """Open a page, move over it and press a key; the policy may have had nothing to refuse."""
    visitor.go(path)
    assert visitor.page.evaluate("reports") == [], path
    assert visitor.page.evaluate("document.querySelectorAll('script').length") <= 1, path


def test_nearly_all_pages_can_be_searched(shown: Shown) -> None:
    """A page that names no charset or no URL that can be read may be left out, all others not."""
    assert shown.found >= 0.9 * len(FIELDS) * len(PAYLOADS)


def test_results_of_every_field_and_payload_are_only_texts(visitor: Visitor, shown: Shown) -> None:
    for number in range(1, -(-shown.found // PER_PAGE) + 1):
        look(visitor, f"/search?q={WORD}&page={number}")
        for link in visitor.page.locator("a[href]").all():
            assert (link.get_attribute("href") or "").startswith(("/", "http://", "https://", "#"))
    assert not visitor.page.locator("main script, main iframe, main img, main style, main form").count()


def test_what_a_visitor_asks_for_is_only_a_text(visitor: Visitor, shown: Shown) -> None:
    for payload in PAYLOADS:
        text = payload.replace("RUN", f"{shown.site.origin}{RUN}query")
        for path in ("search", "why", "cached", "similar", "rss", "api/search", "api/document"):
            asked = urlencode({"q": text, "url": text, "sort": "score", "n": "1"})
            visitor.page.goto(f"{shown.address}/{path}?{asked}")
        look(visitor, f"/{quote(text, safe='')}")
        look(visitor, f"/search?{urlencode({'q': WORD, 'sort': text})}")


def test_every_page_of_a_result_is_only_text(visitor: Visitor, shown: Shown) -> None:
    """Why it was found, its copy in a frame, its text and the pages like it."""
    for number, path in enumerate(shown.site.pages):
        look(visitor, f"/cached?{urlencode({'url': shown.site.origin + path})}")
        if number % 7 == 0:  # other payloads for each field
            look(visitor, f"/cached?{urlencode({'url': shown.site.origin + path, 'text': 1})}")
            look(visitor, f"/why?q={WORD}&n={number % shown.found + 1}")
            look(visitor, f"/similar?{urlencode({'url': shown.site.origin + path})}")


def test_suggestions_are_only_texts(visitor: Visitor) -> None:
    for beginning in ("script", "img", "javascript", "data", "alert", WORD[:3]):
        look(visitor, "/")
        visitor.box.press_sequentially(beginning)
        visitor.page.wait_for_timeout(500)
        visitor.box.press("ArrowDown")
        assert visitor.page.evaluate("reports") == []
        assert not visitor.page.locator("[role=option] *:not(span)").count()
