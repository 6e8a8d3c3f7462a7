"""What `crawlctl run` prints at its end, and `crawlctl status` afterwards, over real servers on loopback."""

from __future__ import annotations

import re
import time
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawlctl.cli import run
from crawlctl.pipeline.crawl import rank_due
from crawlctl.pipeline.terminal.width import columns
from crawlctl.tests.pipeline.fetch.site import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.tests.pipeline.commands.conftest import Shell
    from crawlctl.tests.pipeline.fetch.site import Site

pytestmark = pytest.mark.slow

SETTINGS = """
partitions: 1
fetch: {contact: a@example.org, allowed_networks: [127.0.0.0/8], connect_timeout: 1s}
politeness: {delay: 0, response_factor: 0, backoff: 1s, patience: 0s, max_failures: 2}
runner: {name: inline}
"""
AT_ONCE = "recrawl: {pace: {initial: 1s, minimum: 1s, maximum: 1s}, jitter: 0}\n"  # visit pages again
NARROW = "40"


@contextmanager
def site_of_all_kinds() -> Iterator[Site]:
    """A host with a page of every kind."""
    with serving(1) as (site,):
        site.text("/robots.txt", "User-agent: *\nDisallow: /secret\n")
        site.page("/", "/kept", "/edited", "/moved", "/missing", "/broken", "/secret", "/hidden")
        site.page("/kept", ETag='"1"')
        site.page("/edited")
        site.redirect("/moved", "/kept")
        site.text("/broken", "", 500)
        site.page("/hidden", head='<meta name="robots" content="noindex">')
        yield site


@pytest.fixture
def crawlctl(shell: Shell) -> Shell:
    Path("crawl.yaml").write_text(SETTINGS)
    return shell


def seed(*urls: str) -> None:
    Path("seed.txt").write_text("".join(f"{url}\n" for url in urls))


