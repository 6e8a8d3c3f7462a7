"""Seed files: the pages a crawl starts from.

A line is a host and its URLs, each after a TAB (`example.com TAB http://example.com/a TAB …`), or one URL.
A host alone means its front page over https.  Blank lines and lines that begin with `#` are skipped.

We are strict where a guess could send a crawl astray: URLs are written out with their scheme, belong to the
host that leads their line (`www.example.com` is another host than `example.com`) and have no white space in
them.  Every problem is kept with its line number, so that one reading of the file shows all there is to mend.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import SeedError, UrlError
from crawlctl.pipeline.urls.canonical import canonical
from crawlctl.pipeline.urls.hosts import host_of
from crawlctl.pipeline.urls.ports import with_good_port
from crawlctl.pipeline.urls.whatwg import shown

if TYPE_CHECKING:
    from pathlib import Path

_UTF8_BOM = b"\xef\xbb\xbf"
_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
# A scheme; digits behind the colon would be a port.
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d)")
# What would make of a "host" something longer than a host once it is put behind a scheme.
_NOT_IN_A_HOST = frozenset("/\\?#@")
_SHOWN_PROBLEMS = 3


@dataclass(frozen=True, slots=True)
class Seed:
    """A page to start from, in canonical form, and the line that first named it."""

    url: str
    line: int


@dataclass(frozen=True, slots=True)
class Problem:
    """A line, or a URL in it, that names no page, and why."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Seeds:
    """All of a seed file: its pages in order, each once, and what was wrong with the rest."""

    source: str
    seeds: tuple[Seed, ...]
    problems: tuple[Problem, ...]

    @property
    def urls(self) -> tuple[str, ...]:
        """The canonical URLs alone."""
        return tuple(seed.url for seed in self.seeds)

    def require_all_good(self) -> Seeds:
        """Return the seeds themselves, or raise what is wrong with them: problems, or not one page."""
        if self.problems:
            raise SeedError(self._describe_problems())
        if not self.seeds:
            raise SeedError(f"{self.source}: names no page; add a line such as https://example.com/")
        return self

    def _describe_problems(self) -> str:
        count = len(self.problems)
        lines = [f"line {problem.line}: {problem.reason}" for problem in self.problems[:_SHOWN_PROBLEMS]]
        more = [f"and {count - _SHOWN_PROBLEMS} more"] if count > _SHOWN_PROBLEMS else []
        noun = "problem" if count == 1 else "problems"
        return f"{self.source}: {count} {noun}; mend or pass --skip-bad: " + " | ".join(lines + more)


def read_seeds(path: Path, strip: tuple[str, ...] = ()) -> Seeds:
    """Read a seed file from disk; `strip` names parameters that are no part of a URL's identity."""
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise SeedError(f"{path}: {reason}; check the path of the seed file") from error
    return parse_seeds(data, source=str(path), strip=strip)


def parse_seeds(data: bytes | str, source: str = "<seeds>", strip: tuple[str, ...] = ()) -> Seeds:
    """Read seeds from the content of a file; whatever is in it, bad lines become problems."""
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    if data.startswith(_UTF16_BOMS):
        return Seeds(source, (), (Problem(1, "the file is UTF-16; save it as UTF-8"),))
    seeds: dict[str, Seed] = {}
    problems: list[Problem] = []
    # On bytes, splitlines knows LF, CR LF and CR; on str it would split at U+2028 and the like too.
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
    """Return the host that leads a line, if one does, and the URLs of the line."""
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
            raise UrlError("more behind a URL; put the host before it, or one URL on a line")
        return None, [first]
    _check_host(first)
    return first, urls or [_front_page(first)]


def _check_host(host: str) -> None:
    if not host:
        raise UrlError("the line begins with a TAB; put the host before it")
    if len(host.split()) > 1:
        raise UrlError(
            f"{shown(host)}: white space in a host; put a TAB between the host and each of its URLs"
        )
    if not _NOT_IN_A_HOST.isdisjoint(host):
        raise UrlError(f"{shown(host)}: neither a host nor a URL; a URL needs its scheme, https://…")
    host_of(f"https://{host}/")


def _front_page(host: str) -> str:
    if host_of(f"https://{host}/").rpartition(":")[2].isdigit():
        raise UrlError(f"{shown(host)}: a port alone does not tell http from https; write the URL out")
    return f"https://{host}/"


def _read_url(host: str | None, field: str, strip: tuple[str, ...]) -> str:
    if len(field.split()) > 1:
        raise UrlError(f"{shown(field)}: white space in a URL; write %20, or put a TAB between two URLs")
    url = with_good_port(canonical(field, strip))
    if host is not None:
        _check_belongs(url, host)
    return url


def _check_belongs(url: str, host: str) -> None:
    # The scheme of the URL decides which port is the default one.
    wanted, actual = host_of(f"{url.partition(':')[0]}://{host}/"), host_of(url)
    if wanted == actual:
        return
    same_but_www = wanted.removeprefix("www.") == actual.removeprefix("www.")
    hint = " (with and without www. are two hosts)" if same_but_www else ""
    raise UrlError(
        f"{shown(url)}: belongs to {shown(actual)}, but its line to {shown(wanted)}{hint}; give it another"
    )
