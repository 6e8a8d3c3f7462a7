"""The real web, read as a crawler would."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from http.client import HTTPConnection, HTTPResponse
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest

from crawlctl.pipeline.demo.pages import ABOUT, ABOUT_AGAIN, CLOSED, MISSING, MOVED, NOINDEX
from crawlctl.pipeline.demo.web import demo_web
from crawlctl.pipeline.errors import CrawlctlError
from crawlctl.pipeline.robots.robots import Robots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.demo.web import DemoWeb

FEWEST_PAGES = 200
FEWEST_LINKS_ACROSS = 500
PATIENCE = 30.0
PARENT = """
import json, time
from crawlctl.pipeline.demo.web import demo_web
with demo_web() as web:
    print(json.dumps(web.seeds), flush=True)
    time.sleep(600)
"""


class Client:
    """Asks several hosts, over one connection each."""

    def __init__(self) -> None:
        self._connections: dict[str, HTTPConnection] = {}

    def get(self, url: str, **headers: str) -> tuple[HTTPResponse, str]:
        host = urlsplit(url).netloc
        connection = self._connections.setdefault(host, HTTPConnection(host))
        connection.request(
            "GET", url.partition(host)[2], headers={k.replace("_", "-"): v for k, v in headers.items()}
        )
        answer = connection.getresponse()
        return answer, answer.read().decode()

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()


@pytest.fixture
def client() -> Iterator[Client]:
    made = Client()
    yield made
    made.close()


def listed(client: Client, seeds: tuple[str, ...] | list[str]) -> list[str]:
    """Return the URLs of all sitemaps."""
    return [
        url for seed in seeds for url in re.findall("<loc>(.*?)</loc>", client.get(seed + "sitemap.xml")[1])
    ]


def links(url: str, page: str) -> set[str]:
    return {urldefrag(urljoin(url, link))[0] for link in re.findall(r'href="([^"]*)"', page)}


@pytest.mark.slow
def test_it_has_hundreds_of_pages_all_of_them_in_sitemaps(web: DemoWeb, client: Client) -> None:
    assert web.pages >= FEWEST_PAGES
    urls = listed(client, web.seeds)
    assert len(urls) == len(set(urls)) == web.pages
    assert all(site.pages > web.pages / 10 for site in web.sites[1:])


@pytest.mark.slow
def test_links_lead_everywhere_and_but_one_none_leads_astray(web: DemoWeb, client: Client) -> None:
    front, ours = web.seeds[0], tuple(web.seeds)
    statuses: dict[str, int] = {}
    found, across = {front}, 0
    while todo := found - set(statuses):
        for url in todo:
            answer, page = client.get(url)
            statuses[url] = answer.status
            inside = {link for link in links(url, page) if link.startswith(ours)}
            across += sum(urlsplit(link).netloc != urlsplit(url).netloc for link in inside)
            found |= inside
            assert "file:" not in "".join(links(url, page))
    special = {urljoin(front, path): status for path, status in ((MISSING, 404), (MOVED, 301), (CLOSED, 200))}
    assert statuses == {**dict.fromkeys(listed(client, web.seeds), 200), **special}
    assert across > FEWEST_LINKS_ACROSS


def test_robots_txt_closes_a_folder_asks_for_no_delay_and_names_the_sitemap(
    web: DemoWeb, client: Client
) -> None:
    for seed in web.seeds:
        robots = Robots.parse(client.get(seed + "robots.txt")[1].encode(), "crawlctl")
        assert not robots.verdict(urljoin(seed, CLOSED)).allowed
        assert robots.verdict(seed).allowed
        assert (robots.crawl_delay, robots.sitemaps) == (0, (seed + "sitemap.xml",))


def test_who_has_a_page_is_told_that_it_is_unchanged(web: DemoWeb, client: Client) -> None:
    for url in listed(client, web.seeds)[::20]:
        answer, page = client.get(url)
        assert page
        by_tag, nothing = client.get(url, If_None_Match=answer.headers["ETag"])
        by_date, _ = client.get(url, If_Modified_Since=answer.headers["Last-Modified"])
        assert (by_tag.status, nothing, by_date.status) == (304, "", 304)


def test_the_front_has_what_a_crawler_meets_everywhere(web: DemoWeb, client: Client) -> None:
    about, again, draft = (
        client.get(urljoin(web.seeds[0], path))[1] for path in (ABOUT, ABOUT_AGAIN, NOINDEX)
    )
    assert about == again
    assert '<meta name="robots" content="noindex">' in draft
    assert client.get(urljoin(web.seeds[0], MOVED))[0].headers["Location"] == "/"


@pytest.mark.integration
def test_another_process_serves_the_same_pages_and_takes_them_along_when_killed(
    web: DemoWeb, client: Client
) -> None:
    surroundings = {**os.environ, "PYTHONHASHSEED": "7", "DEMO_SECRET": "not-for-pages", "LANG": "C"}
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, env=surroundings) as parent:
        try:
            assert parent.stdout is not None
            seeds = json.loads(parent.stdout.readline())
            mine, theirs = everything(client, web.seeds), everything(client, seeds)
        finally:
            parent.kill()
    assert mine.keys() == theirs.keys()
    assert [url for url, page in theirs.items() if page != mine[url]] == []
    assert [url for url, page in theirs.items() if "not-for-pages" in page] == []
    deadline = time.monotonic() + PATIENCE
    while answers(seeds[0]):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def everything(client: Client, seeds: tuple[str, ...] | list[str]) -> dict[str, str]:
    """Return all pages by URL, with the number of the site in place of its address."""

    def neutral(text: str) -> str:
        for number, seed in enumerate(seeds):
            text = text.replace(seed, f"{number}:")
        return text

    return {neutral(url): neutral(client.get(url)[1]) for url in listed(client, seeds)}


def answers(url: str) -> bool:
    try:
        socket.create_connection((urlsplit(url).hostname, urlsplit(url).port or 80), timeout=PATIENCE).close()
    except ConnectionRefusedError:
        return False
    return True


def test_a_port_in_use_is_an_error_with_a_remedy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(CrawlctlError) as raised:
        demo_web(port=taken.getsockname()[1]).__enter__()
    assert "Address already in use; choose other ports with --port" in str(raised.value)
