"""The engine against a real server: what it sends, what it gives back, and what it leaves behind."""

from __future__ import annotations

import math
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from crawlctl.pipeline.config.settings import FetchSettings
from crawlctl.pipeline.config.units import Duration, Size
from crawlctl.pipeline.http import engine as engine_module
from crawlctl.pipeline.http.body_budget import Account, BodyBudget
from crawlctl.pipeline.http.curl_options import request_head
from crawlctl.pipeline.http.engine import Engine
from crawlctl.pipeline.http.exchange import Answer, ErrorKind, Request, RequestKind, Truncation
from crawlctl.pipeline.http.transfer import Transfer
from crawlctl.pipeline.http.watchdog import Watchdog
from crawlctl.tests.pipeline.http.bad_client import Server, bad_server

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
PAGE = b"<html><title>page</title><p>hello</html>"
SETTINGS = FetchSettings(contact="https://example.org/bot", allowed_networks=("127.0.0.0/8",))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with bad_server(tmp_path_factory.mktemp("certificates")) as server:
        yield server


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(SETTINGS) as engine:
        yield engine


def fetch(engine: Engine, *requests: Request | str) -> list[Answer]:
    """Return the answers to all requests, as they come in."""
    for request in requests:
        engine.submit(Request(request) if isinstance(request, str) else request)
    answers: list[Answer] = []
    while engine.in_flight:
        answers += engine.poll()
    return answers


def kind_of(answer: Answer) -> ErrorKind | None:
    return answer.error.kind if answer.error else None


def open_files() -> int:
    return sum(1 for _ in Path("/dev/fd").iterdir())


@pytest.mark.parametrize(
    "request_",
    [
        Request("", etag='"v1"'),
        Request("", etag='W/"v1"', last_modified="Mon, 16 Nov 2026 03:00:00 GMT"),
        Request("", kind=RequestKind.ROBOTS),
        Request("", kind=RequestKind.SITEMAP),
        Request("", etag='"a"\r\nX-Injected: yes', last_modified="ü"),
    ],
)
def test_what_is_sent_is_what_the_archive_says(request_: Request, server: Server, engine: Engine) -> None:
    request = msgspec.structs.replace(request_, url=server.url("~echo?a=b%20c"))
    (answer,) = fetch(engine, request)
    assert answer.body == request_head(request.url, request, SETTINGS)
    assert b"User-Agent: crawlctl/" in answer.body
    assert b"(+https://example.org/bot)" in answer.body
    assert b"Injected" not in answer.body


def test_an_answer_tells_all_about_the_exchange(server: Server, engine: Engine) -> None:
    before = time.time()
    request = Request(server.url("good#fragment"), tag=object())
    (answer,) = fetch(engine, request)
    assert answer.request is request
    assert answer.url == server.url("good")
    assert (answer.status, answer.version, answer.ip, answer.body) == (200, "1.1", "127.0.0.1", PAGE)
    assert (answer.header("etag"), answer.content_type) == ('"v1"', "text/html")
    assert answer.head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert answer.head.endswith(b"\r\n\r\n")
    assert answer.wire_bytes == len(answer.head) + len(PAGE)
    assert before <= answer.started <= time.time()
    assert answer.seconds > 0


def test_a_compressed_body_comes_plain(server: Server, engine: Engine) -> None:
    (answer,) = fetch(engine, server.url("gzipped"))
    assert answer.body == PAGE
    assert answer.header("content-encoding") == "gzip"
    assert answer.wire_bytes != len(answer.head) + len(PAGE)


def test_http_2_is_agreed_on_in_the_handshake(server: Server) -> None:
    settings = msgspec.structs.replace(SETTINGS, ca_file=server.authority)
    with Engine(settings) as engine:
        (answer,) = fetch(engine, server.url("", "http2"))
    assert (answer.version, answer.status, answer.body) == ("2", 200, b"<p>two</p>")
    assert answer.head.startswith(b"HTTP/2 200")


