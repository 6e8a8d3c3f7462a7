"""A crawl killed in every phase of its life ends like one that nobody disturbed, on disk and on S3."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.store.open import open_store
from crawlctl.tests.comparison import Crawled, assert_same, crawled
from crawlctl.tests.pipeline.crawl.test_kills import saved
from crawlctl.tests.soak.effort import by_effort, chance
from crawlctl.tests.soak.killing import RUN_PHASES, Command, Life, finish
from crawlctl.tests.soak.small_web import PARTITIONS, small_web

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawlctl.tests.pipeline.fetch.site import Site

pytestmark = [pytest.mark.soak, pytest.mark.integration, pytest.mark.timeout(by_effort(600, 7200))]

BUCKET = "crawlctl-test"
# On each of the two stores; a life has up to ten, one a phase.
KILLS = by_effort(6, 100)
SETTINGS = {
    "partitions": PARTITIONS,
    "fetch": {"contact": "test@example.org", "allowed_networks": ["127.0.0.0/8"]},
    "politeness": {"delay": 0, "response_factor": 3, "connections_per_host": 1, "patience": "1s"},
    # What a round follows on a slow machine would pass on the score that it has by that time.
    "round": {"flush_pages": 2, "flush_time": "1s", "follow_outlinks": False},
    "lease": {"ttl": "10s"},
}


@pytest.fixture(scope="module")
def sites() -> Iterator[list[Site]]:
    with small_web() as served:
        for site in served:
            site.seconds = 0.02  # so that a kill finds pages under way
        yield served


@pytest.fixture
def folder(sites: list[Site], tmp_path: Path) -> Path:
    settings = {**SETTINGS, "runner": {"tmp_dir": str(tmp_path)}}
    (tmp_path / "crawl.yaml").write_text(json.dumps(settings))
    (tmp_path / "seeds.txt").write_text("".join(f"{site.url()}\n" for site in sites))
    return tmp_path


def life_of(store: str, copies: str) -> tuple[Command, ...]:
    """Return the commands of a life: crawl, copy, copy to other partitions, collect garbage."""
    return (
        Command(("run", "--until-empty", "--seed", "seeds.txt", "--store", store), tuple(RUN_PHASES)),
        Command(("copy", store, f"{copies}-as-is"), ("copy",)),
        Command(("copy", store, f"{copies}-split", "--partitions", "3"), ("copy",)),
        Command(("gc", "--keep", "1", "--min-age", "0s", "--store", store), ("gc",)),
    )


def undisturbed(folder: Path) -> Crawled:
    finish(folder, life_of("whole", "whole")[0].arguments)
    return crawled(open_store(str(folder / "whole")))


def asked(sites: list[Site]) -> list[str]:
    return [site.url(path) for site in sites for path in site.asked]


@contextmanager
def nothing_saved_is_asked_again(sites: list[Site], store: str) -> Iterator[Watcher]:
    watcher = Watcher(sites, store)
    yield watcher
    watcher.look()


class Watcher:
    """Holds after each kill that what had been saved before was not asked for since."""

    def __init__(self, sites: list[Site], store: str) -> None:
        self._sites, self._store = sites, store
        self._known: set[str] = set()
        self._forget()

    def look(self) -> None:
        assert self._known.isdisjoint(asked(self._sites))
        self._known = saved(open_store(self._store))
        self._forget()

    def _forget(self) -> None:
        for site in self._sites:
            site.asked.clear()


def lives_through_kills(sites: list[Site], folder: Path, place: str) -> Counter[str]:
    """Lead lives with kills, each in a store of its own; hold that each ends well, and count the kills."""
    whole, hits = undisturbed(folder), Counter[str]()
    random = chance("kills on S3" if place.startswith("s3:") else "kills on disk")
    while hits.total() < KILLS:
        store = f"{place}/{uuid.uuid4().hex}"
        with nothing_saved_is_asked_again(sites, store) as watcher:
            Life(folder, life_of(store, store), random, watcher.look, hits).live()
        for one in (store, f"{store}-as-is", f"{store}-split"):
            assert_same(crawled(open_store(one)), whole)
    return hits


def test_on_disk(sites: list[Site], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hits = lives_through_kills(sites, folder, str(folder))
    with capsys.disabled():
        print(f"\nkills on disk: {dict(hits)}")


def test_on_a_real_s3_server(
    sites: list[Site],
    folder: Path,
    versitygw_endpoint: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", versitygw_endpoint)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    hits = lives_through_kills(sites, folder, f"s3://{BUCKET}")
    with capsys.disabled():
        print(f"\nkills on S3: {dict(hits)}")
