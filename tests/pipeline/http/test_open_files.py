from __future__ import annotations

import subprocess
import sys

import pytest

from crawlctl.pipeline.errors import CrawlctlError
from crawlctl.pipeline.http import open_files as openfiles
from crawlctl.pipeline.http.open_files import make_room

# A process of its own, for a limit that was lowered cannot be raised again.
SCRIPT = """
import resource, sys
soft, hard, wanted = map(int, sys.argv[1:])
from crawlctl.pipeline.http.open_files import make_room
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
room = make_room(wanted)
print(*room, *resource.getrlimit(resource.RLIMIT_NOFILE))
"""


def room_with(soft: int, hard: int, wanted: int) -> tuple[int, int, int, int]:
    command = [sys.executable, "-c", SCRIPT, str(soft), str(hard), str(wanted)]
    numbers = subprocess.run(command, capture_output=True, check=True).stdout.split()
    transfers, connections, now, most = map(int, numbers)
    return transfers, connections, now, most


def test_the_soft_limit_is_raised_as_far_as_it_is_needed() -> None:
    transfers, connections, soft, hard = room_with(100, 2000, 256)
    assert (transfers, connections, hard) == (256, 512, 2000)
    assert 550 < soft < 600


def test_a_limit_that_is_high_enough_is_left_alone() -> None:
    assert room_with(1500, 2000, 256) == (256, 512, 1500, 2000)


@pytest.mark.parametrize("hard", [24, 64, 256])
def test_where_the_hard_limit_is_low_there_are_fewer_connections(hard: int) -> None:
    transfers, connections, soft, _ = room_with(hard, hard, 256)
    assert soft == hard
    assert 1 <= transfers <= connections < hard - 8


def test_where_nothing_can_be_opened_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openfiles, "_raise_limit", lambda wanted: 12)
    monkeypatch.setattr(openfiles, "_open_files", lambda: 10)
    with pytest.raises(CrawlctlError, match=r"open 2 more files, too few to fetch; raise the hard limit"):
        make_room(256)
