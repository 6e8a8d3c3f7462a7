from __future__ import annotations

import pytest

from crawlctl.pipeline.terminal.counted import counted, sized


def test_one_is_singular_and_all_other_numbers_are_plural() -> None:
    assert [counted(number, "page") for number in (0, 1, 2, 1200)] == [
        "0 pages",
        "1 page",
        "2 pages",
        "1,200 pages",
    ]
    assert counted(1, "try", "tries") == "1 try"
    assert counted(3, "URL is", "URLs are") == "3 URLs are"


@pytest.mark.parametrize(
    ("octets", "shown"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_960, "1.0 MB"),
        (12_345_678, "12.3 MB"),
        (10**18, "1,000.0 PB"),
    ],
)
def test_bytes_have_a_unit_that_leaves_few_digits(octets: int, shown: str) -> None:
    assert sized(octets) == shown
