"""Ten good hosts beside more than forty hostile ones: the good do not suffer, each bad one has its reason."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.politeness.host_queue import BROKEN_OFF
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import host_of
from crawlctl.tests.hostile.catalogue import ROBOTS
from crawlctl.tests.hostile.good import paths
from crawlctl.tests.hostile.servers import CATALOGUE
from crawlctl.tests.hostile.web import hostile_web
from crawlctl.tests.soak.effort import by_effort
from crawlctl.tests.soak.recorded import recorded
from crawlctl.tests.soak.watching import MemoryWatch, fetch_seconds

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawlctl.tests.hostile.web import HostileWeb

pytestmark = [
    pytest.mark.soak,
    pytest.mark.integration,
    pytest.mark.timeout(by_effort(300, 900)),
    pytest.mark.skipif(sys.platform != "linux", reason="each host needs an address of its own in 127/8"),
]

MEGABYTE = 1 << 20
GOOD_HOSTS = 10
PAGES = by_effort(30, 120)
DELAY = 1
ROUNDS = by_effort(5, 8)
ROUND_SECONDS = by_effort(12, 40)
TIMEOUT = by_effort(5, 20)
TASK_MEMORY, PARSE_MEMORY = 256 * MEGABYTE, 256 * MEGABYTE
# Requests in a second to one address, whatever its hosts are called; politeness.address_factor allows 5.
MOST_BY_ADDRESS = 10
# On a busy machine a server may not come to its misdeed in time, which is recorded too.
IN_VAIN = f"timed out|{BROKEN_OFF}"
# What the server notes may be late by this much: its threads share one core with the crawl.
CLOCK_SLACK = 0.1
# Saving a run, ending the helpers and starting the next step on a busy machine.
ROUND_SLACK = 15
# Of what the bounds do not count: the interpreter with what it has imported.
MEMORY_SLACK = 128 * MEGABYTE


@dataclass
class Crawl:
    """A crawl of the hostile web, after it has ended."""

    web: HostileWeb
    folder: Path
    exit_code: int
    said: str
    peak: int

    @property
    def store(self) -> LocalStore:
        return LocalStore(self.folder / "crawl")

    @cached_property
    def lines(self) -> dict[str, list[str]]:
        return recorded(self.store, load_current(self.store), map(host_of, self.web.seeds))

    def requests(self) -> dict[str, list[tuple[float, str]]]:
        """Return time and path of each request to each good host."""
        found: defaultdict[str, list[tuple[float, str]]] = defaultdict(list)
        for line in (self.folder / "access.log").read_text().splitlines():
            moment, host, path = line.split(" ", 2)
            found[host].append((float(moment), path))
        return dict(found)


def settings(web: HostileWeb, folder: Path) -> dict[str, Any]:
    return {
        "partitions": 2,
        "fetch": {
            "contact": "test@example.org",
            "allowed_networks": ["127.0.0.0/8", "::1"],
            "timeout": f"{TIMEOUT}s",
            "connect_timeout": f"{TIMEOUT - 1}s",
            "min_speed_span": f"{TIMEOUT - 1}s",
            "ca_file": web.authorities,
        },
        "politeness": {"delay": f"{DELAY}s", "response_factor": 1, "backoff": "1s", "patience": "3s"},
        "scope": {"include": [*(host_of(url) for url in web.seeds), "*.localhost"]},
        "parse": {"time_limit": "2s", "memory_limit": str(PARSE_MEMORY)},
        "round": {
            "max_time": f"{ROUND_SECONDS}s",
            "task_memory": str(TASK_MEMORY),
            "flush_time": "2s",
        },
        "runner": {"tmp_dir": str(folder / "scratch")},
    }


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawl]:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "scratch").mkdir()
    with hostile_web(folder, good=GOOD_HOSTS, pages=PAGES, patience=TIMEOUT) as web:
        (folder / "crawl.yaml").write_text(json.dumps(settings(web, folder)))
        (folder / "seeds.txt").write_text("".join(f"{url}\n" for url in web.seeds))
        yield run(web, folder)


def run(web: HostileWeb, folder: Path) -> Crawl:
    command = [
        sys.executable,
        "-m",
        "crawlctl.cli",
        "run",
        "--iterations",
        str(ROUNDS),
        "--seed",
        "seeds.txt",
    ]
    with (folder / "said").open("w+") as said:
        started = subprocess.Popen(command, cwd=folder, stdout=said, stderr=said)
        with started, MemoryWatch(started.pid) as memory:
            try:
                started.wait()
            finally:
                started.terminate()
    return Crawl(web, folder, started.returncode, (folder / "said").read_text(), memory.peak)


def test_the_run_ends_well(crawl: Crawl) -> None:
    assert crawl.exit_code == 0, crawl.said
    assert "Traceback" not in crawl.said


def test_every_page_of_the_good_hosts_is_fetched_and_none_twice(crawl: Crawl) -> None:
    for url in crawl.web.good:
        asked = Counter(path for _, path in crawl.requests()[host_of(url)] if path != ROBOTS)
        assert asked == dict.fromkeys(paths(PAGES), 1), url


def test_every_page_of_the_good_hosts_is_in_the_index(crawl: Crawl) -> None:
    for url in crawl.web.good:
        fetched = [line for line in crawl.lines[host_of(url)] if " fetched 200" in line]
        assert len(fetched) == PAGES, url


def test_a_good_host_is_never_asked_faster_than_is_polite(crawl: Crawl) -> None:
    requests = crawl.requests()
    gaps = [
        (after - before, host, path)
        for host in map(host_of, crawl.web.good)
        for (before, _), (after, path) in pairwise(requests[host])
    ]
    assert min(gaps)[0] >= DELAY - CLOCK_SLACK, min(gaps)


def test_a_server_with_any_number_of_names_is_asked_like_one(crawl: Crawl) -> None:
    wild = [asked for host, asked in crawl.requests().items() if ".localhost" in host]
    seconds = Counter(int(moment) for asked in wild for moment, _ in asked)
    assert len(wild) > 10, "it has many names"
    assert max(seconds.values()) <= MOST_BY_ADDRESS, seconds.most_common(3)


def test_each_round_keeps_its_deadline(crawl: Crawl) -> None:
    seconds = fetch_seconds(crawl.folder / "crawl")
    assert len(seconds) == ROUNDS
    assert max(seconds.values()) <= ROUND_SECONDS + ROUND_SLACK, seconds


def test_each_task_keeps_to_its_memory(crawl: Crawl) -> None:
    assert 0 < crawl.peak <= TASK_MEMORY + PARSE_MEMORY + MEMORY_SLACK, crawl.peak // MEGABYTE


@pytest.mark.parametrize("name", CATALOGUE)
def test_the_reason_of_each_hostile_host_is_recorded(crawl: Crawl, name: str) -> None:
    for url in crawl.web.bad[name]:
        told = "\n".join(crawl.lines[host_of(url)])
        assert re.search(f"{CATALOGUE[name].reason}|{IN_VAIN}", told), told[:2000]


@pytest.mark.parametrize("name", [name for name, hostile in CATALOGUE.items() if hostile.pages])
def test_good_pages_of_a_hostile_host_are_fetched_all_the_same(crawl: Crawl, name: str) -> None:
    root = crawl.web.bad[name][0]
    told = crawl.lines[host_of(root)]
    for path in CATALOGUE[name].pages:
        assert [line for line in told if f"{root}{path[1:]} fetched" in line], "\n".join(told)[:2000]
