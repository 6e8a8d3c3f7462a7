"""`crawlctl run` by the crawl's own settings, on a site of this machine."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from crawlctl.pipeline.state.journal import saved_runs
from crawlctl.pipeline.state.kinds import OUTCOMES
from crawlctl.pipeline.state.own_settings import read_own_settings
from crawlctl.pipeline.state.snapshots import commit, load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import url_of_key
from crawlctl.pipeline.webdb.row_files import open_table
from crawlctl.tests.pipeline.fetch.site import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.tests.pipeline.commands.conftest import Shell
    from crawlctl.tests.pipeline.fetch.site import Site

pytestmark = pytest.mark.slow

# What a person needs to fetch from this machine; none of it belongs to the crawl.
MACHINE = """
partitions: 1
fetch: {contact: test@example.org, allowed_networks: [127.0.0.0/8]}
politeness: {delay: 0, response_factor: 0, connections_per_host: 1, patience: 1s}
runner: {name: inline}
rank: {every: null}
"""
LEAVES = 12


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(1) as (only,):
        only.page("/", "/a/", "/b/")
        for folder in "ab":
            only.page(f"/{folder}/", *(f"/{folder}/{number}" for number in range(LEAVES)))
            for number in range(LEAVES):
                only.page(f"/{folder}/{number}", text=f"{folder} {number} " * 20)
        yield only


@pytest.fixture
def crawlctl(shell: Shell, site: Site) -> Shell:
    Path("seed.txt").write_text(f"{site.url()}\n")
    write_yaml()
    return shell


def write_yaml(more: str = "") -> None:
    Path("crawl.yaml").write_text(MACHINE + more)


def own() -> dict[str, Any] | None:
    store = LocalStore(Path("crawl"))
    return read_own_settings(store, load_current(store))


def statuses(shell: Shell) -> dict[str, int]:
    found: dict[str, int] = shell.json("status")["statuses"]
    return found


def test_a_change_of_the_scope_says_how_many_urls_it_moves_also_if_none(crawlctl: Shell) -> None:
    crawlctl("run", "--seed", "seed.txt", "--iterations", "1")
    told = [crawlctl("config", "set", f"scope.max_depth={depth}") for depth in (0, 1, 2)]
    assert "(was 20); 2 URLs will not be fetched; undo: crawlctl rollback " in told[0]
    assert told[1].endswith("(was 0); 2 URLs are due now\n")
    assert told[2].endswith("(was 1); no page has left search, and no URL is due because of it\n")


def test_the_file_variables_and_flags_of_the_first_run_become_the_crawls_own(
    crawlctl: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_yaml("scope.max_url_length: 900\n")
    monkeypatch.setenv("CRAWLCTL_SCOPE_MAX_QUERY_PARAMETERS", "3")
    crawlctl("--set", "scope.max_depth=1", "run", "--seed", "seed.txt", "--iterations", "3")
    assert own() == {"scope.max_url_length": 900, "scope.max_query_parameters": 3, "scope.max_depth": 1}
    assert statuses(crawlctl) == {"fetched": 3}
    assert "of this crawl is now" not in crawlctl.said


def test_a_run_from_another_folder_uses_the_rules_of_the_crawl_and_names_the_difference(
    crawlctl: Shell, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawlctl("run", "--seed", "seed.txt")
    elsewhere = Path("elsewhere")
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    write_yaml("scope.include: [nowhere.example]\n")
    crawlctl("run", "--store", "../crawl", "--until-empty")
    first, *_ = crawlctl.said.splitlines()
    assert first == (
        "crawl.yaml: scope.include is [nowhere.example], but the crawl's own setting is [], which counts; to "
        "change it: crawlctl config set --store ../crawl 'scope.include=[nowhere.example]'"
    )
    assert crawlctl.json("status", "--store", "../crawl")["statuses"] == {"fetched": 3 + 2 * LEAVES}


def test_a_flag_of_run_changes_the_crawl_for_good_and_says_so_before_anything_is_fetched(
    crawlctl: Shell,
) -> None:
    crawlctl("run", "--seed", "seed.txt")
    crawlctl("--set", "scope.max_depth=1", "--set", "gc.min_age=2h", "run", "--until-empty")
    said = crawlctl.said.partition("fetch: ")[0].splitlines()
    assert any(line.startswith("scope.max_depth of this crawl is now 1 (was 20)") for line in said)
    assert statuses(crawlctl) == {"fetched": 3}
    assert own() == {"scope.max_depth": 1}
    crawlctl("--set", "scope.max_depth=1", "run")
    assert "of this crawl is now" not in crawlctl.said
    crawlctl("--set", "scope.include=['regex:(']", "run", code=2)
    assert own() == {"scope.max_depth": 1}


def test_the_first_run_on_a_crawl_of_an_older_release_writes_its_settings(crawlctl: Shell) -> None:
    crawlctl("init")
    store = LocalStore(Path("crawl"))
    commit(store, load_current(store), files=(), round_number=0)
    write_yaml("scope.max_depth: 1\n")
    assert crawlctl.json("config")["scope.max_depth"] == {"value": 1, "source": "crawl.yaml"}
    crawlctl("inject", "seed.txt")
    assert own() is None
    crawlctl("run", "--until-empty")
    (line,) = [line for line in crawlctl.said.splitlines() if "its own settings" in line]
    assert line.startswith("this crawl now keeps its own settings, those of this run (scope.max_depth); ")
    assert own() == {"scope.max_depth": 1}
    write_yaml()
    crawlctl("run", "--until-empty")
    assert "its own settings" not in crawlctl.said
    assert statuses(crawlctl) == {"fetched": 3}


def test_inject_and_explain_use_the_crawls_own_settings(crawlctl: Shell, site: Site) -> None:
    write_yaml("urls.strip_parameters: [utm_*]\nscope.exclude: ['regex:/b/']\n")
    crawlctl("init")
    write_yaml()
    Path("more.txt").write_text(f"{site.url('/?utm_source=x')}\n")
    crawlctl("inject", "seed.txt")
    assert crawlctl.json("inject", "more.txt") == {"new": 0, "known": 1, "let_in": 0, "skipped": 0}
    assert "scope.exclude" in crawlctl("explain", site.url("/b/"))


def killed_while_it_fetches_leaves(site: Site) -> set[str]:
    """Kill a run after it has saved some pages of its third round, and return the paths that it saved."""
    store = LocalStore(Path("crawl"))
    site.seconds = 0.1
    command = [sys.executable, "-m", "crawlctl.cli", "run", "--seed", "seed.txt", "--until-empty"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        for _ in range(1500):
            if process.poll() is not None or len(saved_runs(store, 3, 0)) > 1:
                break
            time.sleep(0.02)
        process.kill()
    site.seconds = 0.0
    saved = (entry for run in saved_runs(store, 3, 0) for entry in run if entry.kind == OUTCOMES)
    return {urlsplit(url_of_key(key)).path for entry in saved for key, _ in open_table(store, entry)}


def test_the_rest_of_an_open_round_uses_changed_settings_and_what_it_saved_stays(
    crawlctl: Shell, site: Site
) -> None:
    write_yaml("round.flush_pages: 2\nfetch.stall_time: 0\n")
    saved = killed_while_it_fetches_leaves(site)
    leaves = {f"/{folder}/{number}" for folder in "ab" for number in range(LEAVES)}
    assert saved and saved < leaves
    crawlctl("config", "set", "scope.exclude=['regex:/b/[0-9]']")
    site.asked.clear()
    crawlctl("run", "--until-empty")
    assert "round 3: continuing where the last run stopped" in crawlctl.said
    assert set(site.pages_asked()) == {path for path in leaves - saved if path.startswith("/a/")}
