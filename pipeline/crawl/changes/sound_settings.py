"""Restores the settings of a crawl after its settings file was damaged.

The snapshot has the SHA-256 of the file. So if the user's settings file, variables and flags give the same
settings as the crawl had, the hash proves it. Otherwise the settings of an older snapshot are used, which
lack later changes.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from crawlctl.pipeline.config.own_layer import own_values, with_own
from crawlctl.pipeline.errors import ConfigError, CorruptFile, StoreError, StoreUnavailable
from crawlctl.pipeline.scope.scope import FORGOTTEN, HIDDEN
from crawlctl.pipeline.state.own_settings import encode_own_settings, read_own_settings, settings_entry
from crawlctl.pipeline.state.purged_rules import purged_rules
from crawlctl.pipeline.state.snapshots import load_snapshot, snapshot_numbers

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import Config
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store


@dataclass(frozen=True)
class FoundSettings:
    """Plain values by key; `snapshot` is the older snapshot that has them, None for the lost values."""

    values: dict[str, Any]
    snapshot: int | None = None


def find_settings(store: Store, snapshot: Snapshot, config: Config) -> FoundSettings | None:
    """Return the settings of a crawl whose file of settings is damaged; None if they are lost.

    `config` has the settings of the command, without those of the crawl.
    """
    entry, given = settings_entry(snapshot), own_values(config)
    if entry is not None and sha256(encode_own_settings(given)).hexdigest() == entry.checksum:
        return FoundSettings(given)
    found = last_sound(store)
    if found is None:
        return None
    values = {**found.values, **removals(store, snapshot)}
    with suppress(ConfigError):
        with_own(config, values)  # raises an error if this release does not understand them
        return FoundSettings(values, found.snapshot)
    return None


def last_sound(store: Store) -> FoundSettings | None:
    """Return the settings of the newest snapshot whose settings can be read."""
    for number in reversed(snapshot_numbers(store)):
        try:
            values = read_own_settings(store, load_snapshot(store, number))
        except StoreUnavailable:  # not a damage: the settings in this snapshot may be sound
            raise
        except (CorruptFile, StoreError):  # damaged, deleted, or of a newer release
            continue
        if values is not None:
            return FoundSettings(values, number)
    return None


def removals(store: Store, snapshot: Snapshot) -> dict[str, Any]:
    """Return the rules for removed pages that a crawl has, by their settings.

    The user's settings file does not have these rules, because commands such as `crawlctl forget` made them.
    If the settings of the crawl are damaged, the rules are taken from an older snapshot and from the rules by
    which a gc has deleted pages.
    """
    found = last_sound(store)
    own = found.values if found else {}
    forgotten = {*own.get(FORGOTTEN, ()), *purged_rules(store, snapshot)}
    rules = {FORGOTTEN: sorted(forgotten), HIDDEN: list(own.get(HIDDEN, ()))}
    return {key: rule for key, rule in rules.items() if rule}
