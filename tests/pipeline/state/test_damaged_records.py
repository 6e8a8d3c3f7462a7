"""Records of JSON with any damage are read, or refused in one line that names the file; no traceback."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawlctl.pipeline.errors import CrawlctlError, MissingFile
from crawlctl.pipeline.processes.process_mark import this_process
from crawlctl.pipeline.state.journal import finished_step, saved_runs
from crawlctl.pipeline.state.layout import lease_name, run_name, snapshot_name, step_name
from crawlctl.pipeline.state.leases.lease import Lease
from crawlctl.pipeline.state.leases.lease_records import LeaseRecord, encode_record
from crawlctl.pipeline.state.manifest import FileEntry, encode_entry
from crawlctl.pipeline.state.snapshots import Snapshot, encode_snapshot, load_current

if TYPE_CHECKING:
    from collections.abc import Callable

ENTRY = FileEntry("webdb", 0, "webdb/00000/00000001-0123456789abcdef/data", 1, 1, "0" * 64, {"pages": 3})
LEASE = LeaseRecord("owner", this_process(), "run", 1.8e9, 1.8e9 + 60)
SNAPSHOT = Snapshot(
    version=1, number=1, writer="w", parent="", created=1.8e9, round=0, partitions=2, files=(ENTRY,)
)
ABSURD: list[Any] = [
    *(-1, 0, 1 << 31, 1 << 53, (1 << 63) - 1, 1 << 63, 10**30, -(10**30)),
    *(1e18, 1e300, -1e300, 0.5, 253_402_300_800),
    *("", "\0", "x" * 5000, "\u202e", None, True, [], {}, [[]]),
]


class OneFile:
    """A store that holds one file, to be read by those who look for it."""

    uri = "memory"

    def __init__(self, name: str, data: bytes) -> None:
        self._name, self._data = name, data

    def read(self, name: str) -> bytes:
        if name != self._name:
            raise MissingFile(name)
        return self._data

    def list(self, prefix: str = "") -> list[Any]:
        from crawlctl.pipeline.store.base import StoredFile

        names = [self._name] if self._name.startswith(prefix) else []
        return [StoredFile(name, len(self._data), time.time()) for name in names]

    def size(self, name: str) -> int:
        raise MissingFile(name)

    def create(self, name: str, data: bytes) -> bool:
        return name != self._name

    def delete(self, names: object) -> None:
        pass

    def locate(self, name: str) -> str:
        return f"memory/{name}"


def take_lease(data: bytes) -> None:
    Lease(OneFile(lease_name(1), data), 60, "run").acquire()  # type: ignore[arg-type]


def load(data: bytes) -> None:
    snapshot = load_current(OneFile(snapshot_name(1), data))  # type: ignore[arg-type]
    time.strftime("%Y", time.gmtime(snapshot.created))
    assert len(range(snapshot.partitions)) <= 100_000
    assert all(f"{file.partition:05d}" and file.bytes < 1 << 63 for file in snapshot.files)


def read_step(data: bytes) -> None:
    finished_step(OneFile(step_name(1, "fetch"), data), 1, "fetch")  # type: ignore[arg-type]


def read_run(data: bytes) -> None:
    saved_runs(OneFile(run_name(1, 0), data), 1, 0)  # type: ignore[arg-type]


DECODERS = [
    pytest.param(take_lease, encode_record(LEASE), id="lease"),
    pytest.param(load, encode_snapshot(SNAPSHOT), id="snapshot"),
    pytest.param(read_step, encode_entry(ENTRY) + b"\n", id="step"),
    pytest.param(read_run, encode_entry(ENTRY) + b"\n", id="run"),
]


def assert_one_line(decode: Callable[[bytes], None], data: bytes) -> None:
    try:
        decode(data)
    except CrawlctlError as err:
        assert "\n" not in str(err) and "memory" in str(err)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Return each container within a value with each key of it."""
    if isinstance(value, dict):
        return [(value, key) for key in value] + [
            place for inner in value.values() for place in places(inner)
        ]
    if isinstance(value, list):
        return [place for inner in value for place in places(inner)]
    return []


@pytest.mark.parametrize(("decode", "whole"), DECODERS)
def test_absurd_values_in_any_field_are_one_line(decode: Callable[[bytes], None], whole: bytes) -> None:
    for absurd in ABSURD:
        for number in range(len(places(json.loads(whole)))):
            record = json.loads(whole)
            container, key = places(record)[number]
            container[key] = absurd
            assert_one_line(decode, json.dumps(record).encode() + b"\n")


@pytest.mark.parametrize(("decode", "whole"), DECODERS)
@given(data=st.data())
def test_damaged_bytes_are_one_line(
    decode: Callable[[bytes], None], whole: bytes, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(whole) - 1))
    damage = data.draw(st.binary(max_size=8))
    length = data.draw(st.integers(0, 8))
    assert_one_line(decode, whole[:at] + damage + whole[at + length :])


@pytest.mark.parametrize(("decode", "whole"), DECODERS)
@given(value=st.integers() | st.floats(allow_nan=False), number=st.integers(0, 30))
@example(value=10**30, number=4)
def test_any_number_in_any_field_is_one_line(
    decode: Callable[[bytes], None], whole: bytes, value: float, number: int
) -> None:
    record = json.loads(whole)
    found = places(record)
    container, key = found[number % len(found)]
    container[key] = value
    assert_one_line(decode, json.dumps(record).encode() + b"\n")
