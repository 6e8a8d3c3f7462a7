"""What is particular to HDFS, on a real one."""

from __future__ import annotations

import hashlib
import os
import pickle
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.errors import MissingFile, StoreUnavailable
from crawlctl.pipeline.state.snapshots import create_crawl, load_snapshot, snapshot_numbers
from crawlctl.pipeline.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.tests.pipeline.store.conftest import Racer

pytestmark = [pytest.mark.integration, pytest.mark.hadoop, pytest.mark.timeout(300)]

RACER = Path(__file__).parents[1] / "racer.py"
KILLS = 5
on_hdfs = pytest.mark.parametrize("store", ["hdfs"], indirect=True)


@pytest.fixture
def hdfs(hdfs_uri: str) -> Any:
    return open_store(hdfs_uri)


def names(store: Any, prefix: str = "") -> list[str]:
    return [file.name for file in store.list(prefix)]


def put_raw(store: Any, path: str, data: bytes = b"") -> None:
    store.client.exchange("PUT", "CREATE", store.path("x")[:-1] + path, data, overwrite="true")


def make_old(store: Any, path: str) -> None:
    long_ago = int((time.time() - 1000) * 1000)
    store.client.ask("PUT", "SETTIMES", store.path("x")[:-1] + path, modificationtime=long_ago)


def test_a_folder_in_either_spelling_is_the_same_store(hdfs_uri: str, hdfs: Any) -> None:
    hdfs.put("docs/a", b"content")
    assert hdfs.uri.startswith("hdfs://127.0.0.1:")
    assert open_store(hdfs.uri).read("docs/a") == open_store(hdfs_uri + "/").read("docs/a") == b"content"


def test_files_that_are_not_ours_are_not_listed(hdfs: Any) -> None:
    hdfs.put("docs/a", b"")
    for path in ("docs/.tmp-1", "docs/with space", ".hidden/a", "docs/.git/config", "docs/ünï?&=%"):
        put_raw(hdfs, path)
    assert names(hdfs) == ["docs/a"]


def test_a_folder_of_more_files_than_a_namenode_lists_at_once(hdfs: Any) -> None:
    many = [f"docs/{number:05d}" for number in range(1005)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda name: hdfs.put(name, b""), many))
    assert names(hdfs) == many
    assert names(hdfs, "docs/010") == many[1000:]
    hdfs.delete(iter([*many, "docs/gone"]))
    assert names(hdfs) == []


def test_deleting_the_last_file_removes_its_folders(hdfs: Any) -> None:
    for name in ("docs/00001/a/data", "docs/00001/a/index", "docs/00002/b"):
        hdfs.put(name, b"")
    hdfs.delete(["docs/00001/a/data", "docs/00001/a/index"])
    root = hdfs.path("x")[:-2]
    listed = hdfs.client.ask("GET", "LISTSTATUS", f"{root}/docs")["FileStatuses"]["FileStatus"]
    assert [one["pathSuffix"] for one in listed] == ["00002"]
    hdfs.delete(["docs/00002/b", "docs/00002/b/under/a/file"])
    assert hdfs.client.ask("GET", "LISTSTATUS", root)["FileStatuses"]["FileStatus"] == []


def test_sweeping_takes_old_temporaries_and_empty_folders_only(hdfs: Any) -> None:
    hdfs.put("docs/00001/kept", b"")
    for path in ("docs/00001/.tmp-old", "docs/00001/.tmp-new", "docs/00002/gone"):
        put_raw(hdfs, path, b"12345")
    hdfs.client.ask("DELETE", "DELETE", hdfs.path("docs/00002/gone"))
    for path in ("docs/00001/.tmp-old", "docs/00001/kept", "docs/00001", "docs/00002"):
        make_old(hdfs, path)
    (found,) = hdfs.sweep("docs", time.time() - 500, dry_run=True)
    assert (found.name, found.bytes) == ("docs/00001/.tmp-old", 5)
    assert hdfs.sweep("docs", time.time() - 500) == (found,)
    listed = hdfs.client.ask("GET", "LISTSTATUS", hdfs.path("docs"))["FileStatuses"]["FileStatus"]
    assert [one["pathSuffix"] for one in listed] == ["00001"]
    assert hdfs.sweep("docs", time.time() - 500) == ()
    assert [file.name for file in hdfs.sweep("docs", time.time() + 500)] == ["docs/00001/.tmp-new"]
    assert hdfs.read("docs/00001/kept") == b""
    assert hdfs.sweep("pages", time.time()) == ()


