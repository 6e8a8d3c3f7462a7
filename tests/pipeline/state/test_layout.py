from __future__ import annotations

import re

import pytest

from crawlctl.pipeline.state import kinds, layout
from crawlctl.pipeline.state.layout import (
    DATA_KINDS,
    TOP_FOLDERS,
    data_name,
    lease_name,
    number_of,
    probe_name,
    snapshot_name,
)
from crawlctl.pipeline.store.file_names import check_name


def test_a_data_name_has_kind_partition_round_and_attempt() -> None:
    name = data_name("pages", 7, 42, ".warc.gz")
    assert re.fullmatch(r"pages/00007/00000042-[0-9a-f]{16}\.warc\.gz", name)


def test_two_attempts_never_share_a_name() -> None:
    assert len({data_name("webdb", 0, 1) for _ in range(1000)}) == 1000


def test_every_name_is_in_a_known_folder_and_allowed() -> None:
    made = [data_name(kind, 99999, 12345678, "/data") for kind in DATA_KINDS]
    for name in [*made, snapshot_name(1), lease_name(1), probe_name()]:
        assert check_name(name).split("/")[0] in TOP_FOLDERS


def test_every_constant_of_the_kinds_is_a_folder_from_which_gc_may_delete() -> None:
    constants = {
        value for name, value in vars(kinds).items() if not name.startswith("__") and isinstance(value, str)
    }
    assert {*constants, layout.ROUNDS} == set(DATA_KINDS)
    assert all(layout.may_be_garbage(data_name(kind, 0, 1)) for kind in constants)


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match=r"add it to state/kinds\.py"):
        data_name("secrets", 0, 0)


@pytest.mark.parametrize("number", [0, 1, 42, 99_999_999, 100_000_000])
def test_a_number_is_found_in_its_name(number: int) -> None:
    assert number_of(snapshot_name(number)) == number_of(lease_name(number)) == number


@pytest.mark.parametrize(
    "name", ["snapshots/1.json", "snapshots/00000001", "docs/00000001.json", "snapshots/x.json"]
)
def test_other_files_have_no_number(name: str) -> None:
    assert number_of(name) is None


def test_what_was_spent_and_the_live_status_are_read_from_their_names() -> None:
    spent = layout.spent_name(43, "ab" * 8, "fetch", 2.4, 1.8)
    assert layout.said_by_spent(spent) == ("ab" * 8, "fetch", 2.4, 1.8)
    assert not layout.is_manifest_name(spent)
    assert layout.said_by_spent(layout.step_name(43, "fetch")) is None
    live = layout.live_name(12, "cd" * 16)
    assert layout.said_by_live(live) == (12, "cd" * 16)
    assert layout.said_by_live(layout.lease_name(12)) is None
