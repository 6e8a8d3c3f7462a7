"""Imports mrjob's MRJob and MRStep in a third of the time; job modules import them from here.

mrjob 0.7.4 still imports `distutils` and `pipes` for three small functions. Where setuptools replaces
distutils, that alone costs 0.1 to 0.2 CPU-seconds per process, and every task on the local and Hadoop runners
is a new process. From Python 3.13 on neither module is part of Python. `urllib.request`, for two functions
that our jobs never call, and `yaml`, for conf files that a task never reads, cost 0.07 CPU-seconds more. So
while mrjob is imported, imports of these modules get the stand-ins below, unless the real modules are already
loaded. Afterwards `sys.modules` is as it was. A job that says `from mrjob.job import MRJob` works too, but
starts slower.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
import warnings
from contextlib import contextmanager
from functools import total_ordering
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator, Mapping, Sequence


@total_ordering
class LooseVersion:
    """A version that is compared number by number; it does what mrjob needs of distutils' LooseVersion."""

    def __init__(self, version: str) -> None:
        parts = re.findall(r"\d+|[a-z]+", version)
        # Each part is tagged so that numbers and words can be compared; a word counts as older than a number.
        self.parts = [(part.isdigit(), int(part) if part.isdigit() else part) for part in parts]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LooseVersion) and self.parts == other.parts

    def __lt__(self, other: LooseVersion) -> bool:
        return self.parts < other.parts

    def __hash__(self) -> int:
        return hash(tuple(self.parts))


def _find_executable(executable: str, path: str | None = None) -> str | None:
    return shutil.which(executable, path=path)


def _pathname2url(pathname: str) -> str:
    from urllib.request import pathname2url

    return pathname2url(pathname)


def _urlopen(*args: Any, **kwargs: Any) -> Any:
    from urllib.request import urlopen

    return urlopen(*args, **kwargs)  # noqa: S310 - mrjob's own call, unchanged


def _of_yaml(name: str) -> Any:
    import yaml

    return getattr(yaml, name)


def _stand_in(name: str, **names: object) -> ModuleType:
    module = ModuleType(name, "A stand-in of crawlctl.pipeline.mrjob_light.")
    vars(module).update(names)
    return module


GONE_FROM_PYTHON = (
    _stand_in("distutils.spawn", find_executable=_find_executable),
    _stand_in("distutils.version", LooseVersion=LooseVersion),
    _stand_in("pipes", quote=shlex.quote),
)
# These stand-ins are used only while mrjob.conf is imported: other modules may need more of the real modules.
SELDOM_USED = (
    _stand_in("urllib.request", pathname2url=_pathname2url, urlopen=_urlopen),
    _stand_in("yaml", __getattr__=_of_yaml),
)


@contextmanager
def light_imports(stand_ins: tuple[ModuleType, ...] = GONE_FROM_PYTHON) -> Iterator[None]:
    """Let imports in the block get the stand-ins; put it around every import of mrjob."""
    lent = {module.__name__: module for module in stand_ins if module.__name__ not in sys.modules}
    sys.modules.update(lent)
    try:
        with warnings.catch_warnings():
            # mrjob's source has string escapes about which newer versions of Python warn.
            warnings.simplefilter("ignore", SyntaxWarning)
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    finally:
        for name, module in lent.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]


if TYPE_CHECKING:

    class MRStep:
        """A step of a job, by its functions."""

        def __init__(self, **functions: Callable[..., Any] | Mapping[str, Any]) -> None: ...

    class MRJob:
        """The types of the methods of mrjob's MRJob that our jobs use; mrjob itself has no types."""

        HADOOP_INPUT_FORMAT: str | None
        INPUT_PROTOCOL: type[Any]
        INTERNAL_PROTOCOL: type[Any]
        OUTPUT_PROTOCOL: type[Any]
        JOBCONF: Mapping[str, Any]
        SORT_VALUES: bool | None
        options: Namespace

        def __init__(self, args: Sequence[str] | None = None) -> None: ...
        @classmethod
        def run(cls) -> None: ...
        def steps(self) -> Sequence[MRStep]: ...
        def jobconf(self) -> Mapping[str, Any]: ...
        def configure_args(self) -> None: ...
        def add_passthru_arg(self, *names: str, **options: Any) -> None: ...
        def add_file_arg(self, *names: str, **options: Any) -> None: ...
        def run_mapper(self, step_num: int = 0) -> None: ...
        def run_reducer(self, step_num: int = 0) -> None: ...
        def increment_counter(self, group: str, counter: str, amount: int = 1) -> None: ...
        def set_status(self, msg: str) -> None: ...
        def output_protocol(self) -> Any: ...
        def make_runner(self) -> Any: ...
        def _runner_kwargs(self) -> dict[str, Any]: ...
else:
    with light_imports((*GONE_FROM_PYTHON, *SELDOM_USED)):
        import mrjob.conf  # noqa: F401 - to have it loaded

    with light_imports():
        from mrjob.job import MRJob
        from mrjob.step import MRStep

__all__ = ["MRJob", "MRStep", "light_imports"]
