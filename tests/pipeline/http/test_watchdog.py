"""Servers that keep OpenSSL inside one call: the watchdog ends it, the host is named, others go on."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from crawlctl.pipeline.config.settings import FetchSettings
from crawlctl.pipeline.config.units import Duration
from crawlctl.pipeline.http.engine import Engine
from crawlctl.pipeline.http.exchange import Answer, ErrorKind, Request
from crawlctl.pipeline.http.tls_renegotiation import refuse_renegotiation
from crawlctl.pipeline.http.watchdog import DialledSocket, Watchdog
from crawlctl.tests.hostile.tls_floods import flooding
from crawlctl.tests.pipeline.http.bad_certificates import write_certificates
from crawlctl.tests.pipeline.http.bad_client import Server, bad_server

if TYPE_CHECKING:
    from collections.abc import Iterator

FLOOD_SECONDS = 8.0
# A call is ended after a second (fetch.timeout); the rest is for a busy machine.
LONGEST_SECONDS = 6.0
PATIENCE = 0.2


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with bad_server(tmp_path_factory.mktemp("certificates")) as server:
        yield server


@pytest.fixture(scope="module")
def certificate(server: Server) -> Path:
    return Path(server.authority).with_name("good.pem")


@pytest.fixture
def settings(server: Server) -> FetchSettings:
    return FetchSettings(
        contact="https://example.org/bot",
        allowed_networks=("127.0.0.0/8",),
        ca_file=server.authority,
        timeout=Duration(1),
    )


def answers_of(engine: Engine, *urls: str) -> dict[str, Answer]:
    for url in urls:
        engine.submit(Request(url))
    answers = {}
    while engine.in_flight:
        answers.update({answer.request.url: answer for answer in engine.poll(0.1)})
    return answers


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["hello_requests_first", "hello_requests", "tickets", "key_updates"])
def test_a_flood_of_handshake_messages_is_broken_off(
    kind: str, settings: FetchSettings, certificate: Path, server: Server
) -> None:
    with flooding(kind, certificate, FLOOD_SECONDS) as port, Engine(settings) as engine:
        host = f"127.0.0.1:{port}"
        began = time.monotonic()
        flood = answers_of(engine, f"https://{host}/")[f"https://{host}/"]
        assert time.monotonic() - began < LONGEST_SECONDS
        # A slow machine may not keep up the flood; then the time-out of libcurl comes first.
        assert flood.error is not None
        assert flood.error.kind in (ErrorKind.STALLED, ErrorKind.TIMEOUT)
        if kind == "hello_requests_first":
            assert flood.error.kind is ErrorKind.STALLED
            assert host in flood.error.reason
        (good,) = answers_of(engine, server.url("good")).values()
        assert good.status == 200


@pytest.mark.slow
def test_an_address_that_stalls_again_and_again_is_not_dialled_any_more(
    settings: FetchSettings, certificate: Path
) -> None:
    with flooding("hello_requests_first", certificate, FLOOD_SECONDS) as port, Engine(settings) as engine:
        url = f"https://127.0.0.1:{port}/"
        engine._watchdog._stalled[("127.0.0.1", port)] = 2
        assert {kind_of(answers_of(engine, url)[url]) for _ in range(2)} == {ErrorKind.STALLED}
        began = time.monotonic()
        refused = answers_of(engine, url)[url]
        assert refused.error is not None
        assert refused.error.reason == "127.0.0.1 has kept libcurl busy 3 times"
        assert time.monotonic() - began < 0.5


def kind_of(answer: Answer) -> ErrorKind | None:
    return answer.error.kind if answer.error else None


def test_whoever_asks_is_told_for_which_host_libcurl_works(settings: FetchSettings, server: Server) -> None:
    told: list[str] = []
    with Engine(settings, working_on=told.append) as engine:
        answers_of(engine, server.url("good"))
    assert set(told) == {f"{server.host}:{server.ports['plain']}", ""}
    assert told[-1] == ""


def test_no_host_is_told_for_a_socket_that_nobody_knows(settings: FetchSettings) -> None:
    told: list[str] = []
    one, other = socket.socketpair()
    with one, other, Engine(settings, working_on=told.append) as engine:
        engine._watchdog.dialled(one.fileno(), DialledSocket("example.org", ("192.0.2.1", 443)))
        engine._act(one.fileno(), 1)
        engine._act(other.fileno(), 1)
    assert told == ["example.org", ""]


def test_a_closed_engine_has_no_thread_left(settings: FetchSettings, server: Server) -> None:
    before = threading.active_count()
    engine = Engine(settings)
    assert threading.active_count() == before
    answers_of(engine, server.url("good"))
    assert threading.active_count() == before + 1
    engine.close()
    assert threading.active_count() == before


def test_a_forked_child_has_no_watchdog(settings: FetchSettings, server: Server) -> None:
    with Engine(settings) as engine:
        answers_of(engine, server.url("good"))
        if (child := os.fork()) == 0:
            tasks = Path("/proc/self/task")
            os._exit(len(list(tasks.iterdir())) if tasks.is_dir() else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1


@contextmanager
def connected() -> Iterator[tuple[socket.socket, socket.socket]]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        near = socket.create_connection(listener.getsockname())
        far = listener.accept()[0]
    with near, far:
        far.settimeout(5)
        yield near, far


@contextmanager
def watching(late: frozenset[str] = frozenset()) -> Iterator[Watchdog]:
    dog = Watchdog(PATIENCE, lambda: late)
    dog.start()
    yield dog
    dog.close()


def is_shut_down(near: socket.socket) -> bool:
    near.setblocking(False)
    try:
        return near.recv(1) == b""
    except BlockingIOError:
        return False


def note(dog: Watchdog, near: socket.socket, host: str) -> None:
    dog.dialled(near.fileno(), DialledSocket(host, near.getpeername()))


def test_a_call_that_returns_in_time_is_left_alone() -> None:
    with connected() as (near, _), watching() as dog:
        note(dog, near, "good.example")
        for _ in range(20):
            dog.begin(near.fileno())
            time.sleep(PATIENCE / 10)
            dog.end()
        assert not dog.stalls
        assert not is_shut_down(near)


def test_only_the_socket_of_the_call_is_shut_down() -> None:
    with connected() as (near, far), connected() as (other, _), watching() as dog:
        note(dog, near, "bad.example")
        note(dog, other, "good.example")
        dog.begin(near.fileno())
        assert far.recv(1) == b""
        dog.end()
        assert [(stall.hosts, stall.is_certain) for stall in dog.stalls] == [
            (frozenset({"bad.example"}), True)
        ]
        assert not is_shut_down(other)


def test_a_number_that_was_given_to_another_socket_is_not_touched() -> None:
    with connected() as (near, _), connected() as (other, _), watching() as dog:
        note(dog, near, "bad.example")
        os.dup2(other.fileno(), near.fileno())  # closed by libcurl, and its number given out again
        dog.begin(near.fileno())
        time.sleep(4 * PATIENCE)
        dog.end()
        assert not is_shut_down(other)
        assert not any(stall.hosts for stall in dog.stalls)


def test_where_the_socket_is_not_known_those_of_late_transfers_are_shut_down() -> None:
    with connected() as (near, far), connected() as (other, _), watching(frozenset({"late.example"})) as dog:
        note(dog, near, "late.example")
        note(dog, other, "good.example")
        dog.begin()
        assert far.recv(1) == b""
        dog.end()
        assert [(stall.hosts, stall.is_certain) for stall in dog.stalls] == [
            (frozenset({"late.example"}), False)
        ]
        assert not is_shut_down(other)


def test_if_that_does_not_help_all_are_shut_down() -> None:
    with connected() as (near, far), connected() as (other, beyond), watching() as dog:
        note(dog, near, "one.example")
        note(dog, other, "two.example")
        dog.begin()
        assert (far.recv(1), beyond.recv(1)) == (b"", b"")
        dog.end()
        assert dog.stalls[0].hosts == {"one.example", "two.example"}


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl s_server")
def test_a_server_that_asks_for_renegotiation_is_refused(tmp_path: Path, settings: FetchSettings) -> None:
    if not refuse_renegotiation():
        pytest.skip("this pycurl does not bring its own OpenSSL")
    write_certificates(tmp_path, "127.0.0.1")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    command = ["openssl", "s_server", "-tls1_2", "-accept", f"127.0.0.1:{port}", "-msg"]
    command += ["-cert", str(tmp_path / "good.pem"), "-key", str(tmp_path / "good.pem")]
    log = (tmp_path / "log").open("wb")
    with log, subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log) as process:
        assert process.stdin is not None
        said = wait_for(tmp_path / "log", b"ACCEPT")
        trust = str(tmp_path / "authority.pem")
        with Engine(msgspec.structs.replace(settings, ca_file=trust, timeout=Duration(5))) as engine:
            engine.submit(Request(f"https://127.0.0.1:{port}/"))
            while b"GET / HTTP" not in said:
                assert not engine.poll(0.1)
                said = (tmp_path / "log").read_bytes()
            process.stdin.write(b"r\n")  # renegotiate
            process.stdin.flush()
            while not (answers := engine.poll(0.1)):
                pass
        process.kill()
    assert kind_of(answers[0]) in (ErrorKind.RESET, ErrorKind.TLS)
    said = (tmp_path / "log").read_bytes()
    assert b"no_renegotiation" in said
    assert said.count(b"ClientHello") == 1


def wait_for(log: Path, words: bytes) -> bytes:
    for _ in range(100):
        if words in (said := log.read_bytes()):
            return said
        time.sleep(0.05)
    raise AssertionError(f"no {words!r} in {said!r}")
