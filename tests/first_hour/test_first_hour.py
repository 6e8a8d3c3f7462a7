"""A newcomer's first hour: run, search, look around, change the rules; what is printed is asserted.

Everything is typed into a shell, on the demo web. Most chapters begin with a copy of a finished crawl of one
host, so that they do not depend on each other. test_things_that_break.py has the rest of the hour.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from crawlctl.tests.first_hour.new_user import CONTACT, NewUser
from crawlctl.tests.first_hour.terminal import END_OF_INPUT

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.demo.web import DemoWeb

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
NOTHING_IS_DUE = "nothing is due now; the next URL falls due at "


@pytest.fixture
def events(web: DemoWeb) -> str:
    """A page that can be found with the words `event loop`."""
    return f"{web.sites[1].url}asyncio.events.html"


def found(shell: NewUser, words: str, store: str = "crawl") -> list[str]:
    return shell(f"crawlctl query --urls --limit 100 --store {store} {words}").split()


def current_snapshot(shell: NewUser) -> int:
    (number,) = re.findall(r"snapshot (\d+)", shell("crawlctl status"))
    return int(number)


def test_installed(shell: NewUser) -> None:
    assert shell("crawlctl version").startswith("crawlctl ")
    assert shell("crawlctl --version").startswith("crawlctl ")
    assert "crawlctl run https://" in shell("crawlctl")
    assert shell("crawlctl help run") == shell("crawlctl run --help")
    assert "holds no crawl; start one with `crawlctl run https://" in shell("crawlctl query event", code=1)
    assert "no command `qeury`; did you mean query?" in shell("crawlctl qeury event loop", code=2)


def test_a_first_run_and_a_first_search(shell: NewUser, web: DemoWeb) -> None:
    site = web.sites[1]
    refused = shell(f"crawlctl run {site.url}", code=2)
    assert "fetch.contact is not set" in refused and "add --contact mailto:you@example.org" in refused
    ran = shell(f"crawlctl run {site.url} --contact mailto:you@example.org --time 1min")
    assert "making a crawl of 4 partitions in " in ran
    # Two rounds are enough: the second has fetched all pages that the first page links to.
    assert f"pages fetched {site.pages} " in ran and f" new {site.pages} " in ran
    assert f"host pages --------------- ----- {site.host} {site.pages} " in ran
    assert NOTHING_IS_DUE in ran and ran.endswith("next: crawlctl query WORDS")
    status = shell("crawlctl status --due")
    assert f"searchable {site.pages} pages, " in status and NOTHING_IS_DUE in status
    assert "asyncio.events" in shell("crawlctl query event loop")


@pytest.mark.integration
def test_a_run_is_as_small_as_its_flags_say(shell: NewUser, web: DemoWeb) -> None:
    shell(CONTACT)
    site = web.sites[1]
    ran = shell(f"crawlctl run {site.url} --include '{site.url}asyncio*' --depth 1 --pages 5", code=2)
    assert f"{site.url} is outside the scope: it matches no rule of scope.include ({site.url}asyncio*)" in ran
    ran = shell(f"crawlctl run {site.url} --include '{site.url}*' --exclude '*/a*' --depth 1 --pages 5")
    assert " 1 1 1 0 0 " in ran and " 2 5 5 0 0 " in ran, "a page in round 1, five in round 2"
    assert " URLs are due now" in ran and ran.endswith("next: crawlctl run")
    assert "/asyncio" not in shell("crawlctl pages --all")


def test_searching(shell: NewUser, crawl: Path, events: str) -> None:
    first = shell("crawlctl query --limit 1 asyncio events policy")
    assert events in first and "1–1 shown; " in first
    assert events in found(shell, """'"event loop policy"'""")
    assert events not in found(shell, "'event loop -policy'")
    asked = shell("crawlctl query", answers=f"event loop\n{END_OF_INPUT}")
    assert events in asked
    assert "did you mean" in shell("crawlctl query functon").lower()
    assert shell("crawlctl query event loop | head -1").startswith("1. Python")
    assert "asyncio.events" in shell("LC_ALL=C crawlctl query event loop")


def test_looking_around(shell: NewUser, crawl: Path, web: DemoWeb, events: str) -> None:
    site = web.sites[1]
    assert re.search(rf"fetched 200 [-0-9 :]+ {events}", shell("crawlctl pages --all"))
    assert shell("crawlctl pages --status gone") == (
        f"no page to show (status gone); {site.pages} pages known: {site.pages} fetched"
    )
    assert f"{site.host} {site.pages} {site.pages} 0 0 rules" in shell("crawlctl hosts")
    assert shell("crawlctl errors") == f"0 pages with an error among {site.pages} pages nothing failed"
    shown = shell(f"crawlctl show {events}")
    assert shown.startswith(f"Python: asyncio.events: Event loop and event loop policy. {events} visited ")
    assert "HTTP/1.1 200 OK Server: crawlctl-demo" in shell(f"crawlctl show --headers {events}")
    assert f"1–10 shown; {site.pages} pages match" in shell("crawlctl query '*'")
    assert "why fetched at 20" in shell(f"crawlctl explain {events}")


def test_a_narrower_scope_counts_at_once_and_a_wider_one_too(
    shell: NewUser, crawl: Path, web: DemoWeb, events: str
) -> None:
    site = web.sites[1]
    others = site.pages - 1
    narrowed = shell("crawlctl config set scope.max_depth=0")
    assert f"scope.max_depth of this crawl is now 0 (was 20); {others} pages have left search" in narrowed
    assert found(shell, "'*'") == [site.url]
    assert "scope.max_depth" in shell(f"crawlctl explain {events}")
    widened = shell("crawlctl config set scope.max_depth=5")
    assert f"scope.max_depth of this crawl is now 5 (was 0); {others} URLs are due now" in widened
    assert f"pages fetched {others} " in shell("crawlctl run")
    assert events in found(shell, "event loop")
    shell("crawlctl config set 'scope.exclude=[\"*/asyncio*\"]'")
    assert not [url for url in found(shell, "event loop") if "asyncio" in url]
    assert "scope.exclude" in shell("crawlctl config set scope.exclude=")
    nothing = shell("crawlctl config set scope.max_path_segments=19")
    assert nothing.endswith("(was 20); no page has left search, and no URL is due because of it")
    assert "scope.max_depth 5 the crawl" in shell("crawlctl config")


def test_the_settings_of_a_crawl_can_be_edited(shell: NewUser, crawl: Path, web: DemoWeb) -> None:
    shell("printf '%s\\n' '#!/bin/sh' 'sed -i s/^#scope.max_depth:.*/scope.max_depth:\\ 0/ \"$1\"' > editor")
    edited = shell("chmod +x editor; EDITOR=./editor crawlctl config edit")
    assert "scope.max_depth of this crawl is now 0 (was 20); " in edited and "left search; undo: " in edited
    assert found(shell, "'*'") == [web.sites[1].url]
    assert "the text has no changes, so the crawl stays as it is" in shell("EDITOR=true crawlctl config edit")


def test_a_crawl_is_the_same_from_another_folder(
    shell: NewUser, crawl: Path, web: DemoWeb, tmp_path: Path
) -> None:
    shell("mkdir other && cd other && echo 'scope: {include: [example.org]}' > crawl.yaml")
    shell(f"crawlctl refresh {web.sites[1].url} --store ../crawl")
    ran = shell("crawlctl run --store ../crawl")
    named = (
        "crawl.yaml: scope.include is [example.org], but the crawl's own setting is [], which counts; to "
        "change it: crawlctl config set --store ../crawl 'scope.include=[example.org]'"
    )
    assert 0 <= ran.index(named) < ran.index("round 3, fetch:"), "before anything is fetched"
    assert " unchanged " in ran
    assert len(found(shell, "'*'", "../crawl")) == web.sites[1].pages


def test_forgetting_and_rolling_back(shell: NewUser, crawl: Path, events: str) -> None:
    before = current_snapshot(shell)
    would = shell(f"crawlctl forget {events} --dry-run")
    assert f"would remove 1 page from search, such as: {events} nothing was changed" in would
    assert events in found(shell, "event loop") and current_snapshot(shell) == before
    forgotten = shell(f"crawlctl forget {events}")
    assert "removed 1 page from search" in forgotten and f"undo: crawlctl rollback {before}" in forgotten
    assert events not in found(shell, "event loop")
    assert f"scope.forgotten: the rule url:{events}" in shell(f"crawlctl explain {events}")
    listed = shell("crawlctl rollback")
    assert f"forget {events} (current)" in listed
    back = shell(f"crawlctl rollback {before}")
    assert f"the crawl is what it was in snapshot {before}; this is snapshot {before + 2}" in back
    assert events in found(shell, "event loop")


@pytest.mark.integration
def test_what_is_forgotten_for_good_does_not_come_back(shell: NewUser, crawl: Path, web: DemoWeb) -> None:
    site = web.sites[1]
    assert "pages from search" in shell(f"crawlctl forget '{site.url}asyncio*'")
    shell("crawlctl gc")
    shell(f"crawlctl refresh {site.url}")
    shell("crawlctl run --until-empty")
    assert not [url for url in found(shell, "'*'") if "asyncio" in url]
    shown = shell(f"crawlctl show {site.url}asyncio.events.html", code=1)
    assert "is forgotten (scope.forgotten: the rule" in shown


def test_refreshing(shell: NewUser, crawl: Path, web: DemoWeb, events: str) -> None:
    assert NOTHING_IS_DUE in shell("crawlctl run")
    assert "due now: 1 URL; `crawlctl run` visits" in shell(f"crawlctl refresh {events}")
    assert "due 1 URL is due now" in shell("crawlctl status")
    ran = shell("crawlctl run")
    assert "pages fetched 1 " in ran and " unchanged 1 " in ran and NOTHING_IS_DUE in ran
    unknown = shell(f"crawlctl refresh {web.sites[2].host}", code=1)
    assert "crawlctl inject" in unknown


@pytest.mark.integration
def test_pages_of_an_archive_stay_when_the_crawl_runs(
    shell: NewUser, crawl: Path, web: DemoWeb, events: str
) -> None:
    shell("cat crawl/pages/*/*.warc.gz > old.warc.gz")
    imported = shell("crawlctl import-warc old.warc.gz --store second")
    assert "making a crawl" in imported and f"pages {web.sites[1].pages} " in imported
    assert events in found(shell, "event loop", "second")
    ran = shell(f"crawlctl run {web.sites[0].url} --store second --depth 0")
    assert "pages fetched 1 " in ran
    assert len(found(shell, "'*'", "second")) == web.sites[1].pages + 1
    ran = shell(f"crawlctl run {web.sites[1].url} --store second --depth 1")
    let_in = "known URLs are due now, because a seed has brought a new host into the scope"
    assert f"{web.sites[1].pages} {let_in}" in ran
    assert f"{web.sites[1].host} {web.sites[1].pages} " in ran


@pytest.mark.integration
def test_keeping_it_fresh(shell: NewUser, crawl: Path, tmp_path: Path) -> None:
    line = shell("crawlctl schedule add --every 1d --until-empty")
    assert line == " ".join((tmp_path / ".table").read_text().split())
    assert "nothing is due; the next URL is due at " in shell("crawlctl run")
    assert "cron no longer runs" in shell("crawlctl schedule remove")
