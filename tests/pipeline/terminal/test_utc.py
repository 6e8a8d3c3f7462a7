from __future__ import annotations

from crawlctl.pipeline.terminal.utc import utc


def test_a_time_is_shown_in_utc_whatever_the_time_zone() -> None:
    assert utc(1_700_000_000.9) == "2023-11-14 22:13:20 UTC"
