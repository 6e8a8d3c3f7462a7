"""The rest of a newcomer's first hour: hosts that misbehave, slips of the keyboard, damage, Ctrl-C.

Each time the reason is in what is printed, with what to type next, and in the exit code.
"""

from __future__ import annotations

import shutil
import socket
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from crawlctl.tests.first_hour.new_user import CONTACT, NOTHING_FETCHED, NewUser
from crawlctl.tests.pipeline.fetch.site import Resource, Site, serving
from crawlctl.tests.pipeline.store.local.small_disk import enlarge, small_disk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawlctl.pipeline.demo.web import DemoWeb

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
PAGES = 30  # of a host whose run is stopped halfway


@pytest.fixture
def bad_site() -> Iterator[Site]:
    """A host with a good page, and with pages that are not there, forbidden, broken or not ours to read."""
    with serving(1) as (site,):
        site.text("/robots.txt", "User-agent: *\nDisallow: /private")
        bad = ("/missing", "/forbidden", "/broken", "/private/page", "/round", "/picture", "/hanging")
        site.page("/", "/good", *bad)
        site.page("/good", text="the only good page of this host")
        site.resources["/forbidden"] = Resource(b"no", 403)
        site.resources["/broken"] = Resource(b"oops", 500)
        site.resources["/hanging"] = Resource(status=204, seconds=3)
        site.redirect("/round", "/round")
        site.resources["/picture"] = Resource(b"\x89PNG", headers={"Content-Type": "image/png"})
        yield site


