from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.config.settings import ParseSettings
from crawlctl.pipeline.config.units import Characters
from crawlctl.pipeline.text.documents.page import Directives, Link
from crawlctl.pipeline.text.html.html import parse_html
from crawlctl.tests.effort import examples

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.text.documents.page import Page

    Read = Callable[..., Page]

URL = "http://example.com/dir/page.html"

# What a browser shows of each piece of HTML; a line for each block.
SHOWN = [
    ("<p>deep</p><p>z</p>", "deep\nz"),
    ("<div>deep</div>z", "deep\nz"),
    ("a<br>b", "a\nb"),
    ("super<wbr>cali<b>fragi</b>listic", "supercalifragilistic"),
    ("one <b> two </b> three\n four\tfive", "one two three four five"),
    ("<td>a<td>b", "ab"),
    ("<table><tr><td>a<td>b<tr><th>c</table>", "a b\nc"),
    ("<ul><li>a<li>b</ul>c", "a\nb\nc"),
    ("<dl><dt>t<dd>d</dl>", "t\nd"),
    ("a<img src=x alt=y>b", "a b"),
    ("<select><option>a<option>b</select>", "a\nb"),
    ("x<script>var a = '<p>hidden'</script>y", "xy"),
    ("x<style>p { }</style><template>t</template>y", "xy"),
    ("x<noscript>enable scripts</noscript>y", "xy"),
    ("x<span hidden>h<b>i</b></span>y", "xy"),
    ("x<span hidden=until-found>found</span>", "xfound"),
    ("<i aria-hidden=true>x</i><b class='-hidden'hidden>h</b>y", "xy"),
    ("<i aria-hidden=true>x</i>y", "xy"),
    ("x<i style='display:none'>h</i><i hidden>i</i>y", "xy"),
    ("<p style='color:red; DISPLAY: none'>h</p>y", "y"),
    ("<p>a<!-- c --!>b", "ab"),
    ("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>", "漢kan"),
    ("<math><mi>x</mi><annotation>\\LaTeX</annotation></math>", "x"),
    ("<svg><title>tip</title><text>seen</text></svg>", "seen"),
    ("<video>no video</video>z", "z"),
    ("a&nbsp;b&amp;c&lt;d&eacute;&#x1F600;", "a b&c<dé😀"),
    ("<textarea> typed </textarea>", "typed"),
    ("<table>foster<tr><td>cell</table>", "foster\ncell"),
    ("<p>a<p>b</b><i>c</p>d", "a\nbc\nd"),
    ("<a><b>1<a><b>2", "12"),
    ("<pre>\n  a\n  b\n</pre>c", "a b\nc"),
    ("<title>t</title><body>b<title>late</title>", "b"),
    ("<plaintext><b>all", "<b>all"),
    ("a\0b", "ab"),
    ("<frameset><frame src=f></frameset>", ""),
    ("", ""),
    ("   ", ""),
]


STORY = "Words of a page that shows itself only to those who come without scripts. " * 8
APOLOGIES = [
    "You need to enable JavaScript to run this app.",
    "Пожалуйста, включите JavaScript, чтобы пользоваться этим сайтом.",
    "请启用JavaScript来运行此应用。",
    "Scripts are off.",
    "JAVASCRIPT!",
    "Scripting must be on.",
]


@pytest.mark.parametrize(
    "html",
    [
        "<body><noscript><p>{}</p></noscript>",
        "<body><div id=app>Loading …</div><script>x()</script><noscript><article>{}</article></noscript>",
        "<html><head><noscript><style>p {{}}</style></noscript></head><body><noscript>{}</noscript></body>",
        "<html><head><title>t</title><noscript><div>{}</div></noscript></head></html>",
        "<noscript>{}",
    ],
)
def test_a_page_that_is_all_in_noscript_has_its_text(read: Read, html: str) -> None:
    assert STORY.strip() in read(html.format(STORY)).text
    assert "A short one" in read(html.format("A short one")).text
    assert "A manuscript" in read(html.format("A manuscript and its description")).text


def test_a_page_with_a_text_of_its_own_is_known_by_that_alone(read: Read) -> None:
    own = "This page can be read with scripts and without them. " * 2 + "It has something to say."
    assert read(f"<p>{own}</p><noscript><p>{STORY}</p></noscript>").text == own


@pytest.mark.parametrize("apology", APOLOGIES)
def test_an_apology_is_no_text(read: Read, apology: str) -> None:
    assert read(f"<body><noscript>{apology}</noscript><div id=root></div>").text == ""


