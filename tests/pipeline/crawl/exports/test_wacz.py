from __future__ import annotations

import io
import json
from hashlib import sha256
from typing import TYPE_CHECKING
from zipfile import ZIP_STORED, ZipFile

import pytest
from warcio.archiveiterator import ArchiveIterator

from crawlctl.pipeline.crawl.exports.exported_captures import Chosen
from crawlctl.pipeline.crawl.exports.wacz import write_wacz
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.pipeline.captures.made_captures import A, make_captured

if TYPE_CHECKING:
    from pathlib import Path


def package(folder: Path, chosen: Chosen) -> ZipFile:
    sink, store = io.BytesIO(), LocalStore(folder / "crawl")
    write_wacz(store, make_captured(store), chosen, sink, folder)
    return ZipFile(sink)


@pytest.mark.parametrize("chosen", [Chosen(), Chosen(prefix=A), Chosen(prefix=A + "g")])
def test_the_index_leads_to_the_records_of_the_chosen_pages(tmp_path: Path, chosen: Chosen) -> None:
    with package(tmp_path, chosen) as found:
        fields = [json.loads(line.split(b" ", 2)[2]) for line in found.read("indexes/index.cdx").splitlines()]
        assert fields
        for one in fields:
            info = found.getinfo(f"archive/{one['filename']}")
            assert info.compress_type == ZIP_STORED
            data = found.read(info)[int(one["offset"]) :][: int(one["length"])]
            (record,) = list(ArchiveIterator(io.BytesIO(data)))
            assert record.rec_headers.get_header("WARC-Target-URI") == one["url"]
        archives = [name for name in found.namelist() if name.startswith("archive/")]
        targets = set()
        for name in archives:
            records = list(ArchiveIterator(io.BytesIO(found.read(name)), check_digests="raise"))
            assert records[0].rec_type == "warcinfo"
            targets |= {one.rec_headers.get_header("WARC-Target-URI") for one in records[1:]}
        assert targets == {one["url"] for one in fields}
        pages = [json.loads(line) for line in found.read("pages/pages.jsonl").splitlines()]
        assert pages[0]["format"] == "json-pages-1.0"
        shown = {one["url"] for one in fields if one["status"] == "200"}
        assert {page["url"] for page in pages[1:]} == shown


def test_every_file_has_its_size_and_digest(tmp_path: Path) -> None:
    with package(tmp_path, Chosen()) as found:
        about = json.loads(found.read("datapackage.json"))
        assert about["wacz_version"] == "1.1.1"
        named = {one["path"]: (one["bytes"], one["hash"]) for one in about["resources"]}
        files = [name for name in found.namelist() if not name.startswith("datapackage")]
        assert named == {name: _hashed(found.read(name)) for name in files}
        digest = json.loads(found.read("datapackage-digest.json"))
        assert digest == {
            "path": "datapackage.json",
            "hash": _hashed(found.read("datapackage.json"))[1],
        }


def _hashed(data: bytes) -> tuple[int, str]:
    return len(data), f"sha256:{sha256(data).hexdigest()}"
