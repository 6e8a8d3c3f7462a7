from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.config.settings import Config
from crawlctl.pipeline.formats.source import PathSource
from crawlctl.pipeline.formats.zstd_module import zstd
from crawlctl.pipeline.imports.answer_reader import (
    DAMAGED,
    OTHER,
    RECORDS,
    UNKNOWN_ENCODING,
    UNREADABLE,
    AnswerReader,
)
from crawlctl.tests.bytes_source import BytesSource
from crawlctl.tests.pipeline.imports.archives import MOMENT, answer, arc_record, page, record

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.http.exchange import Answer

ARCHIVES = Path(__file__).parents[4] / "shared" / "data" / "warc"


def read(data: bytes) -> tuple[list[Answer], dict[str, int]]:
    captures = AnswerReader(Config())
    return [answer for answer, _ in captures.answers(BytesSource(data))], dict(captures.counts)


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
    ],
    ids=["request", "revisit", "metadata", "dns", "no HTTP", "robots.txt"],
)
def test_what_is_no_page_is_left_out(one: bytes) -> None:
    assert read(one) == ([], {RECORDS: 1, OTHER: 1})


def test_what_cannot_be_read_is_left_out_but_for_its_status() -> None:
    image = answer(b"\x89PNG\r\n\x1a\n", content_type="image/png")
    assert read(record("https://a.org/i", image)) == ([], {RECORDS: 1, UNREADABLE: 1})
    (gone,), _ = read(record("https://a.org/i", answer("", status="404 No", content_type="image/png")))
    assert gone.status == 404


def test_a_body_in_an_encoding_that_we_lack_is_counted() -> None:
    one = record("https://a.org/", answer("?", "Content-Encoding: gzip, pack200-gzip"))
    assert read(one) == ([], {RECORDS: 1, UNKNOWN_ENCODING: 1})


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (record("https://a.org/", answer("x"), date="yesterday"), "a record's date is none"),
        (record("https://a.org/", answer("x"), date=""), "a record's date is before there was a web"),
        (record("https://a.org/", answer("x"), date="0001-01-01T00:00:00Z"), "a record's date is before"),
        (record("https://", answer("x")), "the URL of a record cannot be fetched"),
        (record("https://a.org/", b"HTTP/1.1 OK\r\n\r\n"), "an answer's status is no number"),
    ],
    ids=["date", "no date", "early date", "address", "status"],
)
def test_what_makes_no_sense_is_counted_with_the_reason(one: bytes, reason: str) -> None:
    found, counts = read(one)
    assert (found, counts[DAMAGED]) == ([], 1)
    assert [name for name in counts if name.startswith(f"{DAMAGED}: {reason}")]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"nonsense\r\n" * 3, "a record begins with …, not with WARC/"),
        (record("https://a.org/", answer("x"))[:-20], "the file ends within a record"),
        (
            gzip.compress(record("https://a.org/", answer("x")), mtime=0)[:-20],
            "the file ends within a gzip member",
        ),
        (b"WARC/1.0\r\nContent-Length: many\r\n\r\n", "… is no Content-Length"),
        (gzip.compress(record("https://a.org/", b"x"), mtime=0)[:10] + b"\xff" * 90, "not a gzip member…"),
    ],
)
def test_damage_is_counted_by_its_reason_without_particulars(data: bytes, reason: str) -> None:
    assert read(data)[1][f"{DAMAGED}: {reason}"] == 1


def test_reasons_are_few_however_archives_are_damaged() -> None:
    data = b"".join(f"WARC/1.0\r\nContent-Length: {word}\r\n\r\n".encode() for word in "abcdefgh")
    assert len(read(data)[1]) == 2


HTML = page("Loops").encode()
RECORDS_OF_FIVE = [record(f"https://a.org/{number}", answer(page(f"Page {number}"))) for number in range(5)]


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("compressed", [True, False])
def test_an_arc_file_is_read(version: int, compressed: bool) -> None:
    records = [
        arc_record("filedesc://a.arc", b"1 0 me\nURL IP-address\n\n", version=version),
        arc_record("dns:a.org", b"20040518\na.org. A 192.0.2.7", version=version),
        arc_record("http://a.org/x", answer(HTML), version=version),
        arc_record("http://a.org/a b", answer(HTML), version=version),
    ]
    found, counts = read(b"".join(gzip.compress(one) if compressed else one for one in records))
    assert [one.url for one in found] == ["http://a.org/x", "http://a.org/a%20b"]
    assert [one.started for one in found] == [MOMENT, MOMENT]
    assert {one.body for one in found} == {HTML}
    assert counts == {RECORDS: 4, OTHER: 2}


