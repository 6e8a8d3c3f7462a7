"""Servers that are hostile in robots.txt and in sitemaps."""

from __future__ import annotations

import gzip
from functools import lru_cache
from typing import TYPE_CHECKING

from crawlctl.tests.hostile.catalogue import ROBOTS, hostile, page
from crawlctl.tests.pipeline.http.bad_manners import whole

if TYPE_CHECKING:
    from crawlctl.tests.hostile.catalogue import Ask

SITEMAP = b"User-agent: *\nDisallow:\nSitemap: http://%s/map%d.xml\n"
LISTED = "/listed"


def text(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def redirect(target: bytes) -> bytes:
    return whole(b"", b"Location: " + target + b"\r\n", b"301 Moved Permanently")


def sitemap_of(host: str, encoding: str) -> bytes:
    url = f"http://{host}{LISTED}"
    said = f'<?xml version="1.0" encoding="{encoding}"?><urlset><url><loc>{url}</loc></url></urlset>'
    try:
        return said.encode(encoding)
    except LookupError:
        return said.encode()


def with_sitemap(ask: Ask, body: bytes) -> bytes:
    """Serve robots.txt that names a sitemap, the sitemap, and a page for everything else."""
    if ask.path == ROBOTS:
        return text(SITEMAP % (ask.host.encode(), 0))
    if ask.path.startswith("/map"):
        return whole(body)
    return page(f"mapped {ask.host} {ask.path}")


@hostile("fetched 200", has_robots=True, pages=(LISTED,))
def sitemap_in_gb2312(ask: Ask) -> bytes:
    return with_sitemap(ask, sitemap_of(ask.host, "gb2312"))


@hostile("fetched 200", has_robots=True, pages=(LISTED,))
def sitemap_in_utf_7(ask: Ask) -> bytes:
    return with_sitemap(ask, sitemap_of(ask.host, "utf-7"))


@hostile("fetched 200", has_robots=True)
def sitemap_in_a_typo(ask: Ask) -> bytes:
    return with_sitemap(ask, sitemap_of(ask.host, "utf-8mb4x"))


@hostile("fetched 200", has_robots=True)
def sitemap_of_empty_members(ask: Ask) -> bytes:
    """Name many sitemaps of hundreds of thousands of empty gzip members each."""
    if ask.path == ROBOTS:
        return text(b"".join(SITEMAP % (ask.host.encode(), number) for number in range(20)))
    return with_sitemap(ask, empty_members())


@lru_cache(maxsize=1)
def empty_members() -> bytes:
    return gzip.compress(b"", 1, mtime=0) * 200_000


@hostile("fetched 200|robots.txt: Disallow", has_robots=True)
def huge_robots(ask: Ask) -> bytes:
    if ask.path == ROBOTS:
        return text(huge_rules())
    return page("ruled " + ask.path, *(f"/ruled/{number}/" for number in range(200)))


@lru_cache(maxsize=1)
def huge_rules() -> bytes:
    """Return 500 KB of rules, 2,000 of them with stars."""
    starred = b"".join(b"Disallow: /*a%d*b*c*d*e$\n" % number for number in range(2000))
    plain = b"".join(b"Disallow: /folder/%d/\n" % number for number in range(17_000))
    return (b"User-agent: *\n" + starred + plain)[: 500 << 10]


@hostile("robots|forbidden|fetched 200", has_robots=True)
def robots_at_port_25(ask: Ask) -> bytes:
    return redirect(b"http://127.0.0.1:25/robots.txt") if ask.path == ROBOTS else page("mail")


@hostile("robots|fetched 200", has_robots=True)
def robots_in_a_file(ask: Ask) -> bytes:
    return redirect(b"file:///etc/passwd") if ask.path == ROBOTS else page("file")


@hostile("robots|fetched 200", has_robots=True)
def robots_redirected_for_ever(ask: Ask) -> bytes:
    if "robots" in ask.path:
        return redirect(b"/robots.txt?%d" % (len(ask.path) + 1) + b"9" * len(ask.path))
    return page("hops")


@hostile("fetched 200|robots", has_robots=True)
def crawl_delay_of_a_minute(ask: Ask) -> bytes:
    if ask.path == ROBOTS:
        return text(b"User-agent: *\nCrawl-delay: 60\n")
    return page("slow " + ask.path, *(f"/slow{number}" for number in range(20)))


@hostile("robots", has_robots=True)
def robots_fails(ask: Ask) -> bytes:
    return whole(b"", status=b"503 Service Unavailable") if ask.path == ROBOTS else page("hidden")
