"""The user's crontab: one line per scheduled crawl; all other lines stay as they are.

python-crontab checks and writes our line. Its CronTab class would also rewrite all other lines: it comments
out lines that it cannot parse, and moves variables. We must not do that, so the table is handled as text.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from typing import TYPE_CHECKING

from crontab import CronItem, CronSlices

from crawlctl.pipeline.config.units import DAY, HOUR, Duration
from crawlctl.pipeline.errors import ConfigError, CrawlctlError
from crawlctl.pipeline.urls.hosts import stable_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

MINUTE = 60
WEEK = 7 * DAY
FORMS = 'write 15min, 6h, 1d, 1w or an expression such as "30 4 * * *"'
NO_TABLE = "no crontab for"


def expression(every: str, spread: str) -> str:
    """Return the cron expression for a duration or an expression; the minute is a hash of `spread`.

    If all crawls started at full hours, servers would get all their requests at once.
    """
    if len(every.split()) == 5 or every.startswith("@"):
        if every == "@reboot" or not CronSlices.is_valid(every):
            raise ConfigError(f"--every {every!r} is no cron expression for a repeated run; {FORMS}")
        return str(CronSlices(every).render())
    try:
        seconds = Duration.parse(every).whole
    except ValueError as err:
        raise ConfigError(f"--every: {err}; {FORMS}") from err
    return _of_seconds(every, seconds, stable_hash(spread))


def _of_seconds(every: str, seconds: int, chance: int) -> str:
    minute, hour, weekday = chance % 60, chance // 60 % 24, chance // 1440 % 7
    if seconds == WEEK:
        return f"{minute} {hour} * * {weekday}"
    if seconds == DAY:
        return f"{minute} {hour} * * *"
    if seconds and seconds % HOUR == 0 and DAY % seconds == 0:
        return f"{minute} */{seconds // HOUR} * * *" if seconds > HOUR else f"{minute} * * * *"
    if seconds and seconds % MINUTE == 0 and HOUR % seconds == 0:
        return f"*/{seconds // MINUTE} * * * *" if seconds > MINUTE else "* * * * *"
    raise ConfigError(f"--every {every}: cron has no such interval; {FORMS}")


def tags_of(store: str) -> tuple[str, str]:
    """Return the comments that may mark the line of a store, the first one for new lines.

    A folder has one mark, whether it is named by its own path, through a link or with `..` in it; the second
    comment is the mark that older releases gave it. It is not the URI, for cron reads % in comments too.
    """
    place = store if "://" in store else os.path.realpath(store)
    return _tag(place), _tag(store)


def _tag(place: str) -> str:
    return f"crawlctl {hashlib.blake2b(place.encode(), digest_size=8).hexdigest()}"


def cron_line(when: str, command: str, tag: str) -> str:
    """Return the line of a command; % is escaped, because it means a line end to cron."""
    if "\n" in command or "\r" in command:
        raise ConfigError(f"{command!r} has a line end, which no crontab can hold; rename the folder or file")
    item = CronItem(command, tag)
    item.setall(when)
    return str(item.render())


def shown_line(tags: tuple[str, ...]) -> str | None:
    """Return the line with one of the tags, None if there is none."""
    return next((line for line in _read() if _has_tag(line, tags)), None)


def put_line(tags: tuple[str, ...], line: str | None) -> bool:
    """Replace the lines with one of the tags by `line`, None to remove them; return whether any changed."""
    before = _read()
    after = [kept for kept in before if not _has_tag(kept, tags)] + ([line] if line is not None else [])
    if after == before:
        return False
    _write(after)
    return True


def _has_tag(line: str, tags: tuple[str, ...]) -> bool:
    return line.rstrip().endswith(tuple(f"# {tag}" for tag in tags))


def _read() -> list[str]:
    done = _crontab("-l")
    if done.returncode == 0:
        return done.stdout.decode(errors="surrogateescape").splitlines()
    if NO_TABLE in done.stderr.decode(errors="replace").lower():
        return []
    raise _failed(done)


def _write(lines: Sequence[str]) -> None:
    table = "".join(f"{line}\n" for line in lines).encode(errors="surrogateescape")
    done = _crontab("-", table)
    if done.returncode:
        raise _failed(done)


def _crontab(argument: str, table: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    program = shutil.which("crontab")
    if program is None:
        raise CrawlctlError(
            "there is no crontab program on PATH; install cron (on Debian and Ubuntu: apt install cron), "
            "or let another scheduler start `crawlctl run`"
        )
    return subprocess.run([program, argument], input=table, capture_output=True, check=False)


def _failed(done: subprocess.CompletedProcess[bytes]) -> CrawlctlError:
    said = " ".join(done.stderr.decode(errors="replace").split()) or f"exit code {done.returncode}"
    return CrawlctlError(f"crontab refused: {said}; check that you may use cron (/etc/cron.allow, cron.deny)")