def test_a_connection_is_used_again(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    dialled: list[int] = []
    monkeypatch.setattr(Watchdog, "dialled", lambda _dog, fd, _socket: dialled.append(fd))
    with Engine(SETTINGS) as engine:
        answers = fetch(engine, server.url("good")) + fetch(engine, server.url("good"))
    assert [answer.status for answer in answers] == [200, 200]
    assert len(dialled) == 1


def test_an_answer_too_many_is_not_taken_for_that_of_the_next_request(server: Server, engine: Engine) -> None:
    (first,), (second,) = fetch(engine, server.url("second_answer")), fetch(engine, server.url("good"))
    assert first.body == second.body == PAGE


def test_no_cookie_is_kept(server: Server, engine: Engine) -> None:
    fetch(engine, server.url("shows_cookie"))
    (answer,) = fetch(engine, server.url("~echo"))
    assert b"cookie" not in answer.body.lower()


def test_retry_after_is_read(server: Server, engine: Engine) -> None:
    (answer,) = fetch(engine, server.url("slow_down?77"))
    assert (answer.status, answer.retry_after) == (429, 77)


def test_a_request_may_ask_for_less_than_the_settings_allow(server: Server, engine: Engine) -> None:
    whole, cut = sorted(
        fetch(engine, *(Request(server.url("big?5000"), max_bytes=size) for size in (5000, 4999))),
        key=lambda answer: len(answer.body),
        reverse=True,
    )
    assert (len(whole.body), whole.truncated, whole.error) == (5000, None, None)
    assert (len(cut.body), cut.truncated, cut.error) == (4999, "length", None)


def test_a_pdf_may_be_longer_than_a_page(server: Server) -> None:
    settings = msgspec.structs.replace(SETTINGS, max_body=Size(4000))
    request = Request(server.url("signed_pdf?9000"), max_pdf_bytes=9000)
    with Engine(settings) as engine:
        answers = {
            "whole": fetch(engine, request)[0],
            "longer": fetch(engine, msgspec.structs.replace(request, max_pdf_bytes=8999))[0],
            "not_asked": fetch(engine, server.url("signed_pdf?9000"))[0],
            "only_typed": fetch(engine, Request(server.url("typed_pdf?9000"), max_pdf_bytes=9000))[0],
            "page": fetch(engine, Request(server.url("big?9000"), max_pdf_bytes=9000))[0],
        }
    assert {name: (len(answer.body), answer.truncated) for name, answer in answers.items()} == {
        "whole": (9000, None),
        "longer": (8999, "length"),
        "not_asked": (4000, "length"),
        "only_typed": (4000, "length"),
        "page": (4000, "length"),
    }


def test_the_limit_of_a_request_wins_over_that_of_pages(server: Server) -> None:
    # A sitemap of 12 MB was cut at fetch.max_body = 8 MB although sitemaps.max_bytes is 50 MB.
    long = server.url(f"big?{12 << 20}")
    with Engine(SETTINGS) as engine:
        (sitemap,) = fetch(engine, Request(long, RequestKind.SITEMAP, max_bytes=50 << 20))
        (page,) = fetch(engine, long)
    assert (len(sitemap.body), sitemap.truncated) == (12 << 20, None)
    assert (len(page.body), page.truncated) == (SETTINGS.max_body, "length")


def test_a_body_beyond_all_memory_is_received_alone(server: Server) -> None:
    settings = msgspec.structs.replace(SETTINGS, memory=Size(1 << 20))
    requests = [Request(server.url("signed_pdf?3000000"), max_pdf_bytes=4 << 20) for _ in range(4)]
    with Engine(settings) as engine:
        answers = fetch(engine, *requests)
        assert engine._budget.held == 0
    assert [len(answer.body) for answer in answers] == [3_000_000] * 4


def test_a_dead_host_does_not_hold_up_the_others(server: Server, engine: Engine) -> None:
    engine.submit(Request(server.url("never_answers")))
    engine.submit(Request(server.url("good")))
    while not (answers := engine.poll()):
        pass
    assert [answer.status for answer in answers] == [200]
    assert engine.in_flight == 1


def test_more_requests_than_connections_wait_for_their_turn(server: Server) -> None:
    with Engine(msgspec.structs.replace(SETTINGS, connections=3)) as engine:
        for number in range(50):
            engine.submit(Request(server.url("good"), tag=number))
        assert engine.in_flight == 50
        numbers = []
        while engine.in_flight:
            assert len(engine._active) <= 3
            numbers += [answer.request.tag for answer in engine.poll()]
    assert sorted(numbers) == list(range(50))


def test_bodies_share_one_budget_of_memory(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    peaks = [0]
    body, budget = 300_000, 200_000

    class Recording(BodyBudget[Transfer]):
        def take(self, size: int, account: Account[Transfer]) -> bool:
            taken = super().take(size, account)
            peaks.append(self.held)
            return taken

    monkeypatch.setattr(engine_module, "BodyBudget", Recording)
    with Engine(msgspec.structs.replace(SETTINGS, memory=Size(budget))) as engine:
        answers = fetch(engine, *[server.url(f"in_halves?{body}")] * 20)
        assert engine._budget.held == 0
    assert [len(answer.body) for answer in answers] == [body] * 20
    # A buffer that grows has an eighth to spare.
    assert body <= max(peaks) <= budget + 1.2 * body


def test_the_time_a_body_waits_for_memory_is_not_counted(server: Server) -> None:
    # They can only come one after the other, and each needs 0.3 s: together longer than the time-out.
    settings = msgspec.structs.replace(SETTINGS, memory=Size(1000), timeout=Duration(1))
    with Engine(settings) as engine:
        answers = fetch(engine, *[server.url("stalls_in_body?50000"), *[server.url("in_halves?300000")] * 5])
    kinds = {answer.request.url.partition("?")[0][-9:]: kind_of(answer) for answer in answers}
    assert kinds == {"s_in_body": ErrorKind.TIMEOUT, "in_halves": None}
    assert all(answer.seconds < 1.5 for answer in answers)


@pytest.mark.slow
def test_one_that_waited_for_memory_has_its_time_and_no_more(server: Server) -> None:
    settings = msgspec.structs.replace(SETTINGS, memory=Size(1000), timeout=Duration(1))
    with Engine(settings) as engine:
        answers = fetch(engine, *[server.url("stalls_in_body?50000")] * 3)
        assert engine._budget.held == 0
    assert {kind_of(answer) for answer in answers} == {ErrorKind.TIMEOUT}
    assert {answer.truncated for answer in answers} == {Truncation.TIME}


@pytest.mark.slow
def test_a_connection_lost_while_we_let_it_wait_is_not_the_fault_of_the_host(server: Server) -> None:
    settings = msgspec.structs.replace(SETTINGS, memory=Size(1000), timeout=Duration(2))
    with Engine(settings) as engine:
        engine.submit(Request(server.url("stalls_in_body?50000")))
        assert not engine.poll(0.3)
        engine.submit(Request(server.url("reset_in_body")))
        answers = {answer.request.url: answer for answer in fetch(engine)}
    lost = answers[server.url("reset_in_body")]
    assert (kind_of(lost), lost.status) == (ErrorKind.INTERNAL, 200)
    assert lost.error is not None
    assert "for memory (fetch.memory)" in lost.error.reason


@pytest.mark.slow
def test_dripping_bodies_hold_up_neither_small_pages_nor_for_long_large_ones(server: Server) -> None:
    settings = msgspec.structs.replace(
        SETTINGS, memory=Size(16 << 20), connections=32, min_speed_span=Duration(1), timeout=Duration(20)
    )
    drips = [server.url("burst_and_drip?3000000")] * 12
    with Engine(settings) as engine:
        for url in drips:
            engine.submit(Request(url))
        engine.poll(0.5)
        assert engine._budget.cut_at < math.inf
        for url in (server.url("good"), server.url("big?200000"), server.url("big?2000000")):
            engine.submit(Request(url))
        answers: dict[str, Answer] = {}
        while len(answers) < 4:
            answers.update({answer.request.url: answer for answer in engine.poll()})
        engine.cancel_all()
    slow = answers.pop(drips[0])
    assert {kind_of(answer) for answer in answers.values()} == {None}
    assert answers[server.url("good")].seconds < 1
    assert (kind_of(slow), slow.truncated) == (ErrorKind.TOO_SLOW, Truncation.TIME)
    assert slow.error is not None
    assert "fetch.memory" in slow.error.reason


def test_the_password_of_a_proxy_is_in_no_reason() -> None:
    settings = msgspec.structs.replace(SETTINGS)
    # Settings refuse such a port; libcurl, which may refuse what they do not, must not tell either.
    msgspec.structs.force_setattr(settings, "proxy", "http://anna:se cret@127.0.0.1:99999")
    with Engine(settings) as engine:
        (answer,) = fetch(engine, "http://www.example.com/")
    assert answer.error is not None
    assert "'http://anna:***@127.0.0.1:99999'" in answer.error.reason


def test_errors_before_the_first_byte_have_their_kind(engine: Engine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    answers = fetch(
        engine,
        f"http://127.0.0.1:{port}/",
        "http://no-such-host.invalid/",
        "ftp://example.com/",
        "http://user:secret@example.com/",
        "http://",
    )
    assert {answer.request.url: kind_of(answer) for answer in answers} == {
        f"http://127.0.0.1:{port}/": ErrorKind.REFUSED,
        "http://no-such-host.invalid/": ErrorKind.DNS,
        "ftp://example.com/": ErrorKind.UNSUPPORTED_SCHEME,
        "http://user:secret@example.com/": ErrorKind.BAD_URL,
        "http://": ErrorKind.BAD_URL,
    }


def test_all_requests_can_be_given_up(server: Server, engine: Engine) -> None:
    requests = [Request(server.url("never_answers")) for _ in range(300)]
    for request in requests:
        engine.submit(request)
    engine.poll(0.1)
    assert set(engine.cancel_all()) == set(requests)
    assert engine.in_flight == 0
    assert [answer.status for answer in fetch(engine, server.url("good"))] == [200]


def test_a_proxy_is_asked_for_the_whole_url(server: Server) -> None:
    settings = msgspec.structs.replace(SETTINGS, proxy=server.url(""), allowed_networks=())
    with Engine(settings) as engine:
        plain, tunnel = sorted(
            fetch(engine, "http://www.example.com/~echo", "https://www.example.com/"),
            key=lambda answer: answer.url,
        )
    assert plain.body.startswith(b"GET http://www.example.com/~echo HTTP/1.1\r\nHost: www.example.com\r\n")
    assert plain.ip == ""
    assert kind_of(tunnel) is ErrorKind.PROXY


def test_requests_can_leave_from_a_certain_address(server: Server) -> None:
    with Engine(msgspec.structs.replace(SETTINGS, local_address="127.0.0.1")) as engine:
        (answer,) = fetch(engine, server.url("~peer"))
    assert answer.body == b"127.0.0.1"


def test_verification_can_be_lifted(server: Server) -> None:
    with Engine(msgspec.structs.replace(SETTINGS, tls_verify=False)) as engine:
        (answer,) = fetch(engine, server.url("good", "self_signed"))
    assert answer.body == PAGE


def test_a_closed_engine_leaves_no_file_open(server: Server) -> None:
    before = open_files()
    engine = Engine(SETTINGS)
    fetch(engine, *[server.url("good")] * 20)
    for path in ("never_answers", "endless_body", "slow_drip"):
        engine.submit(Request(server.url(path)))
    engine.poll(0.2)
    assert open_files() > before
    engine.close()
    engine.close()
    assert open_files() == before
    with pytest.raises(RuntimeError, match="closed"):
        engine.submit(Request(server.url("good")))


def test_an_engine_cannot_be_used_after_a_fork(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(RuntimeError, match="fork"):
        engine.poll()
    monkeypatch.undo()


@pytest.mark.parametrize("wait", [0.0, 0.01, 0.05])
def test_ctrl_c_ends_it_at_once_and_cleanly(wait: float, server: Server) -> None:
    command = [sys.executable, str(HERE / "fetch_forever.py"), server.url("good")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(wait)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=30)
    assert output.splitlines()[-1] == b"left open: 0"
    assert (process.returncode, errors) == (0, b"")
