"""The table of blocks over rounds: it depends on the pages of each round, not on how runs split them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from crawlctl.pipeline.state.kinds import BLOCKS
from crawlctl.pipeline.state.snapshots import create_crawl, load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import webdb_key
from crawlctl.pipeline.webdb.repeated.block_sample import SAMPLED_PAGES, BlockSample, mark_of, sample_of
from crawlctl.pipeline.webdb.repeated.block_table import (
    KnownBlocks,
    RunBlocks,
    known_blocks,
    merge_blocks,
    read_samples,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot

HEAD, FOOT = b"headhead", b"footfoot"
URLS = [f"http://{host}.example/{number}" for host in "ab" for number in range(60)]
PAGES = st.dictionaries(st.sampled_from(URLS), st.sampled_from((HEAD, FOOT, FOOT + HEAD)), max_size=80)

Pages = dict[str, bytes]


class Table:
    """The table of a partition, in a store of its own."""

    def __init__(self, folder: Path) -> None:
        self.store = LocalStore(folder)
        self.files: tuple[FileEntry, ...] = ()

    def round(self, *runs: Pages) -> tuple[FileEntry, ...]:
        """Merge the runs of a round; return the files that it wrote."""
        entries = [entry for run in runs for entry in self.run(run)]
        written = merge_blocks(self.store, self.files, entries, partition=0, round_number=1)
        self.files = written or self.files
        return written

    def run(self, pages: Pages) -> tuple[FileEntry, ...]:
        run = RunBlocks(KnownBlocks(self.samples().items()))
        for url, hashes in pages.items():
            run.add(webdb_key(url), hashes)
        return run.write(self.store, partition=0, round_number=1)

    def samples(self) -> dict[bytes, BlockSample]:
        return dict(row for entry in self.files for row in read_samples(self.store, entry))

    def snapshot(self) -> Snapshot:
        create_crawl(self.store, 1)
        return replace(load_current(self.store), files=self.files)


def parts_of(pages: Pages, cuts: Sequence[int]) -> Iterable[Pages]:
    urls = list(pages)
    for start, end in zip((0, *sorted(cuts)), (*sorted(cuts), len(urls)), strict=True):
        yield {url: pages[url] for url in urls[start:end]}


@given(st.lists(st.tuples(PAGES, st.lists(st.integers(0, 80), max_size=4)), max_size=4))
def test_runs_may_split_the_pages_of_a_round_in_any_way(rounds: list[tuple[Pages, list[int]]]) -> None:
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        whole, split = Table(Path(one)), Table(Path(other))
        for pages, cuts in rounds:
            whole.round(pages)
            # Runs of a killed attempt may have pages that a later attempt has read again.
            split.round(*reversed(list(parts_of(pages, cuts))), dict(list(pages.items())[:3]))
            assert split.samples() == whole.samples()


def test_the_next_round_knows_what_half_of_the_pages_have(tmp_path: Path) -> None:
    table = Table(tmp_path)
    table.round({url: HEAD + FOOT if number % 3 else FOOT for number, url in enumerate(URLS[:60])})
    known = known_blocks(table.store, table.snapshot(), 0)
    assert known.repeated("a.example") == FOOT + HEAD
    assert known.repeated("b.example") == b""
    only_b = known_blocks(
        table.store, replace(load_current(table.store), files=table.files), 0, ["b.example"]
    )
    assert only_b.repeated("a.example") == b""


def test_a_full_sample_is_not_written_again_for_other_pages(tmp_path: Path) -> None:
    table = Table(tmp_path)
    assert table.round(dict.fromkeys(URLS, HEAD))
    assert table.round(dict.fromkeys(URLS, HEAD)) == ()
    assert all(len(sample.pages) == SAMPLED_PAGES for sample in table.samples().values())
    more = {f"http://a.example/more/{number}": HEAD for number in range(200)}
    before = {mark for mark, _ in table.samples()[b"a.example"].pages}
    table.round(more)
    after = {mark for mark, _ in table.samples()[b"a.example"].pages}
    assert after != before
    assert max(after) < max(before)


def test_a_run_holds_a_bounded_number_of_pages_per_host() -> None:
    run = RunBlocks()
    for number in range(10_000):
        run.add(webdb_key(f"http://a.example/{number}"), HEAD)
    small = RunBlocks()
    for number in range(2 * SAMPLED_PAGES):
        small.add(webdb_key(f"http://a.example/{number}"), HEAD)
    assert 0 < run.memory <= 2 * small.memory


def test_pages_without_blocks_write_no_file(tmp_path: Path) -> None:
    assert Table(tmp_path).round({URLS[0]: b""}) == ()


def test_a_damaged_table_stops_no_round_and_stays_for_the_check(tmp_path: Path) -> None:
    table = Table(tmp_path)
    table.round(dict.fromkeys(URLS, HEAD))
    path = tmp_path / table.files[0].name
    data = bytearray(path.read_bytes())
    data[-20] ^= 1
    for content in (bytes(data), b"", None):
        path.unlink()
        if content is not None:
            path.write_bytes(content)
        run = RunBlocks()
        run.add(webdb_key(URLS[0]), FOOT)
        runs = run.write(table.store, partition=0, round_number=2)
        assert merge_blocks(table.store, table.files, runs, partition=0, round_number=2) == ()
        snapshot = table.snapshot() if content == bytes(data) else load_current(table.store)
        assert known_blocks(table.store, replace(snapshot, files=table.files), 0).repeated("a.example") == b""
        path.touch()


def test_the_kind_of_the_files_is_that_of_the_table(tmp_path: Path) -> None:
    table = Table(tmp_path)
    assert [entry.kind for entry in table.round({URLS[0]: HEAD})] == [BLOCKS]


@given(st.lists(st.integers(0, 400), max_size=120), st.integers(1, 60))
def test_pages_that_are_not_wanted_would_not_be_sampled(numbers: list[int], cut: int) -> None:
    """A task need not hash the blocks of a page that has no place in the sample any more."""
    keys = [webdb_key(f"http://a.example/{number}") for number in numbers]
    run, wanted = RunBlocks(), []
    for key in keys:
        if run.wants(key):
            wanted.append(key)
            run.add(key, HEAD)
    known = KnownBlocks([(b"a.example", sample_of((mark_of(key), HEAD) for key in keys[:cut]))])
    later = [key for key in keys if RunBlocks(known).wants(key)]
    everything = sample_of((mark_of(key), HEAD) for key in keys)
    assert sample_of((mark_of(key), HEAD) for key in wanted) == everything
    assert sample_of((mark_of(key), HEAD) for key in (*keys[:cut], *later)) == everything
