from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.errors import ConfigError, CorruptFile, NotACrawl, StoreError, StoreUnavailable
from crawlctl.pipeline.state import layout
from crawlctl.pipeline.state.garbage import collect
from crawlctl.pipeline.state.layout import data_name
from crawlctl.pipeline.state.leases.lease import Lease, hold_lease
from crawlctl.pipeline.state.leases.lease_records import REMEMBERED
from crawlctl.pipeline.state.manifest import FileEntry
from crawlctl.pipeline.state.snapshots import (
    commit,
    create_crawl,
    load_current,
    load_snapshot,
    snapshot_numbers,
)
from crawlctl.pipeline.store.local.store import LocalStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path
    from typing import Any

    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

LATER = 3600.0


@pytest.fixture
def folder(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "store")


def add(store: Store, kind: str = "webdb", content: bytes = b"12345") -> FileEntry:
    name = data_name(kind, 0, 1)
    with store.write(name) as sink:
        sink.write(content)
    return FileEntry(kind, 0, name, sink.bytes, 1, sink.checksum)


def three_snapshots(store: Store) -> tuple[list[FileEntry], Snapshot]:
    """Return four files and the last of four snapshots; after the first, each names two of them."""
    files = [add(store) for _ in range(4)]
    current = create_crawl(store, 1)
    for number in range(3):
        current = commit(store, current, files=files[number : number + 2], round_number=number)
    return files, current


def later() -> float:
    return time.time() + LATER


def names(store: Store, prefix: str = "webdb/") -> set[str]:
    return {file.name for file in store.list(prefix)}


def test_what_no_kept_snapshot_names_is_deleted(store: Store) -> None:
    files, current = three_snapshots(store)
    orphan = add(store)
    collected = collect(store, keep=2, min_age=60, now=later())
    assert collected.snapshots == (1, 2)
    assert {file.name for file in collected.files} == {files[0].name, orphan.name}
    assert collected.bytes == 10
    assert names(store) == {file.name for file in files[1:]}
    assert snapshot_numbers(store) == (3, 4)
    assert load_current(store) == current
    again = collect(store, keep=2, min_age=60, now=later())
    assert (again.snapshots, again.files, again.bytes) == ((), (), 0)


def test_a_dry_run_tells_the_same_and_deletes_nothing(folder: LocalStore) -> None:
    three_snapshots(folder)
    before = names(folder, "")
    told = collect(folder, keep=1, min_age=60, now=later(), dry_run=True)
    assert names(folder, "") == before
    done = collect(folder, keep=1, min_age=60, now=later())
    assert (told.snapshots, told.files) == (done.snapshots, done.files)


def test_young_files_and_those_of_an_open_round_are_spared(folder: LocalStore) -> None:
    create_crawl(folder, 1)
    open_round, orphan = add(folder), add(folder)
    first = collect(folder, keep=1, min_age=60, now=time.time())
    assert (first.files, len(first.young)) == ((), 2)
    collected = collect(folder, keep=1, min_age=60, now=later(), also_keep=[open_round.name])
    assert [file.name for file in collected.files] == [orphan.name]
    assert names(folder) == {open_round.name}


def test_files_of_others_are_left_alone(store: Store) -> None:
    create_crawl(store, 1)
    theirs = {"README.md", "backup/old.tar", "webdb2/a", "snapshots/notes.txt", "lease/notes.txt"}
    theirs |= {"history/notes.txt", "captures/2024/x.png", "live/stream.m3u8", "rounds/00000001/x.txt"}
    theirs |= {"pages/00000/old.warc.gz", "probe/mine", "docs/00001/00000001-report.pdf"}
    for name in theirs:
        store.put(name, b"precious")
    collect(store, keep=1, min_age=0, now=later())
    assert theirs < names(store, "")


def test_every_name_that_we_make_is_collected(store: Store) -> None:
    create_crawl(store, 1)
    data = [
        layout.data_name("segments", 0, 1, suffix) for suffix in ("", "/terms/data", ".warc.gz", "/ranks")
    ]
    steps = ("fetch", "webdb-00000007", "rank-00000007-solution-0123456789abcdef")
    journal = [layout.step_name(2, step) for step in steps]
    journal += [layout.run_name(2, 0), layout.tail_report_name(2, 0, 1.7e9, has_work=True)]
    journal += [layout.goal_name(2, 3, 1), layout.spent_name(2, "ab" * 8, "fetch", 2.4, 1.8)]
    for name in [*data, *journal, layout.live_name(3, "ab" * 8), layout.probe_name()]:
        store.put(name, b"x")
    collect(store, keep=1, min_age=60, now=later())
    assert names(store, "") == {"snapshots/00000001.json"}


def test_young_files_do_not_use_up_what_one_call_may_delete(folder: LocalStore) -> None:
    create_crawl(folder, 1)
    kept = {add(folder, "captures").name for _ in range(3)}
    for _ in range(3):
        os.utime(folder.root / add(folder).name, (1000, 1000))
    deleted = [len(collect(folder, keep=1, min_age=60, now=time.time(), most=2).files) for _ in range(3)]
    assert deleted == [2, 1, 0]
    assert names(folder, "captures/") == kept