@pytest.mark.parametrize("damaged", [0, 1, 2])
def test_records_of_arc_around_a_damaged_one_are_read(damaged: int) -> None:
    records = [arc_record(f"http://a.org/{number}", answer(HTML)) for number in range(3)]
    records[damaged] = records[damaged].replace(b" 2024", b" x024")
    found, counts = read(b"".join(records))
    assert [one.url[-1] for one in found] == [str(number) for number in range(3) if number != damaged]
    assert counts[DAMAGED] == 1


@pytest.mark.parametrize("with_dictionary", ["none", "plain", "packed"])
def test_an_archive_packed_with_zstandard_is_read(with_dictionary: str) -> None:
    trained = zstd.train_dict([one * 3 for one in RECORDS_OF_FIVE] * 20, 4000)
    used = None if with_dictionary == "none" else trained
    frames = [zstd.compress(one, zstd_dict=used) for one in RECORDS_OF_FIVE]
    stored = {"none": b"", "plain": trained.dict_content, "packed": zstd.compress(trained.dict_content)}
    kept = stored[with_dictionary]
    start = b"\x5d\x2a\x4d\x18" + len(kept).to_bytes(4, "little") + kept if kept else b""
    assert len(read(start + b"".join(frames))[0]) == 5
    frames[2] = frames[2][:-10] + b"\xff" * 10
    found, counts = read(start + b"".join(frames))
    assert [one.url[-1] for one in found] == ["0", "1", "3", "4"]
    assert counts[DAMAGED] >= 1


@pytest.mark.parametrize("compress", [gzip.compress, zstd.compress])
def test_only_an_answer_in_a_member_of_its_own_can_be_read_alone(compress: Callable[[bytes], bytes]) -> None:
    parts = [
        compress(part) for part in (RECORDS_OF_FIVE[0], b"".join(RECORDS_OF_FIVE[1:4]), RECORDS_OF_FIVE[4])
    ]
    found = [capture for _, capture in AnswerReader(Config()).answers(BytesSource(b"".join(parts)))]
    assert [one.length for one in found] == [len(parts[0]), 0, 0, 0, len(parts[2])]


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("damaged", range(5))
def test_records_around_a_damaged_one_are_read(damaged: int, compressed: bool) -> None:
    records = [gzip.compress(one) if compressed else one for one in RECORDS_OF_FIVE]
    bad = records[damaged]
    records[damaged] = bad[:15] + b"\xff" * 40 + bad[55:] if compressed else b"NONE" + bad[4:]
    found, counts = read(b"".join(records))
    assert [one.url[-1] for one in found] == [str(number) for number in range(5) if number != damaged]
    assert counts[DAMAGED] >= 1


ARC = [
    arc_record("filedesc://a.arc", b"1 0 me\n"),
    *(arc_record(f"http://a.org/{n}", answer(HTML)) for n in range(4)),
]
TRAINED = zstd.train_dict([one * 3 for one in RECORDS_OF_FIVE] * 20, 3000).dict_content
WITH_DICTIONARY = b"\x5d\x2a\x4d\x18" + len(TRAINED).to_bytes(4, "little") + TRAINED
ALL_FORMS = {
    "WARC": b"".join(RECORDS_OF_FIVE),
    "WARC, gzip": b"".join(gzip.compress(one, mtime=0) for one in RECORDS_OF_FIVE),
    "WARC, zstd": WITH_DICTIONARY
    + b"".join(zstd.compress(one, zstd_dict=zstd.ZstdDict(TRAINED)) for one in RECORDS_OF_FIVE),
    "ARC": b"".join(ARC),
    "ARC, gzip": b"".join(gzip.compress(one, mtime=0) for one in ARC),
    "ARC, zstd": b"".join(map(zstd.compress, ARC)),
}


@pytest.mark.parametrize("form", ALL_FORMS)
@given(data=st.data())
def test_no_damage_raises(form: str, data: st.DataObject) -> None:
    whole = ALL_FORMS[form]
    start = data.draw(st.integers(0, len(whole)))
    cut = whole[: data.draw(st.integers(0, len(whole)))]
    rest = cut[start + data.draw(st.integers(0, 40)) :]
    found, _ = read(cut[:start] + data.draw(st.binary(max_size=30)) + rest)
    assert len(found) <= 5


@pytest.mark.parametrize("mark", [b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\nhttp://a/ 1 2 3 "])
def test_an_archive_of_mere_beginnings_takes_no_time(mark: bytes) -> None:
    assert read(mark * 100_000)[0] == []


@pytest.mark.skipif(not ARCHIVES.is_dir(), reason="the archives of ../shared are not here")
@pytest.mark.parametrize(("name", "pages"), [("whirlwind.warc.gz", 1), ("example.warc.gz", 139)])
def test_archives_of_other_crawlers_are_read(name: str, pages: int) -> None:
    captures = AnswerReader(Config())
    found = [answer for answer, _ in captures.answers(PathSource(ARCHIVES / name))]
    assert len(found) == pages
    assert DAMAGED not in captures.counts
