"""Reads the pages of docweb and their links from its folders, and caches them in a file."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, NamedTuple

from selectolax.lexbor import LexborHTMLParser

from crawlctl.pipeline.errors import UrlError
from crawlctl.pipeline.urls.canonical import canonical_link

if TYPE_CHECKING:
    from pathlib import Path

INDEX = "index.html"


class Page(NamedTuple):
    """A page: its URL, its title and text in lower case, and its links as (number of the page, anchor)."""

    url: str
    title: str
    text: str
    links: list[tuple[int, str]]


def load_pages(web: Path, cache: Path) -> list[Page]:
    """Return all HTML pages of a built docweb."""
    if cache.exists():
        return pickle.loads(cache.read_bytes())
    files = {}
    for path in sorted((web / "hosts").resolve().glob("*/**/*.html")):
        host, _, rest = str(path.relative_to((web / "hosts").resolve())).partition("/")
        files[f"http://{host}/{rest}"] = path
    number = {url: index for index, url in enumerate(files)}
    pages = [read_page(url, path, number) for url, path in files.items()]
    cache.write_bytes(pickle.dumps(pages))
    return pages


def read_page(url: str, path: Path, number: dict[str, int]) -> Page:
    tree = LexborHTMLParser(path.read_bytes().decode("utf-8", "replace"))
    links: dict[int, str] = {}
    for node in tree.css("a[href]"):
        try:
            target = canonical_link(url, node.attributes.get("href") or "")
        except UrlError:
            continue
        found = number.get(target, number.get(f"{target}{INDEX}" if target.endswith("/") else ""))
        if found is not None and found != number[url]:
            links.setdefault(found, node.text(strip=True)[:100].lower())
    title = tree.css_first("title")
    body = tree.body.text(separator=" ") if tree.body else ""
    return Page(
        url, title.text(strip=True).lower() if title else "", body.lower()[:20_000], list(links.items())
    )


def seeds(pages: list[Page], seed_file: Path | None) -> list[int]:
    """Return the pages that a crawl begins with: those of a seed file, else the shortest URL of each host."""
    number = {page.url: index for index, page in enumerate(pages)}
    if seed_file:
        urls = [line.split()[-1] for line in seed_file.read_text().splitlines() if line.strip()]
        return sorted({number[url] for url in urls if url in number})
    first: dict[str, int] = {}
    for index, page in enumerate(pages):
        host = page.url.split("/")[2]
        if host not in first or len(page.url) < len(pages[first[host]].url):
            first[host] = index
    return sorted(first.values())