@contextmanager
def closed_port() -> Iterator[str]:
    """A host of loopback at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{taken.getsockname()[1]}"


def flip_a_bit(crawl: Path, pattern: str) -> str:
    """Damage the largest of the files of the newest round with this name; return its name in the store."""
    files = sorted(path for path in crawl.glob(pattern) if path.is_file())
    newest = max(int(path.relative_to(crawl).parts[2].partition("-")[0]) for path in files)
    of_newest = [path for path in files if path.relative_to(crawl).parts[2].startswith(f"{newest:08}-")]
    part = max(of_newest, key=lambda path: path.stat().st_size)
    damaged = bytearray(part.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    part.write_bytes(damaged)
    return str(part.relative_to(crawl))


def test_pages_that_fail_have_their_reason_everywhere(shell: NewUser, bad_site: Site) -> None:
    shell(CONTACT)
    ran = shell(f"crawlctl run {bad_site.url()} --set fetch.timeout=1s")
    assert "pages fetched 2 " in ran, "a page that is not there is not fetched"
    assert "gone 1 status 404 or 410 forbidden 2 by the host or its robots.txt kept out 1 " in ran
    assert "failed 3 1 with other errors, 1 with status 500, 1 with timeout; `crawlctl errors`" in ran
    assert "/good" in bad_site.asked, "one hanging page does not end a crawl"
    reasons = {
        "/missing": "gone status 404",
        "/forbidden": "forbidden status 403",
        "/broken": "failing status 500",
        "/private/page": "forbidden robots.txt: Disallow: /private",
        "/picture": "unwanted type: image/png is not downloaded (fetch.skip_types)",
        "/round": "failing it redirects to itself",
        "/hanging": "failing timeout: ",
    }
    errors = shell("crawlctl errors")
    for path, reason in reasons.items():
        assert reason in errors
        last = reason.partition(" ")[2]
        assert last in shell(f"crawlctl explain {bad_site.url(path)}"), path
    assert "7 pages with an error among 9 pages" in errors
    assert "hosts with trouble (1 with " in shell("crawlctl status")
    assert "no seed names it, and no page fetched so far led to it" in shell(
        f"crawlctl explain {bad_site.url('/other')}"
    )
    assert "the only good page" in shell("crawlctl query only good")


def test_a_host_that_refuses_connections(shell: NewUser) -> None:
    shell(CONTACT)
    with closed_port() as host:
        ran = shell(f"crawlctl run http://{host}/", code=NOTHING_FETCHED)
    assert f"{host}: 1 URL was not asked for: robots.txt did not answer" in ran
    assert f"crawlctl: nothing was fetched: no connection to the host could be made ({host}: Failed" in ran
    assert "check that a web server runs at this name and port" in ran and "1 URL is due now" in ran
    assert "hosts with trouble (1 with refused)" in shell("crawlctl status")
    assert f"{host} 0 1 - robots.txt did not answer; " in shell("crawlctl errors")
    assert "Could not connect to server" in shell("crawlctl hosts")


@pytest.mark.integration
def test_a_name_that_does_not_exist(shell: NewUser) -> None:
    shell(CONTACT)
    ran = shell("crawlctl run http://nothing.invalid/", code=NOTHING_FETCHED)
    assert "nothing was fetched: the name of the host could not be looked up (DNS) (nothing.invalid: " in ran
    assert "check the name, and that this machine is online" in ran


def test_a_private_address_can_be_allowed(shell: NewUser, bad_site: Site) -> None:
    shell(CONTACT)
    shell("unset CRAWLCTL_FETCH_ALLOWED_NETWORKS")
    ran = shell(f"crawlctl run {bad_site.url('/good')}", code=NOTHING_FETCHED)
    assert "nothing was fetched: the address of the host is private" in ran
    remedy = "--set 'fetch.allowed_networks=[127.0.0.1]'"
    assert f"add {remedy} to the same command" in ran and bad_site.asked == []
    assert "pages fetched 1 " in shell(f"crawlctl run {bad_site.url('/good')} {remedy}")


@pytest.mark.integration
def test_a_proxy_that_is_not_there(shell: NewUser) -> None:
    shell(CONTACT)
    with closed_port() as proxy:
        ran = shell(f"crawlctl run http://example.org/ --proxy http://{proxy}", code=NOTHING_FETCHED)
    assert "nothing was fetched: the proxy could not be used (example.org: " in ran
    assert "check the value of fetch.proxy (`crawlctl config` shows it) and that the proxy runs" in ran


@pytest.mark.integration
def test_a_host_with_errors_only(shell: NewUser, bad_site: Site) -> None:
    shell(CONTACT)
    ran = shell(f"crawlctl run {bad_site.url('/broken')}", code=NOTHING_FETCHED)
    assert f"nothing was fetched: the host answered with status 500 ({bad_site.host}: status 500)" in ran
    bad_site.text("/robots.txt", "", 500)
    ran = shell(f"crawlctl run {bad_site.url('/good')} --store second", code=NOTHING_FETCHED)
    assert "nothing was fetched: robots.txt could not be read, so nothing of the host may be fetched" in ran
    assert "the host is left alone until 20" in ran


@pytest.mark.integration
def test_a_host_that_goes_down_keeps_its_pages(shell: NewUser) -> None:
    shell(CONTACT)
    with serving(1) as (site,):
        site.page("/", text="lasting words")
        shell(f"crawlctl run {site.url()}")
    shell(f"crawlctl refresh {site.host}")
    ran = shell("crawlctl run", code=NOTHING_FETCHED)
    assert "failed 1 1 with refused; `crawlctl errors` lists it" in ran
    assert f"nothing was fetched: no connection to the host could be made ({site.host}: " in ran
    explained = shell(f"crawlctl explain {site.url()}")
    assert "new or changed; the last try failed (refused: " in explained
    assert site.url() in shell("crawlctl query lasting words")


def test_ctrl_c_and_the_run_after_it(shell: NewUser, bad_site: Site) -> None:
    shell(CONTACT)
    paths = [f"/page{number}" for number in range(PAGES)]
    bad_site.page("/list", *paths)
    for path in paths:
        bad_site.page(path)
        bad_site.resources[path].seconds = 0.05
    stopped = shell.stops(f"crawlctl run {bad_site.url('/list')}", lambda: len(bad_site.asked) > PAGES / 3)
    assert "round 2 is not finished; " in stopped and " pages of it are saved" in stopped
    assert "next: crawlctl run (1 of its 2 rounds is left)" in stopped
    assert stopped.endswith("stopped; everything that was saved is kept: run the same command to go on")
    assert "round 2 was begun and not finished, " in shell("crawlctl status")
    ran = shell("crawlctl run")
    assert "1 of the 2 rounds of an interrupted run is left, and is run now" in ran
    assert "round 2: continuing where the last run stopped" in ran
    assert f"round 2, fetch: {PAGES}/{PAGES} pages" in ran
    assert "an earlier run had already saved " in ran
    asked = Counter(bad_site.pages_asked())
    assert asked.keys() == {"/list", *paths}
    assert asked.total() <= PAGES + 2, (
        "every page once, but for the one that was under way when it was stopped"
    )


@pytest.mark.parametrize(
    "kind", ["webdb/*/*/data", pytest.param("segments/*/*/postings", marks=pytest.mark.integration)]
)
def test_damage_is_found_and_repaired(shell: NewUser, crawl: Path, kind: str) -> None:
    assert shell("crawlctl check").endswith("all sound")
    before = shell("crawlctl query --urls --limit 100 '*'")
    name = flip_a_bit(crawl, kind)
    checked = shell("crawlctl check", code=1)
    assert f"{name}: it is damaged: its SHA-256 is not the one in its manifest" in checked
    assert "repair the crawl with `crawlctl check --repair" in checked
    repaired = shell("crawlctl check --repair")
    assert "has these files again, or does without them" in repaired
    assert shell("crawlctl check").endswith("all sound")
    assert sorted(shell("crawlctl query --urls --limit 100 '*'").split()) == sorted(before.split())


@pytest.mark.integration
def test_a_query_over_a_file_that_is_gone_says_so(shell: NewUser, crawl: Path) -> None:
    shell("rm crawl/segments/*/*/postings")
    assert "crawlctl check --repair" in shell("crawlctl query event loop", code=1)
    assert "nothing was lost" in shell("crawlctl check --repair")
    assert "asyncio.events" in shell("crawlctl query event loop")


def test_gc_makes_room_on_a_disk_without_a_free_byte(shell: NewUser, web: DemoWeb, tmp_path: Path) -> None:
    shell(CONTACT)
    site = web.sites[1]
    with small_disk(tmp_path / "disk", "1m") as disk:
        ran = shell(f"crawlctl run {site.url} --store disk/crawl", code=1)
        assert "could not be saved and are due again: " in ran
        assert "No space left on device; free some space there, run `crawlctl gc --store " in ran
        shell("cat /dev/zero > disk/filler", code=1)
        assert shutil.disk_usage(disk).free == 0
        assert "deleted 1 snapshot, " in shell("crawlctl gc --store disk/crawl --min-age 0s")
        assert shutil.disk_usage(disk).free > 0
        (disk / "filler").unlink()
        enlarge(disk, "64m")
        assert f"pages fetched {site.pages - 1} " in shell("crawlctl run --store disk/crawl")
        assert len(shell("crawlctl query --urls --limit 100 --store disk/crawl '*'").split()) == site.pages


@pytest.mark.integration
def test_slips_of_the_keyboard(shell: NewUser, crawl: Path, web: DemoWeb) -> None:
    shell("printf 'example.org\\nhttp//slip.example\\n' > seed.txt")
    assert "line 2" in shell("crawlctl inject seed.txt", code=2)
    assert "politeness.delay must be a duration" in shell(
        "crawlctl status --set politeness.delay=soon", code=2
    )
    assert "did you mean scope.max_depth?" in shell("crawlctl config set scope.max_dept=1", code=2)
    assert "holds no crawl" in shell("crawlctl status --store nowhere", code=1)
    assert "did you mean --limit?" in shell("crawlctl query -n 3 event", code=2)
    assert "give WARC or ARC files" in shell("crawlctl import-warc seed.txt", code=1)
    shell("unset CRAWLCTL_FETCH_CONTACT")
    assert "fetch.contact is not set" in shell("crawlctl schedule add", code=2)
