from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.store.s3 import upload as s3_upload

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.slow

only_moto = pytest.mark.parametrize(
    "s3_endpoint", ["moto"], indirect=True
)  # it can be told to take tiny parts


@only_moto
def test_parts_grow_so_that_their_number_stays_within_bounds(
    new_s3_store: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moto.s3.models.S3_UPLOAD_PART_MIN_SIZE", 1)
    monkeypatch.setattr(s3_upload, "PARTS_PER_SIZE", 2)
    store, content = new_s3_store(part_bytes=100), os.urandom(1000)
    with store.write("pages/a") as sink:
        for start in range(0, 1000, 7):
            sink.write(content[start : start + 7])
    assert store.read("pages/a") == content
    assert len(sink._parts) == 6  # of 100, 100, 200, 200, 300 and the last 100 bytes
    assert s3_upload.PART_BYTES * 1000 * sum(range(1, 11)) > 400 << 30


@pytest.mark.parametrize("extra", [-1, 0, 1])
def test_a_file_of_about_one_part_is_whole(new_s3_store: Callable[..., Any], extra: int) -> None:
    store, content = new_s3_store(), os.urandom((5 << 20) + extra)
    with store.write("pages/a") as sink:
        sink.write(memoryview(content))
    assert store.read("pages/a") == content
    assert len(sink._parts) == (extra >= 0) + (extra > 0)


def test_a_sink_holds_no_more_than_one_part(new_s3_store: Callable[..., Any]) -> None:
    store = new_s3_store()
    with store.write("pages/a") as sink:
        for _ in range(11):
            sink.write(bytes(1 << 20))
            assert sink._held < 5 << 20
    assert store.size("pages/a") == 11 << 20