def test_a_long_text_in_noscript_is_cut_like_any_other(read: Read) -> None:
    page = parse_html(f"<noscript>{STORY}</noscript>", URL, ParseSettings(max_text=Characters(50)))
    assert (page.text, page.truncated) == (STORY[:50], True)


@pytest.mark.parametrize(("html", "text"), SHOWN)
def test_the_text_is_what_a_browser_shows(read: Read, html: str, text: str) -> None:
    assert read(html).text == text


def links(read: Read, html: str) -> list[str]:
    return [link.url.removeprefix("http://example.com/") for link in read(html).links]


@pytest.mark.parametrize(
    ("html", "urls"),
    [
        ("<a href=x>1</a><a href='/y'>2</a>", ["dir/x", "y"]),
        ("<a name=x>1</a><a>2", []),
        ('<a href="?b=1&copy=2">', ["dir/page.html?b=1&copy=2"]),
        ("<map><area href=a alt=A></map>", ["dir/a"]),
        ("<iframe src=i></iframe>", ["dir/i"]),
        ("<frameset><frame src=f></frameset>", ["dir/f"]),
        ("<svg><a xlink:href=s>t</a><a href=h>u</a></svg>", ["dir/s", "dir/h"]),
        ("<noscript><a href=n>t</a></noscript><div hidden><a href=h>t</a></div>", ["dir/n", "dir/h"]),
        ("<template><a href=t>t</a></template><script>'<a href=s>'</script>", []),
        ("<a href=a>1<a href=b>2", ["dir/a", "dir/b"]),
        ("<base href=/r/><base href=/s/><a href=x>t</a>", ["r/x"]),
        ("<a href=x>t</a><base href=/r/>", ["r/x"]),
        (
            "<link rel=next href=n><link rel=stylesheet href=s><link rel='alternate' hreflang=de href=d>",
            ["dir/n", "dir/d"],
        ),
        ("<link rel=alternate type=application/rss+xml href=feed>", []),
        ("<a href='\n x\n y '>t</a>", ["dir/x%20y"]),
        ("<a href=javascript:void(0)>1</a><a href=mailto:a@b>2</a><a href=#f>3</a>", []),
        ("<a href=x>1</a><a href=x#f>2</a><a href=page.html>3</a>", ["dir/x"]),
        ("<table><a href=x>1</a><tr><td><a href=y>2</a></table>", ["dir/x", "dir/y"]),
        ("<!-- <a href=c> --><a href=d>", ["dir/d"]),
        ("<a href=''>self</a>", []),
        ("<button><a href=x>1</a></button><p><a href=y><div>block</div></a>", ["dir/x", "dir/y"]),
    ],
)
def test_links_are_those_a_browser_follows(read: Read, html: str, urls: list[str]) -> None:
    assert links(read, html) == urls


def test_a_link_has_the_text_of_its_element_and_its_rel(read: Read) -> None:
    page = read("<p>before <a href=x rel='NoFollow  ugc'>the\n<b>text</b> <i hidden>no</i></a> after")
    assert page.links == (Link("http://example.com/dir/x", "the text", "nofollow ugc"),)
    assert page.text == "before the text after"


@pytest.mark.parametrize("inner", ["<img src=i alt='a  logo'>", "<span title='a logo'></span>"])
def test_a_link_without_text_is_named_by_its_image(read: Read, inner: str) -> None:
    assert read(f"<a href=x>{inner}</a>").links[0].text == "a logo"


def test_title_and_headings(read: Read) -> None:
    page = read(
        "<title> A &amp;\n b </title><title>2</title><h1>One <a href=#x>¶</a></h1><h2>Two<br>2</h2><h3></h3>"
    )
    assert page.title == "A & b"
    assert page.headings == ("One", "Two 2")


def test_the_sign_of_a_permalink_is_no_text(read: Read) -> None:
    page = read(
        "<h2 id=a>One<a href='#a'>¶</a></h2><p>a <a href='#b'><b>\uf0c1</b></a> b"
        " <a href=c>¶</a> <a href='#d'>#</a>"
    )
    assert page.text == "One\na b ¶ #"


def test_the_title_of_a_drawing_is_not_that_of_the_page(read: Read) -> None:
    assert read("<svg><title>s</title></svg>").title == ""
    assert read("<svg></svg><title>t</title>").title == "t"


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<html lang=de-AT>", "de"),
        ("<html xml:lang=fr>", "fr"),
        ("<html lang=''><meta http-equiv=Content-Language content=pt-br>", "pt"),
        ("<html lang=en><meta http-equiv=content-language content=pt>", "en"),
        ("<p lang=de>", ""),
    ],
)
def test_the_declared_language(read: Read, html: str, language: str) -> None:
    assert read(html).language == language


