"""What goes wrong on the network is named: by the run, its exit code, `explain` and `dump hosts`."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.cli import run
from crawlctl.pipeline.fetch.failure_words import in_words
from crawlctl.tests.pipeline.fetch.site import Resource, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlctl.tests.pipeline.fetch.site import Site

NOTHING_FETCHED = 3
SECRET = "wordofpass"
ALLOWED = "fetch.allowed_networks=[127.0.0.1]"
QUICK = (
    "fetch.contact=a@example.org",
    "partitions=2",
    "runner.name=inline",
    "rank.every=null",
    "fetch.connect_timeout=3s",
    "fetch.timeout=3s",
    "politeness.delay=0",
    "politeness.response_factor=0",
    "politeness.backoff=100ms",
    "politeness.robots_tries=1",
)


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(1) as (one,):
        yield one


def settings(*more: str) -> list[str]:
    return [part for setting in (*QUICK, *more) for part in ("--set", setting)]


def seeded(*urls: str) -> list[str]:
    Path("seed.txt").write_text("".join(f"{url}\n" for url in urls))
    return ["run", "--seed", "seed.txt", "--iterations", "1"]


@contextmanager
def closed_port() -> Iterator[int]:
    """A port of loopback at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@contextmanager
def silent_port() -> Iterator[int]:
    """A port of loopback that accepts connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def reason_in(shell: Any, url: str) -> str:
    """Return the reason of the host of a URL, and make sure that all commands know it."""
    (state,) = (record["value"] for record in hosts(shell))
    explained = shell.json("explain", url)
    assert explained["host"]["reason"] == state["reason"] and in_words(state["reason"]) in explained["why"]
    assert in_words(state["reason"]) in shell("explain", url)
    assert state["left"] == 1
    assert shell.json("status")["failing_hosts"] == {state["reason"].partition(":")[0]: 1}
    return str(state["reason"])


def hosts(shell: Any) -> list[Any]:
    return [json.loads(line) for line in shell("dump", "hosts", "--json").splitlines()]


def test_a_private_address_is_named_with_the_setting_that_allows_it(shell: Any, site: Site) -> None:
    site.page("/")
    said = shell(*settings(), *seeded(site.url()), code=NOTHING_FETCHED)
    assert "nothing was fetched: the address of the host is private (" in said
    assert "add --set 'fetch.allowed_networks=[127.0.0.1]' to the same command" in said
    assert reason_in(shell, site.url()).startswith("forbidden_address: ")
    shell(*settings(ALLOWED), *seeded(site.url()))  # at once: the page has not been blamed
    assert site.pages_asked() == ["/"]


@pytest.mark.slow
def test_pages_of_a_private_address_beside_others_come_after_the_command_that_is_named(
    shell: Any, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    site.page("/")
    with serving(1, "127.0.0.2") as (private,):
        private.page("/")
        assert run([*settings(ALLOWED), *seeded(site.url(), private.url())]) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert "127.0.0.2 is not public (loopback); to crawl it, add it to fetch.allowed_networks" in said
        typed = re.search(r"then type `crawlctl (refresh [\d.:]+)`", said)[1]  # type: ignore[index]
        assert typed == f"refresh {private.host}"
        shell(*typed.split())
        shell(*settings("fetch.allowed_networks=[127.0.0.0/8]"), "run", "--iterations", "1")
        assert private.pages_asked() == ["/"]


@pytest.mark.slow
def test_a_name_that_dns_does_not_know(shell: Any) -> None:
    url = "http://nothing.invalid/"
    said = shell(*settings(), *seeded(url), code=NOTHING_FETCHED)
    assert "the name of the host could not be looked up (DNS) (nothing.invalid: " in said
    assert "check the name, and that this machine is online; then type `crawlctl run` again" in said
    assert reason_in(shell, url).startswith("dns: ")


def test_a_host_that_refuses_connections(shell: Any, site: Site) -> None:
    with closed_port() as port:
        url = f"http://127.0.0.1:{port}/"
        said = shell(*settings(ALLOWED), *seeded(url), code=NOTHING_FETCHED)
    assert "nothing was fetched: no connection to the host could be made (127.0.0.1:" in said
    assert reason_in(shell, url).startswith("refused: ")


def test_a_host_that_speaks_no_tls(shell: Any, site: Site) -> None:
    url = f"https://{site.host}/"
    said = shell(*settings(ALLOWED), *seeded(url), code=NOTHING_FETCHED)
    assert "nothing was fetched: the TLS connection to the host failed (" in said
    assert "--set fetch.tls_verify=false" in said
    assert next(record["value"]["reason"] for record in hosts(shell)).startswith("tls: ")


def test_a_host_that_never_answers(shell: Any) -> None:
    with silent_port() as port:
        command = [*settings(ALLOWED, "fetch.timeout=500ms"), *seeded(f"http://127.0.0.1:{port}/")]
        said = shell(*command, code=NOTHING_FETCHED)
    assert "nothing was fetched: the host did not answer in time (127.0.0.1:" in said
    assert "--set fetch.timeout=2min" in said
    assert next(record["value"]["reason"] for record in hosts(shell)).startswith("timeout: ")


def test_a_proxy_that_is_down_is_named_without_its_password(shell: Any) -> None:
    with closed_port() as port:
        proxy = f"fetch.proxy=http://name:{SECRET}@127.0.0.1:{port}"
        said = shell(*settings(proxy), *seeded("http://example.org/"), code=NOTHING_FETCHED)
        explained = shell("explain", "http://example.org/")
    assert "nothing was fetched: the proxy could not be used (example.org: " in said
    assert "check the value of fetch.proxy (`crawlctl config` shows it)" in said
    assert reason_in(shell, "http://example.org/").startswith("proxy: ")
    dumped = shell("dump", "hosts", "--json")
    assert not any(SECRET in text for text in (said, explained, dumped))
    everything = b"".join(path.read_bytes() for path in Path("crawl").rglob("*") if path.is_file())
    assert SECRET.encode() not in everything


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_asks_for_a_password_is_not_taken_for_the_host(shell: Any, scheme: str) -> None:
    url = f"{scheme}://one.example/"
    with serving(1) as (proxy,):
        # What the proxy is asked for: whole URLs over http, tunnels over https.
        for asked in (url, f"{url}robots.txt", "one.example:443"):
            proxy.resources[asked] = Resource(b"", 407, {"Proxy-Authenticate": "Basic"})
        said = shell(
            *(*settings(), *seeded(url), "--proxy", f"http://{proxy.host}"),
            code=NOTHING_FETCHED,
        )
    why = "the proxy asks for a name and a password (status 407)"
    assert f"nothing was fetched: the proxy could not be used (one.example: {why})" in said
    assert "check the value of fetch.proxy" in said
    assert reason_in(shell, url).startswith(f"proxy: {why}; write them into fetch.proxy")


@pytest.mark.slow
def test_pages_come_through_a_proxy_that_the_command_names(shell: Any) -> None:
    with serving(1) as (proxy,):
        # A proxy is asked for whole URLs; only it knows these names.
        for host in ("http://one.example", "http://two.example"):
            proxy.text(f"{host}/robots.txt", "")
            proxy.page(f"{host}/", f"{host}/more")
            proxy.page(f"{host}/more")
        seeds = seeded("http://one.example/", "http://two.example/")[:-2]
        shell(*settings(), *seeds, "--iterations", "2", "--proxy", f"http://{proxy.host}")
    paths = {
        f"http://{name}.example{path}" for name in ("one", "two") for path in ("/robots.txt", "/", "/more")
    }
    assert paths == set(proxy.asked)
    assert shell.json("status")["statuses"] == {"fetched": 4}


def test_a_robots_txt_that_cannot_be_read(shell: Any, site: Site) -> None:
    site.text("/robots.txt", "", 503)
    said = shell(*settings(ALLOWED), *seeded(site.url()), code=NOTHING_FETCHED)
    assert "robots.txt could not be read, so nothing of the host may be fetched (" in said
    assert "; the host is left alone until 20" in said and "politeness.robots_retry" in said
    until = re.search(r"the host is left alone until ([\d: -]+) UTC", said)[1]  # type: ignore[index]
    assert f"left alone until {until}" in " ".join(shell("status").split())
    assert f"not to be asked before {until}" in shell("explain", site.url())
    assert f"not asked before {until[:-3]}" in shell("hosts") and f"  {until[:-3]}  " in shell("errors")
    state = hosts(shell)[0]["value"]
    assert state["reason"] == "robots: robots.txt answered with status 503"
    assert "robots: " not in shell("errors") + shell("hosts") + shell("status")
    assert "robots.txt answered with status 503" in shell("explain", site.url())


def test_a_robots_txt_that_forbids_everything(shell: Any, site: Site) -> None:
    site.text("/robots.txt", "User-agent: *\nDisallow: /")
    said = shell(*settings(ALLOWED), *seeded(site.url()), code=NOTHING_FETCHED)
    assert "nothing was fetched: robots.txt forbids it; `crawlctl explain URL` shows the line" in said


def test_pages_that_all_fail_are_no_success(shell: Any, site: Site) -> None:
    site.text("/a", "", 500)
    site.text("/b", "", 500)
    said = shell(*settings(ALLOWED), *seeded(site.url("/a"), site.url("/b")), code=NOTHING_FETCHED)
    assert "nothing was fetched: the host answered with status 500 (" in said


@pytest.mark.slow
def test_pages_that_are_gone_or_unchanged_are_success(shell: Any, site: Site) -> None:
    site.page("/same", ETag='"one"')
    again = ("recrawl.pace.initial=1s", "recrawl.pace.minimum=1s", "recrawl.pace.maximum=1s")
    shell(*settings(ALLOWED, *again), *seeded(site.url("/same")))
    site.text("/gone", "", 404)
    time.sleep(1.5)
    shell(*settings(ALLOWED, *again), *seeded(site.url("/gone")))
    assert site.conditions == ["/same"] and "/gone" in site.asked


def test_a_host_that_fails_beside_one_that_answers_is_named_and_is_no_error(
    shell: Any, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    site.page("/")
    with closed_port() as port:
        assert run([*settings(ALLOWED), *seeded(site.url(), f"http://127.0.0.1:{port}/x")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"127.0.0.1:{port}: 1 URL was not asked for: robots.txt did not answer" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rounds", "patience"), [(["--until-empty"], "0"), (["--iterations", "2"], "2min")], ids=["all", "two"]
)
def test_a_page_that_hangs_does_not_end_the_crawl_of_its_host(
    shell: Any, site: Site, capsys: pytest.CaptureFixture[str], rounds: list[str], patience: str
) -> None:
    pages = [f"/p{number:02}" for number in range(14)]
    for path in pages:
        site.page(path)
        site.resources[path].seconds = 0.0
    slow = ("fetch.timeout=1s", "politeness.response_factor=5", "politeness.max_response_delay=1500ms")
    seeds = seeded(*map(site.url, pages))[:-2]
    site.resources["/p13"].seconds = 2.5  # the first one that is asked for
    assert run([*settings(ALLOWED, f"politeness.patience={patience}", *slow), *seeds, *rounds]) == 0
    assert sorted(site.pages_asked()) == pages and site.pages_asked()[0] == "/p13"
    said = " ".join(capsys.readouterr().out.split())
    assert "failed 1 1 with timeout; `crawlctl errors` lists it" in said


def test_a_run_does_not_wait_longer_than_a_round_may_take(shell: Any, site: Site) -> None:
    site.page("/a")
    site.text("/robots.txt", "")
    site.resources["/a"].status = 503
    site.resources["/a"].headers["Retry-After"] = "600"
    command = [*settings(ALLOWED, "round.max_time=5s", "recrawl.retry_first=1s"), *seeded(site.url("/a"))]
    said = shell(*command, code=NOTHING_FETCHED)
    assert "nothing was fetched: the host answered with status 503 (" in said
    assert "; the host is left alone until 20" in said


@pytest.mark.slow
def test_half_a_second_is_half_a_second(shell: Any, site: Site) -> None:
    pages = [f"/p{number}" for number in range(3)]
    for path in pages:
        site.page(path)
    shell(*settings(ALLOWED, "politeness.delay=0.5s"), *seeded(*map(site.url, pages)))
    gaps = [later - earlier for earlier, later in pairwise(site.times)]
    assert len(gaps) == 3 and all(gap > 0.4 for gap in gaps)
    assert "500ms" in shell("--set", "politeness.delay=0.5s", "config")


@pytest.mark.slow
def test_ctrl_c_ends_the_wait_for_a_host_at_once(tmp_path: Path, site: Site) -> None:
    for path in ("/a", "/b"):
        site.text(path, "", 503)
        site.resources[path].headers["Retry-After"] = "500"
    (tmp_path / "seed.txt").write_text(f"{site.url('/a')}\n{site.url('/b')}\n")
    fixed = settings(ALLOWED, "politeness.patience=0", "round.max_time=10min", "runner.name=forked")
    command = [sys.executable, "-m", "crawlctl.cli", *fixed, "run", "--seed", "seed.txt", "--until-empty"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        waiting = next((line for line in lines if line.startswith("waiting until ")), "")
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert waiting.endswith(f" for {site.host}, which failed (status 503)\n")
    assert process.returncode == 130 and "stopped; everything that was saved is kept" in rest


MIB = 1 << 20


@pytest.mark.slow
def test_sizes_that_one_setting_allows_are_not_cut_by_another(
    shell: Any, site: Site, pdf_of: Callable[..., bytes]
) -> None:
    """A sitemap of 12 MiB, a PDF and an HTML page of 9 MiB are read to their end, with the default limits."""
    name = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    late = f"<url><loc>{site.url('/late')}</loc></url>"
    site.text("/map.xml", f"<urlset {name}>{' ' * 12 * MIB}{late}</urlset>", kind="text/xml")
    site.text("/robots.txt", f"Sitemap: {site.url('/map.xml')}")
    site.page("/late", text="behind twelve megabytes")
    site.page("/long", text=f"<!--{'x' * 9 * MIB}--> afterwards")
    site.text("/a.pdf", "", kind="application/pdf")
    site.resources["/a.pdf"].body = pdf_of("portable", padding=9 * MIB)
    seeds = seeded(site.url("/long"), site.url("/a.pdf"))[:-1]
    shell(*settings(ALLOWED, "fetch.timeout=1min"), *seeds, "2")
    for word, path in (("megabytes", "/late"), ("afterwards", "/long"), ("portable", "/a.pdf")):
        assert [page["url"] for page in shell.json("query", word)["pages"]] == [site.url(path)]