def test_old_records_of_the_lease_and_probes_go_and_the_lease_stays(folder: LocalStore) -> None:
    create_crawl(folder, 1)
    for _ in range(3):
        Lease(folder, 60, "run").acquire()
        latest = max(names(folder, "lease/"))
        (folder.root / latest).write_bytes((folder.root / latest).read_bytes().replace(b"false", b"true"))
    for name in names(folder, "lease/"):
        os.utime(folder.root / name, (1000, 1000))
    folder.put("probe/0123", b"")
    with hold_lease(folder, 60, "gc") as lease:
        after_taking = names(folder, "lease/")
        collect(folder, keep=1, min_age=60, now=later())
        lease.check()
    assert REMEMBERED > 60
    assert after_taking == {"lease/00000003.json", "lease/00000004.json"}
    assert names(folder, "probe/") == set()


def test_what_a_killed_writer_left_is_swept(folder: LocalStore) -> None:
    create_crawl(folder, 1)
    (folder.root / "snapshots" / ".tmp-0123").write_bytes(b"torn")
    told = collect(folder, keep=1, min_age=60, now=later(), dry_run=True)
    collected = collect(folder, keep=1, min_age=60, now=later())
    assert [file.name for file in collected.leftovers] == ["snapshots/.tmp-0123"]
    assert told.leftovers == collected.leftovers
    assert collected.bytes == 4
    assert not (folder.root / "snapshots" / ".tmp-0123").exists()


def test_an_upload_never_completed_is_aborted(
    new_s3_store: Callable[..., Any], request: pytest.FixtureRequest
) -> None:
    store = new_s3_store()
    create_crawl(store, 1)
    name = data_name("pages", 0, 1)
    store.client().create_multipart_upload(**store.address(name))
    store.client().create_multipart_upload(**{**store.address(name), "Key": "elsewhere/pages/0/x"})
    if "versitygw" in request.node.name:  # with moto every upload was begun in 2010
        assert collect(store, keep=1, min_age=60, now=time.time()).leftovers == ()
    collected = collect(store, keep=1, min_age=60, now=later())
    assert [file.name for file in collected.leftovers] == [name]
    assert collect(store, keep=1, min_age=60, now=later()).leftovers == ()
    (others,) = store.client().list_multipart_uploads(Bucket="crawlctl-test", Prefix="elsewhere/")["Uploads"]
    store.client().abort_multipart_upload(
        Bucket="crawlctl-test", Key=others["Key"], UploadId=others["UploadId"]
    )


def test_a_crash_between_the_two_deletions_leaves_a_working_crawl(
    folder: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, _ = three_snapshots(folder)
    delete = LocalStore._delete

    def crash_at_data(self: LocalStore, deleted: Iterable[str]) -> None:
        deleted = list(deleted)
        delete(self, deleted[:1])
        if deleted and deleted[0].startswith("webdb/"):
            raise StoreUnavailable("power cut")
        delete(self, deleted[1:])

    with monkeypatch.context() as patch:
        patch.setattr(LocalStore, "_delete", crash_at_data)
        with pytest.raises(StoreUnavailable):
            collect(folder, keep=1, min_age=60, now=later())
    assert snapshot_numbers(folder) == (4,)
    assert {file.name for file in load_current(folder).files} <= names(folder)
    collect(folder, keep=1, min_age=60, now=later())
    assert names(folder) == {file.name for file in files[2:]}


def test_a_commit_during_the_collection_keeps_its_files(
    folder: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = create_crawl(folder, 1)
    fresh = add(folder)
    listed = LocalStore._list

    def commit_after_listing(self: LocalStore, prefix: str) -> Iterable[Any]:
        yield from listed(self, prefix)
        if prefix == "webdb/":
            commit(self, first, files=[fresh], round_number=1)

    monkeypatch.setattr(LocalStore, "_list", commit_after_listing)
    assert collect(folder, keep=1, min_age=60, now=later()).files == ()
    monkeypatch.undo()
    assert folder.size(load_current(folder).files[0].name) == 5


def test_a_snapshot_that_cannot_be_read_stops_everything(folder: LocalStore) -> None:
    three_snapshots(folder)
    before = names(folder)
    folder.put("snapshots/00000005.json", b"{}")
    with pytest.raises(CorruptFile):
        collect(folder, keep=1, min_age=60, now=later())
    folder.delete(["snapshots/00000005.json"])
    folder.put("snapshots/00000005.json", b'{"version": 99}')
    with pytest.raises(StoreError, match="upgrade"):
        collect(folder, keep=1, min_age=60, now=later())
    assert names(folder) == before
    assert load_snapshot(folder, 1).number == 1


def test_a_store_without_a_crawl_is_not_cleaned(folder: LocalStore) -> None:
    add(folder)
    with pytest.raises(NotACrawl, match="check --store"):
        collect(folder, keep=1, min_age=0, now=later())
    assert len(names(folder)) == 1


def test_the_current_snapshot_cannot_be_given_up(folder: LocalStore) -> None:
    create_crawl(folder, 1)
    with pytest.raises(ConfigError, match="give 1 or more"):
        collect(folder, keep=0, min_age=0, now=later())


def test_an_older_snapshot_that_is_damaged_goes_and_does_not_stop_the_others(folder: LocalStore) -> None:
    three_snapshots(folder)
    folder.delete(["snapshots/00000003.json"])
    folder.put("snapshots/00000003.json", b"{}")
    done = collect(folder, keep=3, min_age=60, now=later())
    assert 3 in done.snapshots
    assert 3 not in snapshot_numbers(folder) and load_current(folder).number == 4