def test_a_fork_gets_connections_of_its_own(hdfs: Any) -> None:
    for number in range(5):
        hdfs.put(f"docs/{number}", f"docs/{number}".encode())
    done = subprocess.run(
        [sys.executable, str(RACER), "fork", hdfs.uri],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("ok\n", "")


def test_a_store_travels_to_another_process(hdfs: Any) -> None:
    hdfs.put("docs/a", b"content")
    assert pickle.loads(pickle.dumps(hdfs)).read("docs/a") == b"content"


def test_a_file_deleted_under_an_open_source_is_missing(hdfs: Any) -> None:
    hdfs.put("docs/a", b"content")
    source = hdfs.open("docs/a")
    hdfs.delete(["docs/a"])
    with pytest.raises(MissingFile):
        source.read(0, 3)
    assert source.read(7, 3) == source.read(100, 3) == source.read(2, 0) == b""


def test_a_store_that_is_a_file_is_explained(hdfs: Any) -> None:
    hdfs.put("docs/a", b"")
    store = open_store(f"{hdfs.uri}/docs/a")
    for call in (lambda: store.put("docs/a", b""), lambda: store.create("docs/a", b"")):
        with pytest.raises(StoreUnavailable, match="part of that path is a file"):
            call()
    assert list(store.list()) == []


def test_a_name_that_a_folder_has_is_refused(hdfs: Any) -> None:
    hdfs.put("docs/a/data", b"")
    with pytest.raises(StoreUnavailable, match="a folder has that name"):
        hdfs.create("docs/a", b"content")
    assert names(hdfs) == ["docs/a/data"]


@on_hdfs
def test_of_four_processes_exactly_one_creates_a_file(
    store: Any, start_racers: Callable[[str, int], list[Racer]]
) -> None:
    racers = start_racers("create", 4)
    assert [racer.answer() for racer in racers] == ["ready"] * 4
    winners = set()
    for number in range(25):
        for racer in racers[number % 4 :] + racers[: number % 4]:
            racer.tell(f"snapshots/{number}")
        answers = [racer.answer().split() for racer in racers]
        (winner,) = [place for place, (won, _) in enumerate(answers) if won == "1"]
        assert store.read(f"snapshots/{number}").decode() == answers[winner][1]
        winners.add(winner)
    assert len(winners) > 1, "one process was always first: nothing was raced"
    assert store.sweep("snapshots", time.time() + 3600, dry_run=True) == ()


def test_a_killed_writer_leaves_no_file_that_can_be_seen(hdfs: Any) -> None:
    program = (
        "import sys; from crawlctl.pipeline.store.open import open_store\n"
        "with open_store(sys.argv[1]).write('pages/a') as sink:\n"
        "    for _ in range(3): sink.write(bytes(1 << 20))\n"
        "    print('under way', flush=True); sys.stdin.read()\n"
    )
    writer = subprocess.Popen(
        [sys.executable, "-c", program, hdfs.uri], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    assert writer.stdout.readline() == "under way\n"
    assert names(hdfs) == []
    writer.kill()
    writer.communicate()
    assert names(hdfs) == []
    with pytest.raises(MissingFile):
        hdfs.read("pages/a")
    deadline = time.monotonic() + 20
    while hdfs.sweep("pages", time.time() + 3600, dry_run=True)[0].bytes == 0:  # the datanode is closing it
        assert time.monotonic() < deadline
        time.sleep(0.1)
    (left,) = hdfs.sweep("pages", time.time() + 3600)
    assert 0 < left.bytes <= 3 << 20
    hdfs.put("pages/a", b"whole")
    assert names(hdfs) == ["pages/a"]


def test_a_writer_killed_at_any_moment_leaves_only_whole_snapshots(hdfs: Any) -> None:
    create_crawl(hdfs, 1)
    for _ in range(KILLS):
        child = subprocess.Popen(
            [sys.executable, str(RACER), "commit", hdfs.uri], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        for _ in range(random.randint(0, 2)):
            child.stdout.readline()
        time.sleep(random.uniform(0, 0.5))
        child.kill()
        child.communicate()
    numbers = snapshot_numbers(hdfs)
    assert numbers == tuple(range(1, len(numbers) + 1))
    assert len(numbers) > 1, "nothing was committed between the kills"
    for number in numbers:
        for entry in load_snapshot(hdfs, number).files:
            assert hashlib.sha256(hdfs.read(entry.name)).hexdigest() == entry.checksum


def test_a_sink_holds_no_more_than_it_may_have_to_send_again(hdfs: Any) -> None:
    content = os.urandom(1 << 20)
    with hdfs.write("pages/a") as sink:
        for _ in range(40):
            sink.write(content)
            assert sink._held < 1 << 20
            assert sum(map(len, sink._kept)) <= 16 << 20
    assert hdfs.size("pages/a") == 40 << 20
    assert sink.checksum == hashlib.sha256(content * 40).hexdigest()
    assert hdfs.read("pages/a", 39 << 20) == content
