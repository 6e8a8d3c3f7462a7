"""EntryRevision: applies the order of a revision to one entry of the WebDB."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.scope.belonging import belonging
from crawlctl.pipeline.scope.scope import Scope, is_forgotten, is_of_scope
from crawlctl.pipeline.scope.scope_rules import RuleSet
from crawlctl.pipeline.urls.hosts import host_of, url_of_key
from crawlctl.pipeline.webdb.life import left_alone, let_in, made_due, shut_out, without_validators
from crawlctl.pipeline.webdb.packed import leading_fields
from crawlctl.pipeline.webdb.records import NEVER, Status, WebEntry, decode_entry

if TYPE_CHECKING:
    from crawlctl.pipeline.scope.scope import Exclusion
    from crawlctl.pipeline.webdb.revision.order import ReviseOrder


class Revised(NamedTuple):
    """An entry before and after a revision; both are the same object if nothing changes."""

    before: WebEntry
    after: WebEntry
    is_outside: bool  # whether the crawl does not visit the URL

    @property
    def has_left(self) -> bool:
        """Whether the page leaves search."""
        return self.before.live and not self.after.live

    @property
    def is_shut_out(self) -> bool:
        """Whether the new scope excludes the URL and the old scope did not."""
        return is_shut_out(self.after) and not is_shut_out(self.before)


class EntryRevision:
    """Revises entries one by one, for as long as a task works; it remembers only which rules hosts match."""

    def __init__(self, order: ReviseOrder) -> None:
        self._scope = Scope(order.scope, order.seed_hosts)
        self._only = RuleSet("the pages", order.only)
        self._now = order.now
        self._refresh = order.refresh
        self._whole = order.whole

    def matching(self, key: bytes) -> str | None:
        """Return the rule of the order that matches a key, "" if it has no rules; None if no rule matches."""
        if self._only.empty:
            return ""
        url = url_of_key(key)
        return self._only.matching(url, host_of(url)) or None

    def revised(self, key: bytes, value: bytes, name: str = "webdb", offset: int = 0) -> Revised | None:
        """Return an entry before and after the revision; None if it cannot change and was not decoded."""
        leading = leading_fields(value, name, offset)
        exclusion, stays = belonging(
            self._scope, url_of_key(key), leading.depth, lambda: decode_entry(value, name, offset).source
        )
        # A URL inside the scope changes only if it was kept out before, which its status or due time shows.
        may_be_kept_out = leading.status is Status.EXCLUDED or leading.next_due == NEVER
        if exclusion is None and not may_be_kept_out and not self._refresh:
            return None
        entry = decode_entry(value, name, offset)
        if self._refresh:
            return self._refreshed(entry, exclusion)
        return self._inside(entry) if exclusion is None else self._outside(entry, exclusion, stays)

    def _refreshed(self, entry: WebEntry, exclusion: Exclusion | None) -> Revised:
        if exclusion is not None or is_shut_out(entry):
            return Revised(entry, entry, is_outside=True)
        due = made_due(entry, self._now)
        return Revised(entry, without_validators(due) if self._whole else due, is_outside=False)

    def _outside(self, entry: WebEntry, exclusion: Exclusion, stays: bool) -> Revised:
        reason = str(exclusion)
        if stays:
            after = left_alone(entry)
        elif is_shut_out(entry) and is_forgotten(entry.reason) is is_forgotten(reason):
            after = entry
        else:
            after = shut_out(entry, reason, self._now)
        return Revised(entry, after, is_outside=True)

    def _inside(self, entry: WebEntry) -> Revised:
        if is_shut_out(entry):
            after = let_in(entry, self._now)
        elif entry.next_due == NEVER:
            # An imported page: links of it that were outside the scope were not taken, so it is read again.
            after = without_validators(made_due(entry, self._now))
        else:
            after = entry
        return Revised(entry, after, is_outside=False)


def is_shut_out(entry: WebEntry) -> bool:
    """Return whether an entry is excluded by the scope, not by its content or its host."""
    return entry.status is Status.EXCLUDED and is_of_scope(entry.reason)
