"""The web made of a few modules; the real one is read in test_web.py."""

from __future__ import annotations

import pytest

from crawlctl.pipeline.demo.pages import SITES, build_sites, site_of
from crawlctl.pipeline.demo.render import Rendered

BASES = [f"http://127.0.0.1:{8000 + number}/" for number in range(SITES)]
NAMES = ("abc", "bisect", "email", "json", "os", "queue", "typing")
DAY = 86_400


def page_with(link: str) -> str:
    """Return what becomes of a link on the page of the module bisect."""
    rendered = {name: Rendered("", link if name == "bisect" else "", DAY) for name in NAMES}
    return build_sites(rendered, BASES)[site_of("bisect")]["/bisect.html"].body.decode()


@pytest.mark.parametrize(
    ("link", "becomes"),
    [
        ('<a href="abc.html#ABC" class="white">a</a>', '<a href="abc.html#ABC" class="white">a</a>'),
        ('<a href="os.html#-walk">w</a>', f'<a href="{BASES[3]}os.html#-walk">w</a>'),
        ('<a href="os.html"><b>o</b></a>', f'<a href="{BASES[3]}os.html"><b>o</b></a>'),
        ('<a href="_private.html#X">X</a>', "X"),
        ('<a href="file:/lib/bisect.py">/lib/bisect.py</a>', "/lib/bisect.py"),
        ('<a href=".">index</a>', '<a href=".">index</a>'),
        ('<a href="#-insort">i</a>', '<a href="#-insort">i</a>'),
        (
            '<a href="https://peps.python.org/pep-8/">PEP</a>',
            '<a href="https://peps.python.org/pep-8/">PEP</a>',
        ),
    ],
)
def test_links_lead_to_the_site_of_a_module_or_nowhere(link: str, becomes: str) -> None:
    assert page_with(link) == becomes


def test_a_site_has_its_modules_an_index_and_the_files_for_crawlers() -> None:
    rendered = {name: Rendered("A & B", "", DAY) for name in NAMES}
    first = build_sites(rendered, BASES)[1]
    assert set(first) == {"/", "/abc.html", "/bisect.html", "/robots.txt", "/sitemap.xml"}
    assert b'<a href="abc.html">abc</a> A &amp; B' in first["/"].body
    assert (
        f"<loc>{BASES[1]}abc.html</loc><lastmod>1970-01-02</lastmod>" in first["/sitemap.xml"].body.decode()
    )


@pytest.mark.parametrize(("name", "site"), [("abc", 1), ("cProfile", 1), ("os.path", 3), ("zlib", 5)])
def test_the_first_letter_decides_on_the_site(name: str, site: int) -> None:
    assert site_of(name) == site
