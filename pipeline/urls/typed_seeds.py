"""Reads seeds from the words of a command line: URLs, hosts without a scheme, and names of seed files.

`docs.python.org/3/` is read as https://docs.python.org/3/ if no file has this name and the host ends in a
public suffix: `seed.txt` could be a misspelt file, and a guess could lead the crawl to the wrong site.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import UrlError
from crawlctl.pipeline.urls.canonical import canonical
from crawlctl.pipeline.urls.domains import has_public_suffix
from crawlctl.pipeline.urls.hosts import host_of
from crawlctl.pipeline.urls.ports import with_good_port
from crawlctl.pipeline.urls.seeds import Problem, Seed, Seeds
from crawlctl.pipeline.urls.whatwg import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

STDIN = "-"  # the seed file that is standard input
_HTTPS = "https://"


@dataclass(frozen=True, slots=True)
class TypedSeeds:
    """The URLs among the words, the words that name files, and how words without a scheme were read."""

    seeds: Seeds
    files: tuple[str, ...]
    notices: tuple[str, ...]


def read_words(words: Sequence[str], strip: tuple[str, ...] = ()) -> TypedSeeds:
    """Sort the words of a command line into URLs and names of files; `strip` names parameters to remove."""
    seeds: dict[str, Seed] = {}
    problems: list[Problem] = []
    files: list[str] = []
    notices: list[str] = []
    for number, word in enumerate(words, 1):
        if is_file_name(word):
            files.append(word)
            continue
        url = word if "://" in word else f"{_HTTPS}{word}"
        try:
            found = with_good_port(canonical(_with_clear_scheme(url, word), strip))
        except UrlError as error:
            problems.append(Problem(number, str(error)))
            continue
        seeds.setdefault(found, Seed(found, number))
        if url != word:
            notices.append(f"{shown(word)} is read as {shown(url)}")
    typed = Seeds("command line", tuple(seeds.values()), tuple(problems), unit="argument")
    return TypedSeeds(typed, tuple(files), tuple(notices))


def is_file_name(word: str) -> bool:
    """Return whether a word names a seed file: it has no scheme, and is a file or cannot be a host."""
    if "://" in word:
        return False
    return word == STDIN or os.path.lexists(word) or not _is_host(word.partition("/")[0])


def _is_host(text: str) -> bool:
    """Return whether a text can be meant as a host: a public name, an address, or anything with a port."""
    try:
        name, _, port = host_of(f"{_HTTPS}{text}/").partition(":")
    except UrlError:
        return False
    is_meant = has_public_suffix(name) or name == "localhost" or name[-1:].isdigit() or port.isdigit()
    return is_meant and not any(sign in text for sign in "?#@\\ ")


def _with_clear_scheme(url: str, word: str) -> str:
    if url != word and not has_public_suffix(host_of(url)):
        raise UrlError(f"{shown(word)}: the scheme is not clear; write http:// or https:// before it")
    return url
