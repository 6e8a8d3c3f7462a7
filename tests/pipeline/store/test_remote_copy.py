"""A crawl that is carried from disk to S3 or HDFS and back has the same bytes, and is the same in between.

Only the compound file is added on the way: queries of a remote store begin with it.
"""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.crawl.copying import copy_crawl
from crawlctl.pipeline.state.kinds import COMPOUND
from crawlctl.pipeline.state.manifest import FileEntry
from crawlctl.pipeline.state.snapshots import commit, load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.store.open import open_store
from crawlctl.tests.pipeline.copies.answers import answers_of
from crawlctl.tests.pipeline.copies.holdings import holdings
from crawlctl.tests.pipeline.copies.made_crawl import make_crawl, work_on

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.store.base import Store

BUCKET = "crawlctl-test"
ARCHIVE_BYTES = 20 << 20  # goes up in several parts


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> LocalStore:
    store = LocalStore(tmp_path_factory.mktemp("made") / "crawl")
    snapshot = make_crawl(store, 4)
    with store.write("pages/00002/00000004-large.warc.gz") as sink:
        sink.write(os.urandom(ARCHIVE_BYTES))
    entry = FileEntry("pages", 2, sink.name, sink.bytes, 1, sink.checksum)
    commit(store, snapshot, files=(*snapshot.files, entry), round_number=snapshot.round)
    return store


@pytest.fixture(params=["versitygw", pytest.param("hdfs", marks=pytest.mark.hadoop)])
def remote(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where a copy may go, as the user would write it."""
    if request.param == "hdfs":
        return str(request.getfixturevalue("hdfs_uri"))
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", request.getfixturevalue("versitygw_endpoint"))
    return f"s3://{BUCKET}/{uuid.uuid4().hex}"


def files_of(store: Store) -> dict[str, bytes]:
    files = load_current(store).files
    return {entry.name: store.read(entry.name) for entry in files if entry.kind != COMPOUND}


@pytest.mark.integration
@pytest.mark.timeout(400)
def test_there_and_back_again_every_byte_is_the_same(crawl: LocalStore, remote: str, tmp_path: Path) -> None:
    there, back = open_store(remote), LocalStore(tmp_path / "back")
    copied = copy_crawl(work_on(crawl), there)
    assert copied.copied == len(load_current(crawl).files)
    assert copy_crawl(work_on(crawl), there).copied == 0
    copy_crawl(work_on(there), back)
    assert files_of(back) == files_of(there) == files_of(crawl)
    made, carried = load_current(crawl), load_current(there)
    assert [entry for entry in carried.files if entry.kind != COMPOUND] == list(made.files)
    assert load_current(back).files == carried.files
    assert len(carried.files_of(COMPOUND)) == 1
    assert (carried.number, carried.round, carried.writer) == (made.number, made.round, made.writer)


@pytest.mark.integration
@pytest.mark.timeout(400)
def test_on_the_way_it_can_get_other_partitions(crawl: LocalStore, remote: str, tmp_path: Path) -> None:
    there, back = open_store(remote), LocalStore(tmp_path / "back")
    copy_crawl(work_on(crawl), there, partitions=3)
    assert answers_of(there) == answers_of(crawl)
    copy_crawl(work_on(there), back, partitions=4)
    assert holdings(back) == holdings(crawl)
