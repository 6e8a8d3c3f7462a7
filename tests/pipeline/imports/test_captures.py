from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.config.settings import Config
from crawlctl.pipeline.formats.source import BytesSource, PathSource
from crawlctl.pipeline.imports.captures import DAMAGED, OTHER, RECORDS, UNREADABLE, Captures
from crawlctl.tests.pipeline.imports.archives import MOMENT, answer, page, record

if TYPE_CHECKING:
    from crawlctl.pipeline.net.answer import Answer

ARCHIVES = Path(__file__).parents[4] / "shared" / "data" / "warc"


def read(data: bytes) -> tuple[list[Answer], dict[str, int]]:
    captures = Captures(Config())
    return list(captures.answers(BytesSource(data))), dict(captures.counts)


def test_a_response_is_what_a_fetch_would_have_got() -> None:
    body = gzip.compress(page("Loops").encode())
    block = answer(
        body, "Content-Encoding: gzip", "ETag: x", "etag: y", content_type="text/html; charset=utf-8"
    )
    (found,), counts = read(record("<http://A.org:80/x?b=1#part>", block))
    assert (found.url, found.status, found.started) == ("http://a.org/x?b=1", 200, MOMENT)
    assert found.body == page("Loops").encode()
    assert found.header("etag") == "x"
    assert found.content_type == "text/html; charset=utf-8"
    assert counts == {RECORDS: 1}


@pytest.mark.parametrize(
    ("date", "started"),
    [
        ("2024-05-18T09:30:00Z", MOMENT),
        ("2024-05-18T09:30:00.123456789Z", MOMENT),
        ("2024-05-18T09:30Z", MOMENT),
        ("2024-05-18", MOMENT - 34_200),
        ("2024", 1_704_067_200),
    ],
)
def test_dates_may_be_more_or_less_precise(date: str, started: int) -> None:
    (found,), _ = read(record("https://a.org/", answer("x"), date=date))
    assert found.started == started


def test_redirects_lead_somewhere() -> None:
    block = answer("", "Location: ../b", status="301 Moved")
    (found,), _ = read(record("https://a.org/x/y", block))
    assert (found.status, found.redirect) == (301, "https://a.org/b")


@pytest.mark.parametrize(
    "one",
    [
        record("https://a.org/", answer("x"), kind="request"),
        record("https://a.org/", answer("x"), kind="revisit"),
        record("urn:x", b"x", kind="metadata"),
        record("dns:a.org", b"a.org A 1.2.3.4", content_type="text/dns"),
        record("https://a.org/", b"<html>no head", content_type="text/html"),
        record("https://a.org/robots.txt", answer("User-agent: *", content_type="text/plain")),
        record("https://a.org/", answer("?", "Content-Encoding: br")),
    ],
    ids=["request", "revisit", "metadata", "dns", "no HTTP", "robots.txt", "brotli"],
)
def test_what_is_no_page_is_left_out(one: bytes) -> None:
    assert read(one) == ([], {RECORDS: 1, OTHER: 1})


def test_what_cannot_be_read_is_left_out_but_for_its_status() -> None:
    image = answer(b"\x89PNG\r\n\x1a\n", content_type="image/png")
    assert read(record("https://a.org/i", image)) == ([], {RECORDS: 1, UNREADABLE: 1})
    (gone,), _ = read(record("https://a.org/i", answer("", status="404 No", content_type="image/png")))
    assert gone.status == 404


@pytest.mark.parametrize(
    "one",
    [
        record("https://a.org/", answer("x"), date="yesterday"),
        record("https://a.org/", answer("x"), date=""),
        record("https://a.org/", answer("x"), date="0001-01-01T00:00:00Z"),
        record("https://", answer("x")),
        record("https://a.org/", b"HTTP/1.1 OK\r\n\r\n"),
    ],
    ids=["date", "no date", "early date", "address", "status"],
)
def test_what_makes_no_sense_is_counted(one: bytes) -> None:
    assert read(one) == ([], {RECORDS: 1, DAMAGED: 1})


RECORDS_OF_FIVE = [record(f"https://a.org/{number}", answer(page(f"Page {number}"))) for number in range(5)]


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("damaged", range(5))
def test_records_around_a_damaged_one_are_read(damaged: int, compressed: bool) -> None:
    records = [gzip.compress(one) if compressed else one for one in RECORDS_OF_FIVE]
    bad = records[damaged]
    records[damaged] = bad[:15] + b"\xff" * 40 + bad[55:] if compressed else b"NONE" + bad[4:]
    found, counts = read(b"".join(records))
    assert [one.url[-1] for one in found] == [str(number) for number in range(5) if number != damaged]
    assert counts[DAMAGED] >= 1


@given(st.data())
def test_no_damage_raises(data: st.DataObject) -> None:
    whole = b"".join(gzip.compress(one) for one in RECORDS_OF_FIVE)
    start = data.draw(st.integers(0, len(whole)))
    cut = whole[: data.draw(st.integers(0, len(whole)))]
    found, _ = read(cut[:start] + data.draw(st.binary(max_size=30)) + cut[start:])
    assert len(found) <= 5


@pytest.mark.skipif(not ARCHIVES.is_dir(), reason="the archives of ../shared are not here")
@pytest.mark.parametrize(("name", "pages"), [("whirlwind.warc.gz", 1), ("example.warc.gz", 139)])
def test_archives_of_other_crawlers_are_read(name: str, pages: int) -> None:
    captures = Captures(Config())
    found = list(captures.answers(PathSource(ARCHIVES / name)))
    assert len(found) == pages
    assert DAMAGED not in captures.counts
