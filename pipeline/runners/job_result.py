"""JobResult: the output records of a job, its counters, and how long it took."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True)
class Counters:
    """Counters by group and name, added up over the steps of a job."""

    groups: Mapping[str, Mapping[str, int]]

    @classmethod
    def total(cls, steps: Iterable[Mapping[str, Mapping[str, int]]]) -> Counters:
        """Return the sums over the counters of the steps, as mrjob's runners list them."""
        sums: defaultdict[str, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
        for step in steps:
            for group, names in step.items():
                for name, amount in names.items():
                    sums[group][name] += amount
        return cls(MappingProxyType({group: MappingProxyType(dict(sums[group])) for group in sorted(sums)}))

    def get(self, group: str, name: str) -> int:
        """Return a counter, 0 if no task has counted anything."""
        return self.groups.get(group, {}).get(name, 0)

    def group(self, group: str) -> Mapping[str, int]:
        """Return the counters of a group by name."""
        return self.groups.get(group, MappingProxyType({}))


@dataclass(frozen=True)
class JobResult:
    """The result of a job that succeeded; its output is decoded, in the order of the part files."""

    output: tuple[tuple[Any, Any], ...]
    counters: Counters
    seconds: float
    task_cpu: float = 0.0  # CPU-seconds of tasks on other machines; 0 if they ran on this one
