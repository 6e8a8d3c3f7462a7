from __future__ import annotations

import pytest

from crawlctl.pipeline.demo.resources import Resource

PAGE = Resource(b"page", modified=1_700_000_000)  # Tue, 14 Nov 2023 22:13:20 GMT
TAG = PAGE.etag


@pytest.mark.parametrize(
    ("tags", "since", "unchanged"),
    [
        (None, None, False),
        (TAG, None, True),
        (f'"other", W/{TAG}', None, True),
        ('"other"', None, False),
        (None, "Tue, 14 Nov 2023 22:13:20 GMT", True),
        (None, "Tue, 14 Nov 2023 22:13:19 GMT", False),
        (None, "yesterday", False),
        ('"other"', "Tue, 14 Nov 2023 22:13:20 GMT", False),  # the tag decides
    ],
)
def test_what_a_client_has_already(tags: str | None, since: str | None, unchanged: bool) -> None:
    assert PAGE.is_unchanged(tags, since) is unchanged


def test_without_a_date_there_are_no_conditions() -> None:
    page = Resource(b"page")
    assert not page.is_unchanged(page.etag, "Tue, 14 Nov 2023 22:13:20 GMT")
    assert page.headers() == {"Content-Type": "text/html; charset=utf-8"}


def test_headers_describe_the_body() -> None:
    assert PAGE.headers()["Last-Modified"] == "Tue, 14 Nov 2023 22:13:20 GMT"
    assert PAGE.headers()["ETag"] == TAG != Resource(b"another", modified=0).etag
    assert Resource(b"", location="/new").headers()["Location"] == "/new"
