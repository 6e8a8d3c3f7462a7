from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.formats.warc.warc_date import seconds_of, warc_date


@given(st.integers(min_value=0, max_value=253_402_300_799))
def test_a_date_is_read_as_it_was_written(moment: int) -> None:
    assert seconds_of(warc_date(moment)) == moment


@pytest.mark.parametrize("text", ["", "2026-05-09", "2026-05-09T12:00:31", "2026-13-09T12:00:31Z"])
def test_a_text_that_is_no_date_of_ours_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"does not match|unconverted"):
        seconds_of(text)
