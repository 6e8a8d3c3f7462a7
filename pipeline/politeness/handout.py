"""The values that go in and out of the polite queue: handouts, replies, URLs left over."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Action(Enum):
    """What the caller does with a URL that is handed out."""

    ROBOTS = "robots"  # fetch it, then call `robots_finished`
    PAGE = "page"  # fetch it, then call `finished`
    FORBIDDEN = "forbidden"  # do not fetch it, because robots.txt forbids it; no call follows


class Handout(NamedTuple):
    """A URL whose turn it is; `rule` is the line of robots.txt that forbids it."""

    host: str
    url: str
    action: Action
    rule: str = ""


class Reply(NamedTuple):
    """What the answer to a request says about the state of the host."""

    status: int | None  # None: there was no answer
    seconds: float  # from the start of the request to the end of the answer
    retry_after: float | None = None  # seconds, if the host asked for a pause
    ip: str = ""  # the address that was asked; empty if it is not known
    is_ours: bool = False  # the request failed because of our own side, so the host is not to blame
    reason: str = ""  # the kind of a failure and a sentence (failure_kinds.py)


class Fate(Enum):
    """What happens to a URL that was not handed out."""

    DUE = "due"  # it waits for the next round
    FAILED = "failed"  # its host is down, or its robots.txt cannot be read
    EXCLUDED = "excluded"  # its host must not be asked at all


class LeftOver(NamedTuple):
    """A URL that was not handed out, and the reason."""

    url: str
    reason: str
    fate: Fate = Fate.DUE
