"""Stores to test: a folder, moto's S3 server, and the real servers that are found.

A real S3 server is versitygw, by its binary; a real HDFS is that of the cluster `make hadoop` starts.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.store.local.store import LocalStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlctl.pipeline.store.base import Store
    from crawlctl.tests.hadoop.cluster import Cluster

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
ACCESS_KEY, SECRET_KEY = "testaccess", "testsecret123456"
BUCKET = "crawlctl-test"
INSTALL = "go install github.com/versity/versitygw/cmd/versitygw@v1.8.0, or set VERSITYGW"

CLIENTS: dict[str, Any] = {}

VERSITYGW = pytest.param("versitygw", marks=pytest.mark.integration)
HDFS = pytest.param("hdfs", marks=[pytest.mark.integration, pytest.mark.hadoop])
EVERY_STORE = ["local", "moto", VERSITYGW, HDFS]
EVERY_S3 = ["moto", VERSITYGW]
ATOMIC_STORES = ["local", VERSITYGW, HDFS]  # moto looks and writes in two steps, so both may win


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    chosen = {mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")}
    for fixture, kinds in (("store", EVERY_STORE), ("s3_endpoint", EVERY_S3)):
        if fixture in metafunc.fixturenames and fixture not in chosen:
            metafunc.parametrize(fixture, kinds, indirect=True)


@pytest.fixture(autouse=True)
def _environment_of_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("AWS_", "HADOOP_", "CRAWLCTL_WEBHDFS"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")


@pytest.fixture(scope="session")
def moto_server() -> Iterator[str]:
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def moto_endpoint(moto_server: str) -> str:
    """A server with our bucket: a test with `mock_aws` in the same process deletes all buckets of moto."""
    from botocore.exceptions import ClientError

    with suppress(ClientError):  # it is there
        make_bucket(moto_server)
    return moto_server


@pytest.fixture(scope="session")
def versitygw_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    binary = find_versitygw()
    if binary is None:
        pytest.skip(f"no versitygw: {INSTALL}")
    folder = tmp_path_factory.mktemp("versitygw")
    if not has_attributes(folder):
        pytest.skip(f"{folder} lies on a file system without extended attributes, which versitygw needs")
    port = free_port()
    server = subprocess.Popen(
        [binary, "--quiet", "--keep-alive", "--port", f"127.0.0.1:{port}", "posix", str(folder)],
        env={**os.environ, "ROOT_ACCESS_KEY": ACCESS_KEY, "ROOT_SECRET_KEY": SECRET_KEY},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(port)
        make_bucket(endpoint := f"http://127.0.0.1:{port}")
        yield endpoint
    finally:
        server.terminate()
        server.wait(10)


@pytest.fixture
def hdfs_uri(hadoop: Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Return a folder of a real HDFS, which is removed afterwards."""
    from crawlctl.pipeline.store.open import open_store

    monkeypatch.setenv("HADOOP_CONF_DIR", hadoop.conf_dir)
    uri = f"hdfs:///tests/store/{uuid.uuid4().hex}"
    store: Any = open_store(uri)  # now: the test may set another environment
    yield uri
    store.client.ask("DELETE", "DELETE", store.path("x")[: -len("/x")], recursive="true")


@pytest.fixture
def s3_endpoint(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(f"{request.param}_endpoint"))


@pytest.fixture
def shared_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let stores with equal settings use one client: making it takes longer than most of the tests."""
    from crawlctl.pipeline.store.s3 import client as s3_client

    made = CLIENTS.setdefault("make", functools.cache(s3_client.make_client))
    monkeypatch.setattr(s3_client, "make_client", made)


@pytest.fixture
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "local":
        return LocalStore(tmp_path / "store")
    if request.param == "hdfs":
        from crawlctl.pipeline.store.open import open_store

        return open_store(request.getfixturevalue("hdfs_uri"))
    request.getfixturevalue("shared_clients")
    made: Store = s3_store(request.getfixturevalue(f"{request.param}_endpoint"))
    return made


@pytest.fixture
def new_s3_store(s3_endpoint: str) -> Callable[..., Any]:
    """Return a function that opens a store in a place of its own; keywords are settings."""

    def make(prefix: str | None = None, part_bytes: int = 5 << 20, **settings: Any) -> Any:
        return s3_store(settings.pop("endpoint", s3_endpoint), prefix, part_bytes, **settings)

    return make


@pytest.fixture(scope="session")
def proxies() -> Iterator[dict[str, Any]]:
    started: dict[str, Any] = {}
    yield started
    for flaky in started.values():
        flaky.close()


@pytest.fixture
def proxy(s3_endpoint: str, proxies: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Put a proxy that spoils requests before the S3 server; waiting between tries is cut short."""
    from botocore.retries import standard

    monkeypatch.setattr(standard.ExponentialBackoff, "delay_amount", lambda *_: 0.01)
    monkeypatch.setattr("crawlctl.pipeline.store.s3.store.pause", lambda _: None)
    if s3_endpoint not in proxies:
        proxies[s3_endpoint] = load("flaky_proxy").FlakyProxy(s3_endpoint)
    yield proxies[s3_endpoint]
    proxies[s3_endpoint].plan()


@pytest.fixture
def start_racers(store: Store) -> Iterator[Callable[[str, int], list[Racer]]]:
    """Return a function that starts real processes which all work on the store of the test."""
    started: list[Racer] = []

    def start(role: str, count: int) -> list[Racer]:
        started.extend(Racer(role, store) for _ in range(count))
        return started

    yield start
    for racer in started:
        racer.stop()


class Racer:
    """A process that runs racer.py and does what it is told, line by line."""

    def __init__(self, role: str, store: Store) -> None:
        environment = dict(os.environ)
        if store.uri.startswith("s3://"):
            environment["AWS_ENDPOINT_URL_S3"] = store.client().meta.endpoint_url  # type: ignore[attr-defined]
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "racer.py"), role, store.uri],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )

    def tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def stop(self) -> None:
        self._process.communicate(timeout=20)


def s3_store(endpoint: str, prefix: str | None = None, part_bytes: int = 5 << 20, **settings: Any) -> Any:
    from crawlctl.pipeline.store.s3.client import S3Settings
    from crawlctl.pipeline.store.s3.store import S3Store

    chosen = S3Settings(endpoint=endpoint, **settings)
    return S3Store(BUCKET, uuid.uuid4().hex if prefix is None else prefix, chosen, part_bytes)


def make_bucket(endpoint: str) -> None:
    from crawlctl.pipeline.store.s3.client import S3Settings, make_client

    settings = S3Settings(endpoint, "us-east-1", ACCESS_KEY, SECRET_KEY)
    make_client(settings).create_bucket(Bucket=BUCKET)


def find_versitygw() -> str | None:
    cached = ROOT / ".cache" / "bin" / "versitygw"
    return (
        os.environ.get("VERSITYGW") or shutil.which("versitygw") or (str(cached) if cached.exists() else None)
    )


def has_attributes(folder: Path) -> bool:
    try:
        os.setxattr(folder, "user.crawlctl", b"1")  # type: ignore[attr-defined,unused-ignore]
    except (OSError, AttributeError):
        return sys.platform == "darwin"
    return True


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(port: int) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail("versitygw does not listen")


def load(name: str) -> Any:
    """Import a module of this folder, which is on no path."""
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
