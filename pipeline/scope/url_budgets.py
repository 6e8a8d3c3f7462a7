"""How many URLs of a site are taken up, by what its pages proved to be worth.

A fixed cap either cuts good sites or lets traps run for long.  Here a folder, and a path with a set of
parameters, has a budget to begin with, and every page of it that turned out to be worth indexing (it was
there, and no duplicate) earns it more.  A calendar without end or a shop that sorts one list in a thousand
ways yields nothing new, so its budget is soon used up; a real archive pays for itself.

    urls of a folder ≤ urls_per_prefix + urls_earned_per_page × useful pages of the folder

The same calls in the same order always give the same answers.  Counts are kept by host and can be dropped
host by host, for a pass over a WebDB, which is sorted by host.  They take a bounded amount of memory: when it
is used up, by a site of which each page is a folder of its own, all other folders of a host share one budget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.scope.scope import Exclusion
from crawlctl.pipeline.urls.hosts import host_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.config.settings import BudgetSettings


MEMORY = 32 << 20
_OVERHEAD = 300  # bytes of Python objects around the name of a folder
_OTHERS = "/…/"  # those there was no room for


class _Count:
    """URLs taken up and pages that were useful, of one folder or parameter set."""

    __slots__ = ("urls", "useful")

    def __init__(self) -> None:
        self.urls = 0
        self.useful = 0


class _HostCounts:
    """What is known of one host."""

    __slots__ = ("groups", "sets_of_path", "urls")

    def __init__(self) -> None:
        self.urls = 0
        self.groups: dict[str, _Count] = {}  # folder "/a/b/", or path and names "/a/b?x&y"
        self.sets_of_path: dict[str, int] = {}


class UrlBudgets:
    """Counts the URLs of sites and says when one has had its share."""

    def __init__(self, settings: BudgetSettings, memory: int = MEMORY) -> None:
        self._settings = settings
        self._room = memory
        self._hosts: dict[str, _HostCounts] = {}

    def admit(self, url: str) -> Exclusion | None:
        """Take up a new canonical URL, or return the budget that is used up; then it is not counted."""
        host = host_of(url)
        exclusion = self._used_up(host, url)
        if exclusion is None:
            self._count(host, url)
        return exclusion

    def count(self, url: str) -> None:
        """Count a URL that was taken up earlier."""
        self._count(host_of(url), url)

    def useful(self, url: str) -> None:
        """Say that a URL counted before gave a page worth indexing."""
        counts = self._hosts[host_of(url)]
        for group in self._counted(counts, url):
            if count := counts.groups.get(group):
                count.useful += 1

    def _used_up(self, host: str, url: str) -> Exclusion | None:
        counts = self._hosts.get(host)
        if counts is None:
            return None
        if counts.urls >= self._settings.urls_per_host:
            return Exclusion("budgets.urls_per_host", f"{host} has {counts.urls} URLs")
        for group in self._counted(counts, url):
            count = counts.groups.get(group)
            if count is None:
                if exclusion := self._too_many_sets(counts, group):
                    return exclusion
            elif count.urls >= self._allowed(group, count):
                name = "urls_per_parameter_set" if "?" in group else "urls_per_prefix"
                why = f"{host}{group} has {count.urls} URLs, of which {count.useful} gave a useful page"
                return Exclusion(f"budgets.{name}", why)
        return None

    def _allowed(self, group: str, count: _Count) -> int:
        settings = self._settings
        start = settings.urls_per_parameter_set if "?" in group else settings.urls_per_prefix
        return start + settings.urls_earned_per_page * count.useful

    def _too_many_sets(self, counts: _HostCounts, group: str) -> Exclusion | None:
        path, mark, _ = group.partition("?")
        sets = counts.sets_of_path.get(path, 0) if mark else 0
        if sets < self._settings.parameter_sets_per_path:
            return None
        return Exclusion("budgets.parameter_sets_per_path", f"{path} has {sets} different sets of parameters")

    def _count(self, host: str, url: str) -> None:
        counts = self._hosts.setdefault(host, _HostCounts())
        counts.urls += 1
        for group in self._counted(counts, url):
            if group not in counts.groups:
                self._room -= _bytes(group)
                counts.groups[group] = _Count()
                path, mark, _ = group.partition("?")
                if mark:
                    counts.sets_of_path[path] = counts.sets_of_path.get(path, 0) + 1
            counts.groups[group].urls += 1

    def _counted(self, counts: _HostCounts, url: str) -> Iterable[str]:
        """Return the groups of a URL as far as they have a count or there is room for one."""
        groups = self._groups(url)
        if self._room > 0:
            return groups
        return dict.fromkeys(group if group in counts.groups else _OTHERS for group in groups)

    def _groups(self, url: str) -> Iterator[str]:
        path, _, query = url[url.index("/", 8) :].partition("?")
        end = 0
        for _ in range(self._settings.prefix_segments):
            end = path.find("/", end + 1)
            if end < 0:
                break
            yield path[: end + 1]
        if query:
            names = {parameter.partition("=")[0] for parameter in query.split("&")}
            yield f"{path}?{'&'.join(sorted(names))}"


def _bytes(group: str) -> int:
    # A path stands a second time in the table of its sets.
    return _OVERHEAD + len(group) * (2 if "?" in group else 1)
