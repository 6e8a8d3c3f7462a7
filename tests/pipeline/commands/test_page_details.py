"""What pages state about themselves, and rules for sites: from a site to what the commands show."""

from __future__ import annotations

from email.utils import formatdate
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.store.local.store import LocalSource
from crawlctl.tests.pipeline.commands.live_site import SETTINGS, LiveCrawl
from crawlctl.tests.pipeline.fetch.site import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.tests.pipeline.commands.conftest import Shell

pytestmark = pytest.mark.slow

MAY = 1_714_521_600  # 2024-05-01
JUNE = "Mon, 06 Jun 2022 10:00:00 GMT"
STORY = """<meta name=description content="A \x1b[31mred\x1b[0m story">
<meta property="og:image" content="/i.png"><script type="application/ld+json">
{"@type": "Article", "datePublished": "2024-05-01", "offers": {"price": "7,50"}}</script>"""
TEXT = "<nav>menu <a href=/linked>on</a></nav><main><h2>Heading</h2>page of apples <b class=ad>buy</b></main>"
RULES = (
    "{content: main, remove: .ad, title: h2, "
    "fields: {price: {json_ld: offers.price, kind: number}, day: {json_ld: datePublished, kind: date}}}"
)
SITEMAP = """<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>{0}listed</loc><lastmod>2023-02-03</lastmod></url><url><loc>{0}plain</loc></url></urlset>"""

FEED = """<rss version="2.0"><channel><item><link>{0}news</link>
<pubDate>Thu, 02 Feb 2023 00:00:00 GMT</pubDate></item></channel></rss>"""


@pytest.fixture
def live(shell: Shell) -> Iterator[LiveCrawl]:
    with serving(1) as (site,):
        site.page("/story", head=STORY, text=TEXT, ETag='"one"')
        site.page("/plain", text="page of pears", Last_Modified=JUNE)
        site.page("/made", text="page made when it is asked for", Last_Modified=formatdate(usegmt=True))
        site.page("/listed", text="page of the sitemap", Last_Modified=JUNE)
        site.page("/linked", text="page that the menu of a story links to")
        site.page("/news", text="page of the feed", Last_Modified=JUNE)
        lists = "".join(f"Sitemap: {site.url(path)}\n" for path in ("/sitemap.xml", "/feed.xml"))
        site.text("/robots.txt", f"User-agent: *\n{lists}")
        site.text("/feed.xml", FEED.format(site.url()), kind="application/rss+xml")
        site.text("/sitemap.xml", SITEMAP.format(site.url()), kind="application/xml")
        Path("crawl.yaml").write_text(SETTINGS)
        shell("run", site.url("/story"), site.url("/plain"), site.url("/made"), "--until-empty")
        yield LiveCrawl(shell, site)


def remarks(live: LiveCrawl) -> dict[str, str]:
    """Return the line below the URL of each result, by path."""
    lines = live("query", "page").splitlines()
    prefix = f"   {live.site.url('/')}"
    return {
        line.removeprefix(prefix): after.strip() for line, after in pairwise(lines) if line.startswith(prefix)
    }


def test_a_date_is_shown_with_its_kind_and_origin(live: LiveCrawl) -> None:
    found = remarks(live)
    assert found["story"] == "published 2024-05-01 (JSON-LD)"
    assert found["plain"] == "modified 2022-06-06 (Last-Modified)"
    assert found["listed"] == "modified 2023-02-03 (sitemap or feed)"
    assert found["news"] == "published 2023-02-02 (feed)"
    assert found["made"].startswith("visited 20") and found["linked"].startswith("visited 20")
    told = {page["url"]: page for page in live.json("query", "page")["pages"]}
    plain, story = told[live.site.url("/plain")], told[live.site.url("/story")]
    assert (plain["last_modified"], plain["details"]["modified"]) == (
        1_654_509_600,
        {"date": 1_654_509_600, "origin": "last-modified"},
    )
    stated = {
        "description": "A \x1b[31mred\x1b[0m story",
        "image": live.site.url("/i.png"),
        "published": {"date": MAY, "origin": "json-ld"},
    }
    assert {name: story["details"][name] for name in stated} == stated


