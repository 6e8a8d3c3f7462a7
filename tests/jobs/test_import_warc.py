"""Imports of archives, as a job and as a round of the crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec
import pytest

from crawlctl.jobs.import_warc import ImportWarc
from crawlctl.pipeline.config.settings import Config, RoundSettings, RunnerSettings, ScopeSettings
from crawlctl.pipeline.config.units import Size
from crawlctl.pipeline.crawl.importing import import_archives
from crawlctl.pipeline.crawl.work import Work
from crawlctl.pipeline.errors import ConfigError, MissingFile, NotACrawl, StoreError
from crawlctl.pipeline.fetch.order import FetchOrder
from crawlctl.pipeline.fetch.pages.page_reader import PageReader
from crawlctl.pipeline.imports.order import ImportOrder
from crawlctl.pipeline.imports.task import Importer
from crawlctl.pipeline.index.building.builder import RunBuilder
from crawlctl.pipeline.orders import encode_order
from crawlctl.pipeline.progress.display import Display
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.search.answer.find import SearchOptions, find
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.state.journal import put_run
from crawlctl.pipeline.state.manifest import decode_lines
from crawlctl.pipeline.state.snapshots import commit, create_crawl, load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import host_of, partition_of
from crawlctl.pipeline.webdb.merge.update import inject
from crawlctl.pipeline.webdb.part import scan
from crawlctl.pipeline.webdb.records import Status
from crawlctl.tests.pipeline.imports.archives import DATE, MOMENT, answer, page, record, write

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from crawlctl.pipeline.fetch.pages.page_reader import Visit
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.records import WebEntry

PARTITIONS = 3
HOSTS = [f"host{number}.example" for number in range(6)]
LATER = "2024-06-01T00:00:00Z"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of the test's own for the zipped package."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    store = LocalStore(tmp_path / "crawl")
    create_crawl(store, PARTITIONS)
    return store


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    pages = [record(f"https://{host}/", answer(page(f"Loops of {host}", "/next"))) for host in HOSTS]
    others = [
        record(f"https://{HOSTS[0]}/gone", answer("", status="404 Not Found")),
        record(f"https://{HOSTS[0]}/moved", answer("", "Location: /", status="301 Moved")),
        record(f"https://{HOSTS[0]}/image", answer(b"GIF89a", content_type="image/gif")),
    ]
    return write(tmp_path / "pages.warc.gz", *pages, *others)


def work_on(store: Store, config: Config | None = None, runner: str = "inline") -> Work:
    config = config or Config()
    config = msgspec.structs.replace(config, runner=msgspec.convert({"name": runner}, RunnerSettings))
    return Work(store, config, Display())


def entries(store: Store) -> dict[str, WebEntry]:
    snapshot = load_current(store)
    rows = (row for number in range(PARTITIONS) for row in scan(store, snapshot, number))
    return dict(rows)


def urls(store: Store, query: str) -> set[str]:
    return {hit.url for hit in find(open_index(store), parse(query), SearchOptions(limit=100)).hits}


def order_of(store: Store, config: Config | None = None) -> FetchOrder:
    return FetchOrder(
        store=store.uri,
        snapshot=load_current(store).number,
        round=1,
        partition=0,
        partitions=PARTITIONS,
        deadline=0.0,
        max_pages=0,
        max_bytes=0,
        config=config or Config(),
    )


def test_a_page_that_breaks_our_own_code_is_left_out_and_counted(
    store: LocalStore, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = PageReader.read

    def break_on_one(reader: PageReader, visit: Visit, *rest: Any) -> Any:
        if HOSTS[1] in visit.url:
            raise KeyError("no such thing")
        return read(reader, visit, *rest)

    monkeypatch.setattr(PageReader, "read", break_on_one)
    importer = Importer(order_of(store), store, RunBuilder)
    importer.run((str(archive),))
    assert importer.counts["pages left out for an internal error"] == 1
    fetched = sum(entry.counters.get("fetched", 0) for entry in importer.saved)
    assert fetched == len(HOSTS) - 1


@pytest.mark.slow
@pytest.mark.parametrize("runner", ["forked", "local"])
def test_a_task_writes_runs_for_the_partitions_of_its_pages(
    store: LocalStore, archive: Path, tmp_path: Path, runner: Literal["forked", "local"]
) -> None:
    order = ImportOrder(number=0, archives=(str(archive),), fetch=order_of(store))
    lines = tmp_path / "orders"
    lines.write_bytes(encode_order(order) + b"\n")
    result = run_job(ImportWarc, [lines], settings=RunnerSettings(name=runner))
    files = list(decode_lines((line for _, line in result.output), "output"))
    homes = {partition_of(host, PARTITIONS) for host in HOSTS}
    assert {entry.partition for entry in files if entry.kind == "outcomes"} == homes
    assert {entry.kind for entry in files} >= {"outcomes", "docs", "links", "postings"}
    assert "pages" not in {entry.kind for entry in files}
    assert result.counters.get("import", "pages") == 8
    assert result.counters.get("import", "other kinds of page") == 1


def test_a_line_that_is_no_order_is_explained(tmp_path: Path) -> None:
    orders = tmp_path / "orders"
    orders.write_text("{}\n")
    with pytest.raises(ConfigError, match="of the kind ImportOrder"):
        run_job(ImportWarc, [orders], settings=RunnerSettings(name="inline"))


def test_an_import_is_a_round_whose_pages_can_be_searched(store: LocalStore, archive: Path) -> None:
    report = import_archives(work_on(store), [str(archive)])
    assert (report.round, report.counts["pages"]) == (1, 8)
    known = entries(store)
    assert {url: entry.status for url, entry in known.items() if entry.live} == {
        f"https://{host}/": Status.FETCHED for host in HOSTS
    }
    assert known[f"https://{HOSTS[0]}/gone"].status is Status.GONE
    assert known[f"https://{HOSTS[0]}/moved"].redirect_to == f"https://{HOSTS[0]}/"
    assert {entry.last_tried for entry in known.values()} == {MOMENT}
    assert urls(store, "loops") == {f"https://{host}/" for host in HOSTS}


def test_links_are_taken_up_as_far_as_the_scope_goes(store: LocalStore, archive: Path) -> None:
    snapshot = load_current(store)
    injected = inject(store, snapshot, [f"https://{HOSTS[1]}/"], MOMENT - 1)
    commit(store, snapshot, files=injected.files, round_number=0)
    import_archives(work_on(store), [str(archive)])
    unfetched = {url for url, entry in entries(store).items() if entry.status is Status.UNFETCHED}
    assert unfetched == {f"https://{HOSTS[1]}/next"}


def test_an_include_rule_widens_the_scope(store: LocalStore, archive: Path) -> None:
    config = Config(scope=ScopeSettings(include=("*",)))
    import_archives(work_on(store, config), [str(archive)])
    unfetched = {url for url, entry in entries(store).items() if entry.status is Status.UNFETCHED}
    assert unfetched == {f"https://{host}/next" for host in HOSTS}


def test_importing_twice_changes_nothing(store: LocalStore, archive: Path) -> None:
    import_archives(work_on(store), [str(archive), str(archive)])
    first = load_current(store)
    again = import_archives(work_on(store), [str(archive)])
    assert again.round is None
    assert again.counts["pages known as fresh"] == 8
    assert load_current(store) == first


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("dates", [(DATE, LATER), (LATER, DATE)])
def test_the_later_of_two_captures_counts(
    store: LocalStore, tmp_path: Path, dates: tuple[str, str], together: bool
) -> None:
    captures = [record("https://a.org/", answer(page(f"Dated {date[:7]}")), date=date) for date in dates]
    if together:
        import_archives(work_on(store), [str(write(tmp_path / "x.warc.gz", *captures))])
    else:
        for number, one in enumerate(captures):
            import_archives(work_on(store), [str(write(tmp_path / f"{number}.warc.gz", one))])
    (hit,) = find(open_index(store), parse("dated")).hits
    assert hit.title == "Dated 2024-06"


@pytest.mark.slow
def test_runs_are_saved_when_they_hold_too_much(store: LocalStore, tmp_path: Path) -> None:
    pages = [record(f"https://{host}/{n}", answer(page(f"{host} {n}"))) for n in range(40) for host in HOSTS]
    config = Config(round=RoundSettings(task_memory=Size(4 << 20)))
    importer = Importer(order_of(store, config), store, RunBuilder)
    importer.run((str(write(tmp_path / "many.warc.gz", *pages)),))
    outcomes = [entry for entry in importer.saved if entry.kind == "outcomes"]
    assert len(outcomes) > PARTITIONS
    assert sum(entry.records for entry in outcomes) == len(pages)
    assert all(entry.partition == home(store, entry.name) for entry in outcomes)


def home(store: Store, name: str) -> int:
    from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader
    from crawlctl.pipeline.urls.hosts import host_of_key

    keys: Iterable[bytes] = (key for key, _ in SequenceFileReader(store.open(name)))
    (number,) = {partition_of(host_of_key(key), PARTITIONS) for key in keys}
    return number


def test_a_round_that_was_begun_is_finished_first(store: LocalStore, archive: Path) -> None:
    put_run(store, 1, 0, [])
    with pytest.raises(StoreError, match="finish it with `crawlctl run`"):
        import_archives(work_on(store), [str(archive)])


def test_what_is_missing_is_told_before_anything_is_done(tmp_path: Path, archive: Path) -> None:
    store = LocalStore(tmp_path / "nothing")
    with pytest.raises(MissingFile, match="give the path"):
        import_archives(work_on(store), [str(archive), str(tmp_path / "misspelt.warc.gz")])
    with pytest.raises(ConfigError, match="download it first"):
        import_archives(work_on(store), ["https://a.org/x.warc.gz"])
    with pytest.raises(NotACrawl):
        import_archives(work_on(store), [str(archive)])
    assert not (tmp_path / "nothing").exists()


def test_pages_of_a_host_lie_in_its_partition(store: LocalStore, archive: Path) -> None:
    import_archives(work_on(store), [str(archive)])
    snapshot = load_current(store)
    for number in range(PARTITIONS):
        for url, _ in scan(store, snapshot, number):
            assert partition_of(host_of(url), PARTITIONS) == number
