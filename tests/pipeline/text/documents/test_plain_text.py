from __future__ import annotations

from crawlctl.pipeline.config.settings import ParseSettings
from crawlctl.pipeline.config.units import Characters
from crawlctl.pipeline.text.documents.plain_text import parse_text


def test_the_first_line_is_the_title_and_white_space_is_squeezed() -> None:
    page = parse_text("\r\n  The   title \r\n\n a\tb \n", ParseSettings())
    assert (page.title, page.text, page.truncated) == ("The title", "The title\na b", False)


def test_no_more_than_allowed_is_kept() -> None:
    page = parse_text("abcdef", ParseSettings(max_text=Characters(4), max_title=2))
    assert (page.title, page.text, page.truncated) == ("ab", "abcd", True)


def test_nothing_is_something_too() -> None:
    assert parse_text("", ParseSettings()).text == ""
