from __future__ import annotations

from crawlctl.pipeline.progress.slow_sign import FIRST_SECONDS, SECONDS, SlowSign


def test_a_short_reading_is_silent_and_a_long_one_says_how_far_it_is() -> None:
    now, said = [100.0], list[str]()
    sign = SlowSign(said.append, "pages", clock=lambda: now[0])
    sign(1, 5000)
    now[0] += FIRST_SECONDS
    sign(1000, 5000)
    sign(1001, 5000)
    now[0] += SECONDS
    sign(4000, 5000)
    assert said == ["pages: 1,000 of 5,000 read", "pages: 4,000 of 5,000 read"]
