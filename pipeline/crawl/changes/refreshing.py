"""Makes known pages due now, and removes the waiting times of their hosts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlctl.pipeline.crawl.changes.named_pages import require_matches
from crawlctl.pipeline.crawl.changes.revision import revise_pages
from crawlctl.pipeline.crawl.leased_crawl import leased_crawl
from crawlctl.pipeline.errors import NothingMatched
from crawlctl.pipeline.state.journal import is_round_open
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.terminal.counted import counted

if TYPE_CHECKING:
    from crawlctl.pipeline.crawl.changes.revision import Revised
    from crawlctl.pipeline.crawl.work import Work

_ADVICE = "add a new URL with `crawlctl inject URL`"
_MAX_MAKER_CHARS = 100


@dataclass(frozen=True)
class Refreshed:
    """How many URLs are due now, and how many were named but are outside the scope."""

    due: int
    outside: int
    undo: int
    snapshot: int | None  # the number of the new snapshot, None if nothing was changed
    open_round: int | None = None  # its pages that are fetched already are not fetched again by this refresh


def refresh(work: Work, rules: tuple[str, ...], named: str, *, whole: bool = False) -> Refreshed:
    """Make the URLs that match `rules` due, and commit that; `named` is the text that the user typed.

    With `whole` the pages are fetched even if they have not changed.
    """
    with leased_crawl(work, "refresh") as crawl:
        undo = crawl.snapshot.number
        revised = revise_pages(crawl.work, crawl.snapshot, rules, refresh=True, whole=whole)
        _require_due(rules, revised)
        open_round = crawl.next_round if is_round_open(crawl.store, crawl.next_round) else None
        committed = crawl.commit(revised.files, made_by=f"refresh {named}"[:_MAX_MAKER_CHARS])
    return Refreshed(revised.due, revised.outside, undo, committed.number, open_round)


def would_refresh(work: Work, rules: tuple[str, ...]) -> Refreshed:
    """Return what `refresh` would do, without changing anything."""
    snapshot = load_current(work.store)
    revised = revise_pages(work, snapshot, rules, refresh=True, dry_run=True)
    _require_due(rules, revised)
    return Refreshed(revised.due, revised.outside, snapshot.number, None)


def _require_due(rules: tuple[str, ...], revised: Revised) -> None:
    require_matches(rules, revised.matched, _ADVICE)
    if not revised.due:
        raise NothingMatched(
            f"all that you name ({counted(revised.outside, 'known URL')}) is outside the scope, so it is "
            "not visited; `crawlctl explain URL` names the rule"
        )
