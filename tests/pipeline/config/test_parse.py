from __future__ import annotations

import msgspec
import pytest

from crawlctl.pipeline.config.parse import ParseSettings
from crawlctl.pipeline.config.units import decode_unit


def converted(**values: object) -> ParseSettings:
    return msgspec.convert(values, ParseSettings, dec_hook=decode_unit)


def test_settings_are_written_with_units() -> None:
    settings = converted(time_limit="10s", memory_limit="1g", near_duplicate=0.8)
    assert (settings.time_limit, settings.memory_limit, settings.near_duplicate) == (10, 1 << 30, 0.8)


@pytest.mark.parametrize(
    "values",
    [
        {"near_duplicate": 1.5},
        {"near_duplicate": 0.1},
        {"max_links": 0},
        {"unknown": 1},
        {"max_text": "much"},
    ],
)
def test_what_makes_no_sense_is_refused(values: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        converted(**values)
