"""The server as a process: it prints its address, answers, follows the crawl, and ends when it is told to."""

from __future__ import annotations

import inspect
import logging
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path

import pytest
import uvicorn

from crawlctl.cli import run
from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.serve.http_server import _is_news, address_of, is_free, listen
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.pipeline.commands.damaged_crawl import linked_copy
from crawlctl.tests.pipeline.search.brute_force import Page
from crawlctl.tests.pipeline.search.small_index import write_index
from crawlctl.tests.pipeline.serve.served_web import write_web
from crawlctl.tests.pipeline.serve.server_process import serving

STOP_SECONDS = 2.0  # CPU of other tests aside; the wait below is longer
NEWER = {"https://new.example/": (b"<title>Quokka</title><p>A quokka smiles.", "text/html", "")}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("workers", "number"), [("1", signal.SIGTERM), ("1", signal.SIGINT), ("2", signal.SIGTERM)]
)
def test_it_answers_and_ends_under_load(web_store: LocalStore, workers: str, number: signal.Signals) -> None:
    with serving(web_store, "--workers", workers) as server:
        assert server.line.startswith("30 pages can be searched at http://127.0.0.1:")
        assert server.get("/search?q=zebra")[0] == 200
        ended, statuses = threading.Event(), list[int]()

        def ask() -> None:
            while not ended.is_set():
                with suppress(OSError, HTTPException):
                    statuses.append(server.get("/search?q=zebra+OR+loop")[0])

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        while len(statuses) < 20:
            time.sleep(0.01)
        server.process.send_signal(number)
        began = time.monotonic()
        code = server.process.wait(timeout=20)
        seconds = time.monotonic() - began
        ended.set()
        for thread in threads:
            thread.join()
        assert (code, server.process.stderr and server.process.stderr.read()) == (0, "")
        assert set(statuses) <= {200, 503}
        assert seconds < 5 * STOP_SECONDS, "seconds on a busy machine; alone it takes less than two"


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_signal_counts_from_the_first_line_on(web_store: LocalStore, workers: str) -> None:
    with serving(web_store, "--workers", workers) as server:
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=60) == 0


@pytest.mark.slow
def test_workers_end_with_the_process_that_started_them_even_if_it_is_killed(web_store: LocalStore) -> None:
    with serving(web_store, "--workers", "2") as server:
        assert server.get("/search?q=zebra")[0] == 200
        server.process.kill()
        deadline = time.monotonic() + 60
        while not is_free("127.0.0.1", server.port):
            assert time.monotonic() < deadline, "a worker still listens"
            time.sleep(0.05)


@pytest.mark.slow
def test_a_new_snapshot_is_served_without_a_restart_or_a_failed_request(
    web_store: LocalStore, tmp_path: Path
) -> None:
    store = LocalStore(linked_copy(web_store.root, tmp_path / "crawl"))
    with serving(store) as server:
        assert "No page matches" in server.get("/search?q=quokka")[1]
        number = load_current(store).number
        writer = threading.Thread(target=write_web, args=(tmp_path, NEWER))
        writer.start()
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            status, page = server.get("/search?q=quokka")
            assert status == 200
            if "A <mark>quokka</mark> smiles" in page:
                break
            time.sleep(0.02)
        writer.join()
        assert load_current(store).number > number
        assert "<title>Quokka" not in page and "A <mark>quokka</mark> smiles" in page


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("known", "a worker process cannot start: the bucket is gone; bring it back"),
        ("unknown", "a worker process cannot start: KeyError: 'odd'; its traceback is above"),
    ],
)
def test_a_worker_that_cannot_start_ends_the_server(web_store: LocalStore, fault: str, says: str) -> None:
    module = "crawlctl.tests.pipeline.serve.failing_server"
    command = [sys.executable, "-m", module, fault, "--workers", "2", "--store", web_store.uri]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].startswith(f"crawlctl: {says}")
    assert ("Traceback" in ended.stderr) == (fault == "unknown")


def test_the_first_line_counts_only_pages_that_were_fetched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    unread = Page("https://d.org/4", anchors=("word",), language="", fetched=False)
    write_index(LocalStore(tmp_path), [[Page("https://a.org/1", "One", "word")]], [unread])
    monkeypatch.setattr("crawlctl.pipeline.serve.http_server.serve", lambda *given: given[-1]())
    assert run(["serve", "--store", str(tmp_path), "--port", "0"]) == 0
    assert capsys.readouterr().out.startswith("1 page can be searched at http://127.0.0.1:")


def test_a_port_in_use_is_said_in_one_line(web_store: LocalStore, capsys: pytest.CaptureFixture[str]) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        assert run(["serve", "--store", web_store.uri, "--port", port]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"crawlctl: cannot serve on 127.0.0.1 port {port}: ")
    assert said.endswith("; give another --host or --port\n")


def test_a_store_without_a_crawl_is_said_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["serve", "--store", str(tmp_path / "nowhere")]) == 1
    assert "holds no crawl" in capsys.readouterr().err
    assert run(["init", "--store", str(tmp_path / "empty")]) == 0
    assert run(["serve", "--store", str(tmp_path / "empty")]) == 1
    assert f"`crawlctl run --store {tmp_path / 'empty'}`" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--allow-host", "--allow-origin"])
def test_a_name_that_allows_nothing_is_refused(
    web_store: LocalStore, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    assert run(["serve", "--store", web_store.uri, option, "/page"]) == 2
    assert capsys.readouterr().err.startswith("crawlctl: /page is no ")


@pytest.mark.slow
def test_a_damaged_store_is_told_to_the_operator_and_not_to_the_visitor(
    web_store: LocalStore, tmp_path: Path
) -> None:
    store = LocalStore(linked_copy(web_store.root, tmp_path / "crawl"))
    with serving(store) as server:
        shutil.rmtree(tmp_path / "crawl" / "segments")
        status, page = server.get("/search?q=zebra")
        assert status == 503 and "crawl/segments" not in page
        server.process.terminate()
        _, said = server.process.communicate(timeout=60)
    assert said.count("crawl/segments") == 1 and "crawlctl check --repair" in said


def test_what_uvicorn_says_of_answers_that_it_breaks_off_is_not_shown() -> None:
    said = re.findall(r'"(Cancel .*?)"', inspect.getsource(uvicorn.server))
    assert said and not any(_is_news(logging.makeLogRecord({"msg": text})) for text in said)
    assert _is_news(logging.makeLogRecord({"msg": "Exception in ASGI application"}))


def test_the_address_is_one_that_a_browser_opens() -> None:
    with listen("0.0.0.0", 0) as everywhere:
        assert address_of(everywhere) == f"http://127.0.0.1:{everywhere.getsockname()[1]}/"
    with pytest.raises(ConfigError, match="give another --host or --port"):
        listen("nowhere.invalid", 0)


@pytest.mark.skipif(not socket.has_ipv6 or not Path("/proc/net/if_inet6").exists(), reason="no IPv6 here")
def test_an_address_of_ipv6_stands_in_brackets() -> None:
    with listen("::1", 0) as listener:
        assert address_of(listener) == f"http://[::1]:{listener.getsockname()[1]}/"
