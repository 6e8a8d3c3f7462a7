"""Removes pages from search at once, and keeps them out in later rounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec

from crawlctl.pipeline.crawl.changes.named_pages import require_matches
from crawlctl.pipeline.crawl.changes.own_rules import UNSET, change_settings
from crawlctl.pipeline.crawl.changes.revision import revise_pages
from crawlctl.pipeline.crawl.leased_crawl import leased_crawl
from crawlctl.pipeline.scope.scope import FORGOTTEN, HIDDEN
from crawlctl.pipeline.state.snapshots import load_current

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlctl.pipeline.config.settings import Config
    from crawlctl.pipeline.crawl.changes.revision import Revised
    from crawlctl.pipeline.crawl.work import Work

_ADVICE = (
    "check the spelling with `crawlctl explain URL`; `crawlctl hosts` lists the hosts that the crawl knows, "
    "`crawlctl forget --query WORDS` forgets by words"
)
_MAX_MAKER_CHARS = 100


@dataclass(frozen=True)
class Forgotten:
    """The pages that `forget` has removed, or would remove; `undo` is the number of the snapshot before.

    `snapshot` is the number of the snapshot that was committed; None if nothing was committed.
    """

    revised: Revised
    undo: int
    snapshot: int | None = None


def forget(work: Work, rules: tuple[str, ...], named: str, *, keep_archive: bool = False) -> Forgotten:
    """Exclude the pages that match `rules`, and commit the change; `named` is the text the user typed."""
    with leased_crawl(work, "forget") as crawl:
        undo = crawl.snapshot.number
        after = with_removed(crawl.work.config, rules, keep_archive=keep_archive)
        revised = revise_pages(replace(crawl.work, config=after), crawl.snapshot, rules)
        require_matches(rules, revised.matched, _ADVICE)
        removed = {FORGOTTEN: after.scope.forgotten, HIDDEN: after.scope.hidden}
        maker = f"forget {named}"[:_MAX_MAKER_CHARS]
        done = change_settings(crawl, _plain(removed), revised=revised, made_by=maker)
    return Forgotten(revised, undo, done.snapshot if done.is_committed else None)


def _plain(rules: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """Return lists of rules as plain values of settings; an empty list means the default."""
    return {key: list(found) or UNSET for key, found in rules.items()}


def would_forget(work: Work, rules: tuple[str, ...], *, keep_archive: bool = False) -> Forgotten:
    """Return what `forget` would do, without changing anything."""
    snapshot = load_current(work.store)
    after = with_removed(work.config, rules, keep_archive=keep_archive)
    revised = revise_pages(replace(work, config=after), snapshot, rules, dry_run=True)
    require_matches(rules, revised.matched, _ADVICE)
    return Forgotten(revised, snapshot.number)


def with_removed(config: Config, rules: tuple[str, ...], *, keep_archive: bool) -> Config:
    """Return the settings with more rules for removed pages; a page is either forgotten or hidden."""
    scope = config.scope
    gone, kept = (scope.hidden, scope.forgotten) if keep_archive else (scope.forgotten, scope.hidden)
    gone = tuple(dict.fromkeys((*gone, *rules)))
    kept = tuple(rule for rule in kept if rule not in rules)
    forgotten, hidden = (kept, gone) if keep_archive else (gone, kept)
    changed = msgspec.structs.replace(scope, forgotten=forgotten, hidden=hidden)
    return msgspec.structs.replace(config, scope=changed)