@pytest.mark.parametrize(
    ("html", "canonical"),
    [
        ("<link rel=canonical href=/c?a#f>", "http://example.com/c?a"),
        ("<link rel='nofollow CANONICAL' href=/c>", "http://example.com/c"),
        ("<body><p><link rel=canonical href=/spam>", ""),
        ("<link rel=canonical href=/a><link rel=canonical href=/b>", ""),
        ("<link rel=canonical href=/a><link rel=canonical href=/a>", "http://example.com/a"),
        ("<link rel=canonical href=ftp://x/>", ""),
    ],
)
def test_the_canonical_url_is_said_in_the_head_and_once(read: Read, html: str, canonical: str) -> None:
    assert read(html).canonical == canonical


def test_meta_robots_add_up(read: Read) -> None:
    ours = "<meta name=robots content=noindex><meta name=CrawlCtl content=nofollow>"
    page = read(ours + "<meta name=xbot content=none>")
    assert page.directives == Directives(noindex=True, nofollow=True)


@pytest.mark.parametrize(
    ("html", "target", "seconds"),
    [
        ("<meta http-equiv=refresh content='3; url=/n'>", "http://example.com/n", 3),
        (
            "<meta http-equiv=Refresh content=0;url=a><meta http-equiv=refresh content=0;url=b>",
            "http://example.com/dir/a",
            0,
        ),
        ("<noscript><meta http-equiv=refresh content='0;url=/nojs'></noscript>", "", 0),
        ("<meta http-equiv=refresh content=30>", "", 0),
        ("<meta http-equiv=refresh content='0;url=javascript:1'>", "", 0),
    ],
)
def test_meta_refresh_leads_on(read: Read, html: str, target: str, seconds: int) -> None:
    page = read(html)
    assert (page.refresh, page.refresh_seconds) == (target, seconds)


def test_three_hundred_thousand_links_are_read_and_bounded(read: Read) -> None:
    page = read("".join(f"<a href=/{number}>t</a>" for number in range(300_000)))
    assert len(page.links) == ParseSettings().max_links
    assert page.links[-1].url == "http://example.com/9999"
    assert page.truncated


def test_five_thousand_unclosed_links_are_all_found(read: Read) -> None:
    page = read("<a href=/x><b>" * 5000 + "<a href=/last>z")
    assert [link.url for link in page.links] == ["http://example.com/x", "http://example.com/last"]


def test_twenty_megabytes_in_one_line_are_cut(read: Read) -> None:
    page = read("<p>" + "word " * 4_000_000)
    assert page.text == ("word " * 4_000_000)[: ParseSettings().max_text]
    assert page.truncated


def test_nesting_is_no_limit(read: Read) -> None:
    page = read("<div>" * 4000 + "deep<a href=/x>l</a>")
    assert (page.text, len(page.links)) == ("deepl", 1)


def test_nested_headings_cost_what_is_kept_of_them(read: Read) -> None:
    page = read("<h1><div>" * 1500 + "word " * 50_000)
    assert len(page.headings) == ParseSettings().max_headings
    assert {len(heading) for heading in page.headings} == {ParseSettings().max_title - 1}


def test_everything_kept_is_bounded_by_the_settings(read: Read) -> None:
    bounds = ParseSettings(max_text=Characters(10), max_links=2, max_anchor=5, max_title=4, max_headings=1)
    html = "<title>123456</title><h1>abcdef</h1><h2>x</h2>" + "".join(
        f"<a href={n}>long text</a>" for n in range(5)
    )
    page = read(html, bounds)
    assert (page.title, page.headings, len(page.text)) == ("1234", ("abcd",), 10)
    assert [link.text for link in page.links] == ["long", "long"]
    assert page.truncated


MARKUP = st.lists(
    st.sampled_from(
        [
            "<p>",
            "</p>",
            "<a href=x>",
            "<a href='",
            "<table>",
            "<td>",
            "<svg>",
            "<title>",
            "<h1>",
            "<!--",
            "-->",
        ]
    )
    | st.sampled_from(
        [
            "<div hidden>",
            "</div>",
            "<noscript>",
            "</noscript>",
            "<script>",
            "</script>",
            "<meta content='0;",
            "<",
        ]
    )
    | st.text(max_size=5)
).map("".join)


@settings(max_examples=examples(300), deadline=None)
@given(MARKUP)
def test_whatever_is_written_is_read(html: str) -> None:
    page = parse_html(html.encode("utf-8", "replace").decode(), URL, ParseSettings())
    assert "\x1e" not in page.text
    assert "\n\n" not in page.text
    assert page.text == page.text.strip()
