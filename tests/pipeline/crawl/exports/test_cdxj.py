from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

from warcio.archiveiterator import ArchiveIterator

from crawlctl.pipeline.crawl.exports.cdxj import write_cdxj
from crawlctl.pipeline.crawl.exports.exported_captures import Chosen
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.pipeline.captures.made_captures import A, B, make_captured

if TYPE_CHECKING:
    from pathlib import Path


def lines_of(store: LocalStore, folder: Path, chosen: Chosen) -> list[tuple[str, str, dict[str, str]]]:
    sink = io.BytesIO()
    write_cdxj(store, make_captured(store), chosen, sink, folder)
    lines = sink.getvalue().decode().splitlines()
    assert lines == sorted(lines)
    return [(*line.split(" ", 2)[:2], json.loads(line.split(" ", 2)[2])) for line in lines]


def test_each_line_leads_to_its_record(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "crawl")
    lines = lines_of(store, tmp_path, Chosen())
    assert [line[:2] for line in lines] == [
        ("example,a)/", "20231114221320"),
        ("example,a)/", "20231115221320"),
        ("example,a)/gone", "20231114221321"),
        ("example,a)/old", "20231115221321"),
        ("example,b:8080)/x?a=1&b=2", "20231114221322"),
        ("example,b:8080)/x?a=1&b=2", "20231115221322"),
    ]
    for _, _, fields in lines:
        record_bytes = store.read(fields["filename"], int(fields["offset"]), int(fields["length"]))
        (record,) = list(ArchiveIterator(io.BytesIO(record_bytes)))
        assert record.rec_headers.get_header("WARC-Target-URI") == fields["url"]
        assert record.http_headers.get_statuscode() == fields["status"]
        if record.rec_type == "response":
            assert record.rec_headers.get_header("WARC-Payload-Digest") == fields["digest"]


def test_a_revisit_has_the_place_of_its_original(tmp_path: Path) -> None:
    first, second = lines_of(LocalStore(tmp_path / "crawl"), tmp_path, Chosen(prefix=A))[:2]
    assert (first[1], second[1]) == ("20231114221320", "20231115221320")
    assert first[2] == second[2]
    assert (first[2]["status"], first[2]["mime"]) == ("200", "text/html")


def test_a_host_can_be_chosen(tmp_path: Path) -> None:
    lines = lines_of(LocalStore(tmp_path / "crawl"), tmp_path, Chosen(host="b.example:8080"))
    assert {line[2]["url"] for line in lines} == {B}
