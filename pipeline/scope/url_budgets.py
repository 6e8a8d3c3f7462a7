"""Limits the number of URLs per host, folder and parameter set; useful pages earn more URLs.

A fixed limit either cuts good sites or lets traps run for long. So each folder, and each path with a set of
parameters, starts with a budget, and each useful page in it (a page that exists and is no duplicate) earns
more. An endless calendar, or a shop that sorts one list in a thousand ways, gives no useful pages, so its
budget is soon used up. A real archive earns its own budget.

    URLs of a folder ≤ urls_per_prefix + urls_earned_per_page × useful pages of the folder

A budget that is at most half used up has room: the host has not shown yet that it is a trap, so a page may
bring as many URLs as it likes (fetch/pages/discovery.py). All URLs of a host together have such a budget too,
as large as that of a folder, so that a trap with a folder per page gets no more room than a trap in one
folder.

The same calls in the same order always give the same results. The counters take a limited amount of memory.
When it is used up, for example by a site with a folder per page, all further folders of a host share one
budget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.scope.scope import Exclusion
from crawlctl.pipeline.terminal.counted import counted
from crawlctl.pipeline.urls.hosts import host_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.config.settings import BudgetSettings


MEMORY = 32 << 20  # bytes
_OVERHEAD = 300  # bytes of Python objects around the name of a folder
_OTHERS = "/…/"  # the name for all folders that have no counter of their own


class _Count:
    """The URLs and the useful pages of one folder or parameter set."""

    __slots__ = ("urls", "useful")

    def __init__(self) -> None:
        self.urls = 0
        self.useful = 0


class _HostCounts:
    """The counters of one host."""

    __slots__ = ("all", "groups", "sets_of_path")

    def __init__(self) -> None:
        self.all = _Count()
        self.groups: dict[str, _Count] = {}  # folder "/a/b/", or path and names "/a/b?x&y"
        self.sets_of_path: dict[str, int] = {}


class UrlBudgets:
    """Admits new URLs until a budget is used up; lives as long as a task."""

    def __init__(self, settings: BudgetSettings, memory: int = MEMORY) -> None:
        self._settings = settings
        self._room = memory
        self._hosts: dict[str, _HostCounts] = {}

    def admit(self, url: str) -> Exclusion | None:
        """Count a new canonical URL and return None, or return the budget that is used up."""
        host = host_of(url)
        exclusion = self._used_up(host, url)
        if exclusion is None:
            self._count(host, url)
        return exclusion

    def count(self, url: str) -> None:
        """Count a URL that an earlier round has taken."""
        self._count(host_of(url), url)

    def load(self, host: str, urls: int, useful: int, groups: Iterable[tuple[str, int, int]]) -> None:
        """Count all URLs of a host that earlier rounds have taken, given as counts of its groups."""
        counts = self._hosts.setdefault(host, _HostCounts())
        counts.all.urls += urls
        counts.all.useful += useful
        for group, of_group, useful_ones in groups:
            if "?" in group or group.count("/") <= self._settings.prefix_segments + 1:
                known = self._room > 0 or group in counts.groups
                counter = self._counter(counts, group if known else _OTHERS)
                counter.urls += of_group
                counter.useful += useful_ones

    def useful(self, url: str) -> None:
        """Record that a URL that was counted before gave a useful page."""
        counts = self._hosts[host_of(url)]
        counts.all.useful += 1
        for group in self._counted(counts, url):
            if count := counts.groups.get(group):
                count.useful += 1

    def has_room(self, url: str) -> bool:
        """Return whether the budgets of a URL (host, folders, parameters) are at most half used up."""
        counts = self._hosts.get(host_of(url))
        if counts is None:
            return True
        found = ((group, counts.groups.get(group)) for group in self._counted(counts, url))
        return all(
            count is None or 2 * count.urls < self._allowed(group, count)
            for group, count in (("/", counts.all), *found)
        )

    def _used_up(self, host: str, url: str) -> Exclusion | None:
        counts = self._hosts.get(host)
        if counts is None:
            return None
        if counts.all.urls >= self._settings.urls_per_host:
            return Exclusion("budgets.urls_per_host", f"{host} has {counted(counts.all.urls, 'URL')}")
        for group in self._counted(counts, url):
            count = counts.groups.get(group)
            if count is None:
                if exclusion := self._too_many_sets(counts, group):
                    return exclusion
            elif count.urls >= self._allowed(group, count):
                name = "urls_per_parameter_set" if "?" in group else "urls_per_prefix"
                urls = counted(count.urls, "URL")
                why = f"{host}{group} has {urls}, of which {count.useful:,} gave a useful page"
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
        counts.all.urls += 1
        for group in self._counted(counts, url):
            self._counter(counts, group).urls += 1

    def _counter(self, counts: _HostCounts, group: str) -> _Count:
        if group not in counts.groups:
            self._room -= _bytes(group)
            counts.groups[group] = _Count()
            path, mark, _ = group.partition("?")
            if mark:
                counts.sets_of_path[path] = counts.sets_of_path.get(path, 0) + 1
        return counts.groups[group]

    def _counted(self, counts: _HostCounts, url: str) -> Iterable[str]:
        """Return the folders and the parameter set of a URL; if memory is used up, new ones share a name."""
        groups = groups_of(url, self._settings.prefix_segments)
        if self._room > 0:
            return groups
        return dict.fromkeys(group if group in counts.groups else _OTHERS for group in groups)


def groups_of(url: str, segments: int) -> Iterator[str]:
    """Yield the folders of a URL, of at most `segments` segments, then its parameter set if it has one."""
    path, _, query = url[url.index("/", 8) :].partition("?")
    end = 0
    for _ in range(segments):
        end = path.find("/", end + 1)
        if end < 0:
            break
        yield path[: end + 1]
    if query:
        names = {parameter.partition("=")[0] for parameter in query.split("&")}
        yield f"{path}?{'&'.join(sorted(names))}"


def _bytes(group: str) -> int:
    # A path with parameters is also a key of `sets_of_path`.
    return _OVERHEAD + len(group) * (2 if "?" in group else 1)
