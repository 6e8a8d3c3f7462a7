"""Reads seed files: the URLs a crawl starts from.

A line is one URL, or a host and its URLs, separated by TABs (`example.com TAB http://example.com/a TAB …`).
A host alone means its front page over https. Blank lines and lines that begin with `#` are skipped.

We are strict where a guess could lead the crawl to the wrong site: URLs must have a scheme, must belong to
the host of their line (`www.example.com` is another host than `example.com`), and must not contain white
space. Each problem is kept with its line number, so that the user sees all of them at once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import SeedError, UrlError
from crawlctl.pipeline.terminal.counted import counted
from crawlctl.pipeline.urls.canonical import canonical
from crawlctl.pipeline.urls.hosts import host_of
from crawlctl.pipeline.urls.ports import with_good_port
from crawlctl.pipeline.urls.whatwg import shown

if TYPE_CHECKING:
    from pathlib import Path

_UTF8_BOM = b"\xef\xbb\xbf"
_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
# A scheme and a colon; digits behind the colon would be a port.
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d)")
# With one of these characters, "https://" + text would be more than a host.
_NOT_IN_A_HOST = frozenset("/\\?#@")
_SHOWN_PROBLEMS = 3


@dataclass(frozen=True, slots=True)
class Seed:
    """A canonical URL to start from, and the first line that names it."""

    url: str
    line: int


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a line, or a URL in it, cannot be a seed."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Seeds:
    """The content of a seed file: its URLs in order, each once, and the problems of all other lines.

    `unit` is the word for what the numbers count: the lines of a file, or the arguments of a command line.
    """

    source: str
    seeds: tuple[Seed, ...]
    problems: tuple[Problem, ...]
    unit: str = "line"

    @property
    def urls(self) -> tuple[str, ...]:
        """The canonical URLs without their line numbers."""
        return tuple(seed.url for seed in self.seeds)

    def require_all_good(self, remedy: str = "fix or pass --skip-bad") -> Seeds:
        """Return the seeds unchanged; raise SeedError if there are problems, or no URL at all."""
        if self.problems:
            raise SeedError(self._describe_problems(remedy))
        if not self.seeds:
            raise SeedError(f"{self.source}: contains no URL; add a line such as https://example.com/")
        return self

    def _describe_problems(self, remedy: str) -> str:
        count = len(self.problems)
        shown_problems = self.problems[:_SHOWN_PROBLEMS]
        lines = [f"{self.unit} {problem.line}: {problem.reason}" for problem in shown_problems]
        more = [f"and {count - _SHOWN_PROBLEMS} more"] if count > _SHOWN_PROBLEMS else []
        problems = counted(count, "problem")
        return f"{self.source}: {problems}; {remedy}: " + " | ".join(lines + more)


def read_seeds(path: Path, strip: tuple[str, ...] = ()) -> Seeds:
    """Read a seed file from disk; `strip` names the parameters to remove from URLs."""
    try:
        data = path.read_bytes()
    except OSError as error:
        if _URL.match(str(path)):
            raise SeedError(
                f"{path}: a file of URLs is wanted here, not a URL; "
                "`crawlctl run URL` and `crawlctl inject URL` take URLs without an option"
            ) from error
        reason = error.strerror or str(error)
        raise SeedError(f"{path}: {reason}; check the path of the seed file") from error
    return parse_seeds(data, source=str(path), strip=strip)


def parse_seeds(data: bytes | str, source: str = "<seeds>", strip: tuple[str, ...] = ()) -> Seeds:
    """Read seeds from the content of a file; bad lines become problems."""
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    if data.startswith(_UTF16_BOMS):
        return Seeds(source, (), (Problem(1, "the file is UTF-16; save it as UTF-8"),))
    seeds: dict[str, Seed] = {}
    problems: list[Problem] = []
    # On bytes, splitlines splits at LF, CR LF and CR only; on str it would also split at U+2028 and others.
    for number, line in enumerate(data.removeprefix(_UTF8_BOM).splitlines(), 1):
        try:
            host, fields = _split_line(line)
        except UrlError as error:
            problems.append(Problem(number, str(error)))
            continue
        for field in fields:
            try:
                url = _read_url(host, field, strip)
                seeds.setdefault(url, Seed(url, number))
            except UrlError as error:
                problems.append(Problem(number, str(error)))
    return Seeds(source, tuple(seeds.values()), tuple(problems))


def _split_line(line: bytes) -> tuple[str | None, list[str]]:
    """Return the host at the start of a line, None if there is none, and the URLs of the line."""
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise UrlError(f"byte {error.start + 1} of the line is not UTF-8; save the file as UTF-8") from error
    if not text.strip() or text.lstrip().startswith("#"):
        return None, []
    first, *rest = (field.strip() for field in text.split("\t"))
    urls = [field for field in rest if field]
    if _URL.match(first):
        if urls:
            raise UrlError("text behind a URL; write the host before it, or only one URL per line")
        return None, [first]
    _check_host(first)
    return first, urls or [_front_page(first)]


def _check_host(host: str) -> None:
    if not host:
        raise UrlError("the line begins with a TAB; write the host before it")
    if len(host.split()) > 1:
        raise UrlError(
            f"{shown(host)}: white space in a host; put a TAB between the host and each of its URLs"
        )
    if not _NOT_IN_A_HOST.isdisjoint(host):
        raise UrlError(f"{shown(host)}: neither a host nor a URL; a URL needs its scheme, https://…")
    host_of(f"https://{host}/")


def _front_page(host: str) -> str:
    if host_of(f"https://{host}/").rpartition(":")[2].isdigit():
        raise UrlError(f"{shown(host)}: with a port the scheme is not clear; write the whole URL")
    return f"https://{host}/"


def _read_url(host: str | None, field: str, strip: tuple[str, ...]) -> str:
    if len(field.split()) > 1:
        raise UrlError(f"{shown(field)}: white space in a URL; write %20, or put a TAB between two URLs")
    url = with_good_port(canonical(field, strip))
    if host is not None:
        _check_belongs(url, host)
    return url


def _check_belongs(url: str, host: str) -> None:
    # The scheme of the URL decides which port is the default port.
    wanted, actual = host_of(f"{url.partition(':')[0]}://{host}/"), host_of(url)
    if wanted == actual:
        return
    same_but_www = wanted.removeprefix("www.") == actual.removeprefix("www.")
    hint = " (with and without www. are two hosts)" if same_but_www else ""
    raise UrlError(
        f"{shown(url)}: is a URL of {shown(actual)}, but its line begins with {shown(wanted)}{hint}; "
        "give it a line of its own"
    )
