from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import MissingFile
from crawlctl.pipeline.serve.fault_log import TELL_EVERY, FaultLog

if TYPE_CHECKING:
    import pytest


def test_a_fault_is_told_once_a_minute_in_one_line_without_passwords(
    capsys: pytest.CaptureFixture[str],
) -> None:
    now = [0.0]
    log = FaultLog(lambda: now[0])
    fault = MissingFile("hdfs://ann:secret@node/crawl/docs\n\x1b[2J is not there")
    for seconds in (0, TELL_EVERY - 1, TELL_EVERY):
        now[0] = seconds
        log.tell(fault)
    log.tell(MissingFile("another"))
    first, again, other = capsys.readouterr().err.splitlines()
    assert first[:19].count("-") == 2 and " UTC: " in first
    assert first.partition(" UTC: ")[2] == again.partition(" UTC: ")[2]
    assert "secret" not in first and "\x1b" not in first
    assert other.endswith(" UTC: another")
