"""Changes the crawl's own settings: the settings file and the changes of WebDB and index are one snapshot.

A round that was begun with the old settings stays valid: its saved runs are kept, and the rest of the round
uses the new settings. The files of a merge count only for the snapshot they were made from
(state/journal.py), so a merge that was finished with the old settings is done again.

When the scope changes, pages that it now excludes leave search with the same snapshot, and URLs that it now
includes are due (revision.py). Links that were ignored when a page was parsed are found by a replay of the
archive.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from shlex import quote
from typing import TYPE_CHECKING, Any

import msgspec

from crawlctl.pipeline.config.load import require_known, typed_value, value_of
from crawlctl.pipeline.config.own_layer import (
    OWN_SOURCE,
    own_keys,
    own_values,
    require_own,
    shown,
    with_own,
)
from crawlctl.pipeline.crawl.changes.revision import revise
from crawlctl.pipeline.crawl.changes.sound_settings import removals
from crawlctl.pipeline.crawl.leased_crawl import leased_crawl, require_sound_rules
from crawlctl.pipeline.crawl.replaying import replay
from crawlctl.pipeline.errors import ConfigError, CorruptFile
from crawlctl.pipeline.scope.scope_change import may_widen
from crawlctl.pipeline.state.kinds import SETTINGS, WEBDB
from crawlctl.pipeline.state.own_settings import read_own_settings, settings_entry, write_own_settings
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.terminal.counted import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from crawlctl.pipeline.config.settings import Config
    from crawlctl.pipeline.crawl.changes.revision import Revised
    from crawlctl.pipeline.crawl.leased_crawl import LeasedCrawl
    from crawlctl.pipeline.crawl.work import Work
    from crawlctl.pipeline.state.manifest import FileEntry

SITES = "sites"
_MAX_MAKER_CHARS = 100
UNSET = msgspec.UNSET  # stands in place of a value and means: back to the default


@dataclass(frozen=True)
class Change:
    """One changed setting of a crawl: its key, its new value, and its old value (`was`)."""

    key: str
    value: Any
    was: Any


@dataclass(frozen=True)
class ChangedSettings:
    """The result of a change of the crawl's own settings; `snapshot` is the current snapshot after it.

    `left` is how many pages have left search, `excluded` how many URLs are newly excluded (those pages among
    them), and `due` how many URLs have become due.
    """

    changes: tuple[Change, ...]
    snapshot: int
    is_committed: bool
    left: int = 0
    due: int = 0
    was_damaged: bool = False  # whether the old settings could not be read
    undo: int = 0  # the number of the snapshot before the change
    unmatched: tuple[str, ...] = ()  # sentences about search rules that match no page
    excluded: int = 0
    has_revised: bool = False  # whether the scope is another, and the crawl has URLs that it concerns

    def line(self) -> str:
        """Return all changes in one line, for the user."""
        first, *others = self.changes
        moved = [f"{counted(self.left, 'page has', 'pages have')} left search"] if self.left else []
        unseen = self.excluded - self.left
        url = "other URL" if self.left else "URL"
        moved += [f"{counted(unseen, url)} will not be fetched"] if unseen > 0 else []
        moved += [f"{counted(self.due, 'URL is', 'URLs are')} due now"] if self.due else []
        if self.has_revised and not moved:
            moved = ["no page has left search, and no URL is due because of it"]
        return "; ".join([_said(first, " of this crawl"), *map(_said, others), *moved, *self._next()])

    def _next(self) -> Iterator[str]:
        """Yield the command to type for changes that affect a page only when it is parsed again."""
        for change in self.changes:
            if change.key == SITES:
                keys = {*change.value, *change.was}
                changed = sorted(key for key in keys if change.value.get(key) != change.was.get(key))
                named = changed[0] if len(changed) == 1 and "*" not in changed[0] else "HOST"
                yield (
                    "a page is read by the new rules at its next visit; to have pages read with the next "
                    f"run: crawlctl refresh --whole {quote(named)}"
                )


def _said(change: Change, whose: str = "") -> str:
    return (
        f"{change.key}{whose} is now {shown(change.key, change.value)} (was {shown(change.key, change.was)})"
    )


def change_settings(
    crawl: LeasedCrawl,
    changes: Mapping[str, Any],
    *,
    anew: bool = False,
    revised: Revised | None = None,
    made_by: str = "",
) -> ChangedSettings:
    """Set settings of the crawl to plain values (or UNSET) and commit; `crawl` uses them from then on.

    A crawl of an older release gets its first settings file: all settings in use that belong to a crawl, with
    the changes. With `anew` an existing file is replaced in the same way, even if it is damaged. The WebDB
    and the index are changed by the new scope in the same snapshot, unless the caller passes `revised` files.
    """
    config, stored, parent = crawl.work.config, _stored(crawl, anew=anew), crawl.snapshot
    start = own_values(config) if anew or stored is None else stored
    if anew:
        start = {**start, **removals(crawl.store, crawl.snapshot)}
    _require_changeable(changes, start)
    wanted = {key: value for key, value in {**start, **changes}.items() if value is not UNSET}
    before, after = with_own(config, _readable(start if stored is None else stored)), with_own(config, wanted)
    found = tuple(_changes(before, after))
    require_sound_rules(after)
    revised = revised or revise(crawl, before, after, _links_left_out(crawl, before, after))
    is_committed = (
        stored is None
        or bool(found)
        or bool(stored.keys() - wanted.keys())
        or revised.files != crawl.snapshot.files
    )
    if is_committed:
        named = ", ".join(change.key for change in found)[:_MAX_MAKER_CHARS] or "settings"
        _commit(crawl, revised.files, after, made_by or crawl.part_of_command(named))
    crawl.work = replace(crawl.work, config=after)
    was_damaged = stored is None and settings_entry(parent) is not None
    return ChangedSettings(
        found,
        crawl.snapshot.number,
        is_committed,
        revised.left,
        revised.due,
        was_damaged,
        parent.number,
        _unmatched(crawl, found),
        revised.excluded,
        before.scope != after.scope and any(entry.records for entry in parent.files_of(WEBDB)),
    )


def _unmatched(crawl: LeasedCrawl, changes: Iterable[Change]) -> tuple[str, ...]:
    """Return sentences about search rules that match no page, if these rules have changed."""
    from crawlctl.pipeline.search.rules.rules_file import SECTION
    from crawlctl.pipeline.search.rules.unmatched_rules import unmatched_rules

    if not any(change.key.startswith(SECTION) for change in changes):
        return ()

    return tuple(unmatched_rules(crawl.store, crawl.snapshot))


def _links_left_out(crawl: LeasedCrawl, before: Config, after: Config) -> tuple[FileEntry, ...]:
    """Return the links of archived pages, as `fresh` files, if the new scope may include more of them."""
    if not may_widen(before.scope, after.scope):
        return ()
    return replay(crawl.work, crawl.snapshot, config=after)


def change_now(work: Work, changes: Mapping[str, Any], *, anew: bool = False) -> ChangedSettings:
    """Take the lease of the crawl and change its settings."""
    with leased_crawl(work, "config") as crawl:
        return change_settings(crawl, changes, anew=anew)


def settings_to_edit(work: Work) -> tuple[Work, dict[str, Any]]:
    """Return the own settings of a crawl, and a work that refuses to replace any later settings."""
    snapshot = load_current(work.store)
    entry, own = settings_entry(snapshot), read_own_settings(work.store, snapshot)
    edited = replace(work, own_file=entry.name if entry else "")
    return edited, own_values(work.config) if own is None else own


def settle_settings(crawl: LeasedCrawl, changes: Mapping[str, Any]) -> None:
    """Store the flags of a run as settings of the crawl, and tell the user.

    A crawl of an older release has no settings of its own yet: the settings in use become its own, in one
    commit.
    """
    is_older = settings_entry(crawl.snapshot) is None
    changed = change_settings(crawl, changes)
    if is_older:
        own = ", ".join(own_values(crawl.work.config)) or "all are the defaults"
        crawl.work.display.say(
            f"this crawl now keeps its own settings, those of this run ({own}); `crawlctl config` shows "
            "them, and `crawlctl config set` changes them"
        )
    elif changed.changes:
        crawl.work.display.say(changed.line())


def _changes(before: Config, after: Config) -> Iterator[Change]:
    for key in own_keys():
        value, was = value_of(after, key), value_of(before, key)
        if value != was:
            yield Change(key, value, was)


def _commit(crawl: LeasedCrawl, files: tuple[FileEntry, ...], after: Config, made_by: str) -> None:
    """Commit these files and the new settings as one snapshot."""
    entry = write_own_settings(crawl.store, own_values(after), crawl.next_round)
    others = tuple(file for file in files if file.kind != SETTINGS)
    crawl.commit((*others, entry), made_by=made_by)
    crawl.work = replace(crawl.work, own_file=entry.name)


def _stored(crawl: LeasedCrawl, *, anew: bool) -> dict[str, Any] | None:
    """Return the settings of the crawl; None if it has none or, with `anew`, if they cannot be read."""
    try:
        return read_own_settings(crawl.store, crawl.snapshot)
    except CorruptFile:
        if not anew:
            raise
        return None


def _require_changeable(changes: Mapping[str, Any], stored: Mapping[str, Any]) -> None:
    """Raise unless all settings to change belong to the crawl; a stored setting may always be changed."""
    for key in changes.keys() - stored.keys():
        require_known(key, OWN_SOURCE)
        require_own(key)


def _readable(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the stored values that this release understands; a change may correct the other values."""
    found = {}
    for key, value in stored.items():
        with suppress(ConfigError):
            typed_value(key, value, OWN_SOURCE)
            found[key] = value
    return found
