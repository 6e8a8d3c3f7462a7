from __future__ import annotations

import msgspec

from crawlctl.pipeline.text.details.shown_details import date_remarks, known_dates, latest_date, shown_details
from crawlctl.pipeline.text.documents.page import PageDate, PageDetails

MAY = 1_714_521_600
DETAILS = PageDetails(
    description="d",
    published=PageDate(MAY, "json-ld"),
    modified=PageDate(MAY + 86_400, "sitemap or feed"),
    fields=(("a", 1), ("b", "x"), ("a", 2)),
)


def test_dates_say_their_kind_and_origin() -> None:
    shown = shown_details(DETAILS, 0, MAY + 10**6)
    assert date_remarks(shown.published, shown.modified) == [
        "published 2024-05-01 (JSON-LD)",
        "modified 2024-05-02 (sitemap or feed)",
    ]
    assert date_remarks(None, None) == []
    assert latest_date(DETAILS, MAY + 999_999, MAY + 10**6) == MAY + 86_400


def test_documents_of_older_crawls_have_their_last_modified_header() -> None:
    assert known_dates(PageDetails(), MAY, MAY + 10**6) == (None, PageDate(MAY, "last-modified"))
    assert known_dates(PageDetails(), MAY, MAY + 10) == (None, None), "the clock of the server"
    assert latest_date(PageDetails(), MAY, MAY + 10) == 0


def test_json_has_every_field() -> None:
    assert msgspec.to_builtins(shown_details(DETAILS, 0, 0)) == {
        "description": "d",
        "site_name": "",
        "image": "",
        "type": "",
        "published": {"date": MAY, "origin": "json-ld"},
        "modified": {"date": MAY + 86_400, "origin": "sitemap or feed"},
        "fields": {"a": [1, 2], "b": ["x"]},
        "repeated": 0,
    }
    assert msgspec.to_builtins(shown_details(PageDetails(kind="pdf"), 0, 0)) == {
        **dict.fromkeys(("description", "site_name", "image"), ""),
        **{"published": None, "modified": None, "fields": {}, "repeated": 0, "type": "pdf"},
    }