def test_a_run_says_what_became_of_its_pages_and_what_to_type_next(
    crawlctl: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with site_of_all_kinds() as site:
        seed(site.url())
        lines = crawlctl("run", "--seed", "seed.txt", "--iterations", "2").splitlines()
        status = crawlctl("status").splitlines()
    assert lines[6].startswith("pages fetched  3  ") and lines[6].endswith(" received")
    words = [line.split() for line in lines]
    for row in (["new", "3"], ["redirected", "1"], ["gone", "1", "status", "404", "or", "410"]):
        assert row in words
    assert ["failed", "1", "1", "with", "status", "500;", "`crawlctl", "errors`", "lists", "it"] in words
    assert [site.host, "3"] in words
    assert lines[-1] == "next: crawlctl query WORDS"
    assert all(columns(line) <= 80 for line in (*lines, *status))
    assert any(line.split()[:2] == ["gone", "1"] for line in status)


def test_a_second_visit_tells_changed_pages_from_unchanged_ones(crawlctl: Shell) -> None:
    Path("crawl.yaml").write_text(SETTINGS + AT_ONCE)
    with site_of_all_kinds() as site:
        seed(site.url("/kept"), site.url("/edited"))
        first = crawlctl.json("run", "--seed", "seed.txt")
        site.page("/edited", text="all other words than before")
        time.sleep(1.1)
        again = crawlctl.json("run")
    assert (first["pages"]["new"], first["pages"]["changed"]) == (2, 0)
    assert again["pages"] == {**first["pages"], "new": 0, "changed": 1, "unchanged": 1}
    assert again["hosts"] == [{"host": site.host, "pages": 2}]
    assert again["rounds"][0]["fetched"] == 2


def test_a_run_that_has_changed_little_says_that_it_has_not_ranked_and_when_one_will(
    crawlctl: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rank_due, "SMALL_CRAWL", 0)
    Path("crawl.yaml").write_text(SETTINGS + AT_ONCE)
    with serving(1) as (site,):
        paths = [f"/{number}" for number in range(20)]
        for path in paths:
            site.page(path)
        seed(*map(site.url, paths))
        first = crawlctl.json("run", "--seed", "seed.txt")
        assert (first["ranked"], first["why_ranked"]) == (True, "the pages have no ranks yet")
        site.page("/3", text="all other words than before")
        time.sleep(1.1)
        said = " ".join(crawlctl("run").split())
        assert "not ranked: 1 page (5 %) changed since" in said and "--rank now` at once" in said
        status = crawlctl.json("status")
        assert (status["rank_due"], status["ranks"]["pages"], status["ranks"]["ranked_round"]) == (
            False,
            1,
            1,
        )
        assert "ranks made after round 1, " in " ".join(crawlctl("status").split())
        assert "round 2: not ranked: 1 page" in " ".join(crawlctl("status", "--history").split())
        site.page("/4", text="quite other words than ever before")
        time.sleep(1.1)
        assert crawlctl.json("run", "--rank", "off")["why_ranked"] == "not ranked: `--rank off`"
        time.sleep(1.1)
        assert crawlctl.json("run", "--rank", "now")["ranked"]
        assert crawlctl.json("status")["ranks"]["rounds"] == 0
        remarks = [row["remark"] for row in crawlctl.json("status", "--history")]
        assert "ranked: `--rank now`" in remarks


def test_json_has_everything_under_names_that_stay(crawlctl: Shell) -> None:
    with site_of_all_kinds() as site:
        seed(site.url())
        report = crawlctl.json("run", "--seed", "seed.txt", "--iterations", "2")
    assert set(report) == {
        *("rounds", "pages", "bytes", "failures", "hosts", "pages_of_other_hosts", "left", "due", "next_due"),
        *("earlier", "open_round", "ranked", "why_ranked", "next"),
    }
    assert report["pages"] == {
        **{"new": 3, "changed": 0, "unchanged": 0, "redirected": 1, "gone": 1, "forbidden": 1, "excluded": 1},
        **{"failed": 1, "not_asked": 0},
    }
    assert report["failures"] == {"status 500": 1}
    assert report["bytes"] > 0
    assert [one["round"] for one in report["rounds"]] == [1, 2]
    assert report["left"] == {"urls": 0, "hosts": []}
    assert set(report["due"]) == {"now", "day", "week"}


def test_pages_of_many_hosts_are_summed_up_and_fit_a_narrow_terminal(
    crawlctl: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", NARROW)
    with serving(12) as sites:
        for number, site in enumerate(sites):
            site.page("/", *(f"/{page}" for page in range(12 - number)))
        for site in sites[:1]:
            site.page("/0")
        seed(*(site.url() for site in sites))
        lines = crawlctl("run", "--seed", "seed.txt", "--iterations", "2").splitlines()
        status = crawlctl("status").splitlines()
    assert all(columns(line) <= int(NARROW) for line in (*lines, *status))
    words = [line.split() for line in lines]
    assert ["2", "more", "hosts", "2"] in words
    assert sum(len(line) == 2 and line[0].startswith("127.0.0.1:") for line in words) == 10


def test_a_round_cut_by_a_limit_says_which_limit_and_how_much_is_due(
    crawlctl: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(1) as (site,):
        site.page("/", *(f"/{number}" for number in range(5)))
        for number in range(5):
            site.page(f"/{number}")
        seed(site.url())
        crawlctl("run", "--seed", "seed.txt")
        assert run(["run", "--pages", "2"]) == 0
        said = capsys.readouterr()
        lines = said.err.splitlines()
        assert "round 2 ended at round.max_pages (2); 3 URLs are still due" in lines
        # The next page may be asked for only after the end of the round, so the task ends early.
        assert run(["--set", "politeness.delay=30s", "run", "--time", "10s"]) == 0
        lines = capsys.readouterr().err.splitlines()
    early = "round 3 ended: no host may be asked before round.max_time (10s) is over; 2 URLs are still due"
    assert early in lines
    assert "3 URLs are due now" in said.out
    assert said.out.splitlines()[-1] == "next: crawlctl run"


def test_a_round_that_only_waits_for_slow_hosts_says_so(
    crawlctl: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(2) as (slow, quick):
        paths = [f"/{number}" for number in range(20)]
        for path in paths:
            slow.page(path)
            slow.resources[path].seconds = 0.3
        quick.page("/", "/new")
        quick.page("/new")
        seed(*map(slow.url, paths), quick.url())
        assert run(["--set", "round.tail=100ms", "run", "--seed", "seed.txt", "--iterations", "2"]) == 0
        said = capsys.readouterr().err
    assert re.search(
        r"^round 1 ended: it only waited for slow or failing hosts \(round\.tail\); \d+ URLs are still due$",
        *(said, re.M),
    ), said


def test_a_run_that_leaves_nothing_to_search_names_the_list_of_errors(crawlctl: Shell) -> None:
    with serving(1) as (site,):
        seed(site.url("/missing"))
        assert crawlctl("run", "--seed", "seed.txt").splitlines()[-1] == "next: crawlctl errors"


def test_a_seed_that_redirects_outside_the_scope_is_told_with_the_command_that_crawls_it(
    crawlctl: Shell,
) -> None:
    with serving(2) as (moved, there):
        moved.redirect("/", there.url())
        there.page("/")
        crawlctl("run", moved.url())
        assert f"{moved.url()} redirects to {there.url()}, which is outside the scope (scope.include: no" in (
            crawlctl.said
        )
        (command,) = re.findall(r"to crawl it, type `crawlctl (run [^`]+)`", crawlctl.said)
        crawlctl(*command.split())
        assert "redirects" not in crawlctl.said
        assert crawlctl("query", "--urls", "page").split() == [there.url()]


def test_a_host_in_trouble_stands_in_the_summary_and_in_the_status(
    crawlctl: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", NARROW)
    with serving(1) as (gone,):
        dead = gone.host
    with serving(1) as (site,):
        site.page("/")
        seed(site.url(), f"http://{dead}/")
        lines = crawlctl("run", "--seed", "seed.txt").splitlines()
        status = crawlctl("status").splitlines()
        (trouble,) = crawlctl.json("status")["trouble"]
    assert any(line.startswith(f"{dead}: 1 URL was not asked") for line in lines)
    assert next(after for line, after in pairwise(status) if "hosts with trouble" in line).startswith(
        f"{dead}: "
    )
    assert all(columns(line) <= int(NARROW) for line in (*lines, *status))
    assert (trouble["host"], trouble["urls"]) == (dead, 1)
    assert trouble["reason"] and trouble["not_before"] > time.time() - 60


def test_one_url_and_one_page_are_singular(crawlctl: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(1) as (site,):
        site.page("/")
        seed(site.url())
        assert run(["run", "--seed", "seed.txt"]) == 0
        said = capsys.readouterr().err
        status = crawlctl("status")
    assert "injected 1 new URL\n" in said
    assert "round 1, fetch: 1 page\n" in said and "1/1 page in" in said
    assert "on 1 host\n" in status and "searchable   1 page," in status
    assert "nobody" not in status


def test_a_crawl_without_urls_names_the_command_that_adds_some(crawlctl: Shell) -> None:
    crawlctl("init")
    lines = crawlctl("run").splitlines()
    assert lines[-1] == "next: crawlctl inject FILE"


def test_the_next_command_names_the_store_that_was_given(crawlctl: Shell) -> None:
    crawlctl("init", "--store", "my crawl")
    assert (
        crawlctl("run", "--store", "my crawl").splitlines()[-1]
        == "next: crawlctl inject FILE --store 'my crawl'"
    )
