"""No spelling, redirect, name or name server makes the engine dial a forbidden address."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pycurl
import pytest

from crawlctl.pipeline.config.settings import FetchSettings
from crawlctl.pipeline.config.units import Duration
from crawlctl.pipeline.http.engine import Engine
from crawlctl.pipeline.http.exchange import Answer, ErrorKind, Request
from crawlctl.pipeline.http.watchdog import Watchdog
from crawlctl.tests.pipeline.http.bad_client import bad_server

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
# The whole of 127/8 is this machine on Linux: one address is allowed, another one is the secret.
FRIEND = "127.0.0.2"

SPELLINGS = (
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "0x7F.1",
    "017700000001",
    "0177.0.0.01",
    "127.0.0.0x1",
    "0177.0x0.0.1",
    "%31%32%37.0.0.1",
    "１２７.0.0.1",
    "127。0。0。1",
    "0",
    "0.0.0.0",
    "127.127.127.127",
    "localhost",
    "LOCALHOST.",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:127.0.0.1]",
    "[::127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[2002:7f00:1::]",
)
ELSEWHERE = (
    "169.254.169.254",
    "0xA9FEA9FE",
    "2852039166",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[::ffff:a9fe:a9fe]",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "[64:ff9b::a9fe:a9fe]",
    "224.0.0.1",
    "255.255.255.255",
)


class Trap:
    """A listener on loopback, in IPv4 and where possible in IPv6, that must never be reached."""

    def __init__(self) -> None:
        self.visitors = 0
        self._listeners = [socket.create_server(("0.0.0.0", 0))]
        self.port = self._listeners[0].getsockname()[1]
        if socket.has_dualstack_ipv6():
            address = ("::1", self.port)
            self._listeners.append(socket.create_server(address, family=socket.AF_INET6))
        self._threads = [threading.Thread(target=self._count, args=(each,)) for each in self._listeners]
        for thread in self._threads:
            thread.start()

    def _count(self, listener: socket.socket) -> None:
        while True:
            connection, _ = listener.accept()
            with connection:
                if connection.recv(4) == b"stop":
                    return
                self.visitors += 1

    def close(self) -> None:
        for listener, thread in zip(self._listeners, self._threads, strict=True):
            with socket.create_connection(listener.getsockname()[:2]) as connection:
                connection.sendall(b"stop")
            thread.join()
            listener.close()


@pytest.fixture
def trap() -> Iterator[Trap]:
    trap = Trap()
    yield trap
    trap.close()


@pytest.fixture(scope="module")
def friend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    try:
        socket.create_server((FRIEND, 0)).close()
    except OSError:
        pytest.skip(f"this system has no {FRIEND}; `ifconfig lo0 alias {FRIEND}` gives it one")
    with bad_server(tmp_path_factory.mktemp("certificates"), FRIEND) as server:
        yield f"{FRIEND}:{server.ports['plain']}"


def fetch(settings: FetchSettings, *urls: str) -> list[Answer]:
    with Engine(settings) as engine:
        return [fetch_with(engine, url) for url in urls]


def fetch_with(engine: Engine, url: str) -> Answer:
    engine.submit(Request(url))
    while not (answers := engine.poll()):
        pass
    return answers[0]


def settings(*resolve: str, proxy: str = "", allowed: tuple[str, ...] = (FRIEND,)) -> FetchSettings:
    return FetchSettings(
        contact="https://example.org/bot",
        allowed_networks=allowed,
        resolve=resolve,
        proxy=proxy,
        connect_timeout=Duration(5),
        timeout=Duration(10),
    )


def kind_of(answer: Answer) -> ErrorKind | None:
    return answer.error.kind if answer.error else None


def test_the_trap_would_be_sprung_if_it_were_allowed(trap: Trap) -> None:
    fetch(settings(allowed=("127.0.0.0/8",)), f"http://127.0.0.1:{trap.port}/")
    assert trap.visitors == 1


@pytest.mark.parametrize("host", SPELLINGS)
def test_no_spelling_of_this_machine_is_dialled(host: str, trap: Trap) -> None:
    (answer,) = fetch(settings(), f"http://{host}:{trap.port}/")
    assert kind_of(answer) is ErrorKind.FORBIDDEN_ADDRESS
    assert trap.visitors == 0


@pytest.mark.parametrize("host", ELSEWHERE)
def test_no_private_address_is_dialled(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dialled: list[int] = []
    monkeypatch.setattr(Watchdog, "dialled", lambda _dog, fd, _socket: dialled.append(fd))
    answer, secured = fetch(settings(), f"http://{host}/", f"https://{host}/")
    assert kind_of(answer) is kind_of(secured) is ErrorKind.FORBIDDEN_ADDRESS
    assert not dialled


@pytest.mark.parametrize("addresses", ["127.0.0.1", "127.0.0.1,127.0.0.3,[::1]", "[::ffff:127.0.0.1]"])
def test_no_name_leads_to_this_machine(addresses: str, trap: Trap) -> None:
    (answer,) = fetch(settings(f"evil.example:{trap.port}:{addresses}"), f"http://evil.example:{trap.port}/")
    assert kind_of(answer) is ErrorKind.FORBIDDEN_ADDRESS
    assert trap.visitors == 0


def test_of_several_addresses_only_the_public_ones_are_dialled(friend: str) -> None:
    port = friend.partition(":")[2]
    resolve = f"both.example:{port}:127.0.0.1,{FRIEND},127.0.0.3"
    with socket.create_server(("127.0.0.1", int(port))) as trap:
        trap.settimeout(0)
        (answer,) = fetch(settings(resolve), f"http://both.example:{port}/good")
        with pytest.raises(BlockingIOError):
            trap.accept()
    assert (answer.status, answer.ip) == (200, FRIEND)


@pytest.mark.parametrize("host", ["127.0.0.1", "2130706433", "[::1]", "evil.example"])
def test_a_redirect_is_judged_like_any_url(host: str, trap: Trap, friend: str) -> None:
    with Engine(settings(f"evil.example:{trap.port}:127.0.0.1")) as engine:
        first = fetch_with(engine, f"http://{friend}/redirect?http://{host}:{trap.port}/")
        assert first.redirect is not None
        second = fetch_with(engine, first.redirect)
    assert kind_of(second) is ErrorKind.FORBIDDEN_ADDRESS
    assert trap.visitors == 0


def test_a_name_that_changes_its_mind_is_judged_each_time(friend: str) -> None:
    port = friend.partition(":")[2]
    with socket.create_server(("127.0.0.1", int(port))) as trap, Engine(settings()) as engine:
        trap.settimeout(0)
        handle = engine._idle[0].curl
        outcomes = []
        for address in (FRIEND, "127.0.0.1", FRIEND, "[::ffff:127.0.0.1]"):
            handle.setopt(pycurl.RESOLVE, [f"-rebound.example:{port}", f"+rebound.example:{port}:{address}"])
            # Each of these answers ends its connection, so that the next one needs the address again.
            outcomes.append(kind_of(fetch_with(engine, f"http://rebound.example:{port}/short_length")))
        with pytest.raises(BlockingIOError):
            trap.accept()
    assert outcomes == [None, ErrorKind.FORBIDDEN_ADDRESS, None, ErrorKind.FORBIDDEN_ADDRESS]


def test_a_real_name_server_that_changes_its_mind_gains_nothing(tmp_path: Path) -> None:
    own_namespaces = ["unshare", "--map-root-user", "--mount", "--net"]
    try:
        subprocess.run([*own_namespaces, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this system gives us no namespaces: a name server of our own needs them")
    command = [*own_namespaces, sys.executable, str(HERE / "rebinding_dns.py"), str(tmp_path)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    refused = ErrorKind.FORBIDDEN_ADDRESS.value
    assert found["outcomes"] == [FRIEND, refused, FRIEND, FRIEND, refused]
    assert found["lookups"] == 5
    assert found["secret"] == 0


@pytest.mark.parametrize("host", SPELLINGS)
def test_behind_a_proxy_addresses_in_urls_are_judged(host: str, trap: Trap) -> None:
    answer, secured = fetch(
        settings(proxy=f"http://127.0.0.1:{trap.port}"), f"http://{host}/", f"https://{host}:8443/"
    )
    assert kind_of(answer) is kind_of(secured) is ErrorKind.FORBIDDEN_ADDRESS
    assert trap.visitors == 0


def test_behind_a_proxy_names_are_its_business(trap: Trap) -> None:
    (answer,) = fetch(settings(proxy=f"http://127.0.0.1:{trap.port}"), "http://www.example.com/")
    assert trap.visitors == 1
    assert kind_of(answer) is ErrorKind.RESET


def test_no_proxy_is_taken_from_the_environment(
    trap: Trap, friend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{trap.port}")
    (answer,) = fetch(settings(), f"http://{friend}/good")
    assert answer.status == 200
    assert trap.visitors == 0
