from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.crawl.exports.sorted_lines import SortedLines


@given(st.lists(st.binary(max_size=20).filter(lambda line: b"\n" not in line)), st.integers(1, 500))
def test_lines_come_in_order_however_few_fit_into_memory(lines: list[bytes], held: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = SortedLines(Path(folder), held)
        for line in lines:
            found.add(line)
        assert list(found) == sorted(line + b"\n" for line in lines)