@pytest.mark.parametrize(
    ("form", "file"),
    [(form, ".warc.gz") for form in ("--markdown", "--raw", "--headers")] + [("--json", "/docs/data")],
)
def test_a_page_is_shown_in_each_form_by_one_ranged_read(
    live: LiveCrawl, monkeypatch: pytest.MonkeyPatch, form: str, file: str
) -> None:
    asked: list[str] = []
    read = LocalSource.read

    def counted(source: LocalSource, start: int, length: int) -> bytes:
        asked.append(source.name)
        return read(source, start, length)

    monkeypatch.setattr(LocalSource, "read", counted)
    assert "page of pears" in live("show", form, live.site.url("/plain")) or form == "--headers"
    (own,) = [name for name in asked if name.endswith((".warc.gz", "/docs/data"))]
    assert own.endswith(file)


def test_the_latest_pages_are_those_with_the_latest_dates_shown(live: LiveCrawl) -> None:
    urls = live("query", "page", "--sort", "date", "--urls").splitlines()
    assert [url.rpartition("/")[2] for url in urls[2:]] == ["story", "listed", "news", "plain"]


def test_what_a_page_states_is_printable_everywhere(live: LiveCrawl) -> None:
    url = live.site.url("/story")
    assert "description: A  [31mred [0m story\n" in live("show", url)
    for arguments in (
        ("show", url),
        ("show", "--json", url),
        ("explain", url),
        ("dump", "docs"),
        ("dump", "terms"),
        ("dump", "dictionary"),
        ("query", "page"),
    ):
        assert all(one.isprintable() or one in "\n\t" for one in live(*arguments))
    assert "\\u000" not in live("dump", "terms", "--json"), "the language of a term is in words"
    assert "published 2024-05-01 (JSON-LD)" in live("show", url)
    assert live.json("explain", url)["document"]["details"]["published"] == {"date": MAY, "origin": "json-ld"}
    dumped = [line for line in live("dump", "docs", "--json").splitlines() if '"json-ld"' in line]
    assert len(dumped) == 1 and f'"published":{{"seconds":{MAY},"origin":"json-ld"}}' in dumped[0]


def test_rules_for_a_site_apply_when_pages_are_read_again(live: LiveCrawl) -> None:
    url, host = live.site.url("/story"), live.site.host
    said = live("config", "set", f"sites={{'{host}': {RULES}}}")
    assert said.endswith(f"run: crawlctl refresh --whole {host}\n")
    assert "the page was not read by these rules so far" in live("explain", url)
    live("refresh", url)
    live("run")
    assert document(live, url)["title"] == "/story", "a 304 brings no page to read"
    live("refresh", "--whole", host)
    live("run")
    told = document(live, url)
    assert (told["title"], told["text"], told["headings"]) == (
        "Heading",
        "Heading\npage of apples",
        ["Heading"],
    )
    assert told["details"]["fields"] == {"price": [7.5], "day": ["2024-05-01"]}
    assert "day: 2024-05-01\nprice: 7.5\n" in live("show", url)
    assert live.json("query", "in:day=2024-05-01")["total"] == 1
    assert live.found("menu", "story") == {"/linked"}, "its links still count"
    assert "site rules    " in live("explain", url) and "not read" not in live("explain", url)
    report = live.json("explain", live.site.url("/plain"))["site_rules"]
    assert report["is_applied"] and set(report["unmatched"]) == {
        "content",
        "remove",
        "title",
        "fields.price",
        "fields.day",
    }
    assert document(live, live.site.url("/plain"))["text"] == "page of pears"
    live("config", "set", "sites={}")
    assert "day: 2024-05-01\nprice: 7.5\n" in live("show", url), "also after its rule is gone"


def test_a_rule_that_cannot_be_used_changes_nothing(live: LiveCrawl) -> None:
    host = live.site.host
    said = live("config", "set", f"sites={{'{host}': {{content: 'main >'}}}}", code=2)
    assert f"sites: {host}: content: 'main >' cannot be used" in said
    assert live.json("config")["sites"] == {"value": {}, "source": "default"}
    said = live("config", "set", "sites={a.org: {contents: main}}", code=2)
    assert "sites: 'contents' is none of content, remove, title or fields" in said
    said = live("config", "set", "sites={a.org: {fields: {price: {select: b}}}}", code=2)
    assert "sites: 'select' is none of css, attribute, meta, json_ld or kind" in said
    said = live("config", "set", "sites={a.org: main}", code=2)
    assert (
        "sites must be hosts or beginnings of URLs with the rules content, remove, title and fields" in said
    )


def document(live: LiveCrawl, url: str) -> Any:
    return live.json("show", url)
