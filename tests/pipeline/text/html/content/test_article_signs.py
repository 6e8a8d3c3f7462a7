from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser

from crawlctl.pipeline.config.settings import ParseSettings
from crawlctl.pipeline.text.html.content.article_signs import is_article_json_ld
from crawlctl.pipeline.text.html.walk import Walk

LD = "<script type=application/ld+json>{}</script>"


def _is_article(head: str) -> bool:
    root = LexborHTMLParser(f"<head>{head}</head><p>text").root
    assert root is not None
    walk = Walk(ParseSettings(), "")
    walk.over(root)
    return walk.is_article


@pytest.mark.parametrize(
    "head",
    [
        "<meta property=og:type content=article>",
        "<meta name=og:type content=' Article '>",
        "<meta property=article:published_time content=2026-11-18>",
        LD.format('{"@type": "NewsArticle"}'),
        LD.format('{"@graph": [{"@type":["BlogPosting"]}, {"@type": "Person"}]}'),
        LD.format('{"@type": "ReportageNewsArticle"}'),
    ],
)
def test_signs_of_an_article(head: str) -> None:
    assert _is_article(head)


@pytest.mark.parametrize(
    "head",
    [
        "",
        "<meta property=og:type content=website>",
        "<meta property=og:title content=article>",
        "<meta property=article:modified_time content=2026-11-18>",
        LD.format('{"@type": "Article"}'),
        LD.format('[{"@type": "NewsArticle"}, {"@type": "NewsArticle"}]'),
        '<script>{"@type": "NewsArticle"}</script>',
    ],
)
def test_no_signs_of_an_article(head: str) -> None:
    assert not _is_article(head)


def test_spaces_in_json_ld_take_no_time_that_is_quadratic() -> None:
    assert not is_article_json_ld(['"@type":' + " " * 1_000_000 + "x"])
