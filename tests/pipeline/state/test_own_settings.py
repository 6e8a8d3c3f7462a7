from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.config.load import all_types, build_config, default_of, typed_value
from crawlctl.pipeline.config.own_layer import own_keys, own_values, with_own
from crawlctl.pipeline.config.settings import Config, Pace
from crawlctl.pipeline.config.units import Characters, Duration, Size
from crawlctl.pipeline.errors import ConfigError, DamagedSettings, StoreError
from crawlctl.pipeline.state.own_settings import (
    decode_own_settings,
    encode_own_settings,
    read_own_settings,
    settings_entry,
    write_own_settings,
)
from crawlctl.pipeline.state.snapshots import create_crawl
from crawlctl.pipeline.store.local.store import LocalStore

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.state.snapshots import Snapshot

VALUES = {"scope.include": ["docs.python.org", 'a "quoted" rule'], "scope.max_depth": 3}
TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)


def plain(kind: Any) -> st.SearchStrategy[Any]:
    """Values that may be valid for a type of a setting."""
    inner = get_args(kind)
    if get_origin(kind) is Annotated:
        return plain(inner[0])
    if get_origin(kind) is tuple:
        return st.lists(plain(inner[0]), max_size=3)
    if get_origin(kind) is dict:
        return st.dictionaries(TEXTS, st.fixed_dictionaries({}, optional={"initial": units()}), max_size=2)
    if kind in (Duration, Size, Characters):
        return units()
    return {
        bool: st.booleans(),
        int: st.integers(0, 1 << 70),
        float: st.floats(0, allow_infinity=True) | st.floats(0, 2),
        str: TEXTS,
    }[kind]


def units() -> st.SearchStrategy[Any]:
    return st.integers(0, 1 << 40) | st.sampled_from(["90s", "1.5h", "7d", "64KiB", "3MiB"])


@st.composite
def some_settings(draw: st.DrawFn) -> dict[str, Any]:
    keys = draw(st.lists(st.sampled_from(own_keys()), max_size=6, unique=True))
    return {key: draw(plain(all_types()[key])) for key in keys}


@given(some_settings())
def test_any_valid_settings_come_back_as_they_were(wanted: dict[str, Any]) -> None:
    try:
        typed = {key: typed_value(key, value, "test") for key, value in wanted.items()}
        config = build_config({key: typed.get(key, default_of(key)) for key in all_types()})
    except ConfigError:
        return
    stored = decode_own_settings(encode_own_settings(own_values(config)), "settings")
    assert stored == own_values(config)
    assert with_own(Config(), stored) == config


def test_a_pace_of_one_host_comes_back() -> None:
    config = with_own(Config(), {"recrawl.hosts": {"a.org": {"minimum": "15min"}}})
    assert config.recrawl.hosts == {"a.org": Pace(minimum=Duration(900))}
    assert with_own(Config(), own_values(config)) == config


@pytest.mark.parametrize(
    ("key", "value"), [("index.tier_ratio", float("inf")), ("scope.include", ["\udc9b"])]
)
def test_a_value_that_cannot_be_stored_is_refused(key: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"crawl.yaml: {key} must be .* because the crawl cannot store it"):
        typed_value(key, value, "crawl.yaml")


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "crawl")


@pytest.fixture
def snapshot(store: LocalStore) -> Snapshot:
    return create_crawl(store, 1, lambda: (write_own_settings(store, VALUES, 0),))


def test_the_snapshot_names_one_file_with_a_line_per_setting(store: LocalStore, snapshot: Snapshot) -> None:
    (entry,) = snapshot.files
    assert (entry.kind, entry.partition, entry.records) == ("settings", 0, 2)
    assert read_own_settings(store, snapshot) == VALUES
    data = store.read(entry.name)
    assert json.loads(data) == {"version": 1, "settings": VALUES}
    assert b'\n  "scope.max_depth": 3\n' in data


def test_a_crawl_of_an_older_release_has_none(store: LocalStore) -> None:
    snapshot = create_crawl(store, 1)
    assert settings_entry(snapshot) is None
    assert read_own_settings(store, snapshot) is None


def test_every_damage_names_the_file_and_the_remedy(
    store: LocalStore, snapshot: Snapshot, tmp_path: Path
) -> None:
    path = tmp_path / "crawl" / snapshot.files[0].name
    sound = path.read_bytes()
    for at in range(len(sound)):
        path.write_bytes(sound[:at] + bytes([sound[at] ^ 1]) + sound[at + 1 :])
        with pytest.raises(DamagedSettings, match=r"settings/00000/.*SHA-256.*crawlctl config set --anew"):
            read_own_settings(store, snapshot)
    path.write_bytes(sound[:-1])
    with pytest.raises(DamagedSettings, match=f"it should have {len(sound)} bytes"):
        read_own_settings(store, snapshot)
    path.unlink()
    with pytest.raises(DamagedSettings, match="the file is missing"):
        read_own_settings(store, snapshot)


@pytest.mark.parametrize("data", [b"", b"{}", b"\xff", b'{"version": 1}', b'{"version": 1, "settings": []}'])
def test_what_is_no_settings_file_is_damage(data: bytes) -> None:
    with pytest.raises(DamagedSettings, match="these are not the settings of a crawl"):
        decode_own_settings(data, "settings/x")


def test_a_newer_format_asks_for_an_upgrade() -> None:
    data = msgspec.json.encode({"version": 2, "settings": {}, "more": 1})
    with pytest.raises(StoreError, match="upgrade it"):
        decode_own_settings(data, "settings/x")
