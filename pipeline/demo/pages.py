"""Builds the pages of the demo web: a front page on one host, and the modules on five other hosts.

It also has what a crawler meets everywhere: a redirect, a broken link, a page with noindex, a page under two
URLs, and a folder that robots.txt disallows.
"""

from __future__ import annotations

import html
from http import HTTPStatus
from typing import TYPE_CHECKING

from crawlctl.pipeline.demo.render import LINK
from crawlctl.pipeline.demo.resources import TEXT, XML, Resource
from crawlctl.pipeline.terminal.utc import utc_day

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from re import Match

    from crawlctl.pipeline.demo.render import Rendered

Site = dict[str, Resource]

FRONT = 0
# The first letters of the modules on each site; each site has about the same number of modules.
LETTERS = ("abc", "defgh", "ijklmno", "pqrs", "tuvwxyz")
SITES = 1 + len(LETTERS)

ABOUT = "/about.html"
ABOUT_AGAIN = "/about-this-web.html"  # the same page under another name
MOVED = "/index.html"
MISSING = "/gone.html"
NOINDEX = "/drafts.html"
CLOSED = "/private/notes.html"
ROBOTS = f"""User-agent: *
Disallow: {CLOSED.rpartition("/")[0]}/
Crawl-delay: 0

Sitemap: """


def build_sites(rendered: Mapping[str, Rendered], bases: Sequence[str]) -> list[Site]:
    """Return the resources of each site by path; `bases` are the root URLs of the sites."""
    by_site: list[dict[str, Rendered]] = [{} for _ in bases]
    for name, module in rendered.items():
        by_site[site_of(name)][name] = module
    sites = [_module_site(modules, rendered, bases) for modules in by_site[FRONT + 1 :]]
    front = _front_site(bases[FRONT + 1 :], max(module.modified for module in rendered.values()))
    return [_with_files(site, base) for site, base in zip([front, *sites], bases, strict=True)]


def site_of(module: str) -> int:
    """Return the number of the site a module is on."""
    return 1 + next(number for number, letters in enumerate(LETTERS) if module[0].lower() in letters)


def _module_site(
    modules: Mapping[str, Rendered], everywhere: Mapping[str, Rendered], bases: Sequence[str]
) -> Site:
    def relink(match: Match[str]) -> str:
        target, attributes, text = match.groups()
        if target not in everywhere:
            return text
        return (
            match[0]
            if target in modules
            else f'<a href="{bases[site_of(target)]}{target}{attributes}>{text}</a>'
        )

    newest = max(module.modified for module in modules.values())
    letters = sorted({name[0].lower() for name in modules})
    title = f"Python modules, {letters[0]} to {letters[-1]}"
    items = [_item(f"{name}.html", name, module.summary) for name, module in modules.items()]
    index = _page(title, f"<ul>{''.join(items)}</ul>", _link(bases[FRONT], "All modules"))
    site = {"/": Resource(index, modified=newest)}
    for name, module in modules.items():
        body = LINK.sub(relink, module.html).encode()
        site[f"/{name}.html"] = Resource(body, modified=module.modified)
    return site


def _front_site(others: Iterable[str], modified: int) -> Site:
    groups = zip(others, LETTERS, strict=True)
    items = [_item(url, f"Modules from {letters[0]} to {letters[-1]}") for url, letters in groups]
    links = {
        "About": ABOUT,
        "About, once more": ABOUT_AGAIN,
        "The old address of this page": MOVED,
        "A page that has gone": MISSING,
        "Drafts": NOINDEX,
        "Notes that are nobody's business": CLOSED,
    }
    more = " · ".join(_link(url, text) for text, url in links.items())
    home = _link("/", "The Python standard library")
    about = _page(
        "About this web", "<p>Documentation that pydoc made of this interpreter's modules.</p>", home
    )
    draft = _page(
        "Drafts", "<p>Not to be found by a search.</p>", home, '<meta name="robots" content="noindex">'
    )
    return {
        "/": Resource(
            _page("The Python standard library", f"<ul>{''.join(items)}</ul>", more), modified=modified
        ),
        ABOUT: Resource(about, modified=modified),
        ABOUT_AGAIN: Resource(about, modified=modified),
        MOVED: Resource(b"", status=HTTPStatus.MOVED_PERMANENTLY, location="/"),
        NOINDEX: Resource(draft, modified=modified),
        CLOSED: Resource(_page("Notes", "<p>Whoever reads this has not asked robots.txt.</p>", home)),
    }


def _with_files(site: Site, base: str) -> Site:
    """Return the site with its robots.txt and sitemap."""
    listed = {path: page.modified for path, page in site.items() if page.modified is not None}
    entries = (
        f"<url><loc>{base}{path[1:]}</loc><lastmod>{utc_day(modified)}</lastmod></url>\n"
        for path, modified in listed.items()
    )
    sitemap = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{"".join(entries)}</urlset>\n'
    )
    return {
        **site,
        "/robots.txt": Resource(f"{ROBOTS}{base}sitemap.xml\n".encode(), TEXT),
        "/sitemap.xml": Resource(sitemap.encode(), XML),
    }


def _page(title: str, content: str, footer: str, head: str = "") -> bytes:
    name = html.escape(title)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{name}</title>{head}</head>\n'
        f"<body><h1>{name}</h1>\n{content}\n<p>{footer}</p></body></html>\n"
    ).encode()


def _item(url: str, name: str, summary: str = "") -> str:
    return f"<li>{_link(url, name)} {html.escape(summary)}</li>\n"


def _link(url: str, text: str) -> str:
    return f'<a href="{url}">{html.escape(text)}</a>'
