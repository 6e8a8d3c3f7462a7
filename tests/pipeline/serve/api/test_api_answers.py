"""Records with many numbers are made by name, so that no two of them can be swapped unseen."""

from __future__ import annotations

from typing import Any

import pytest

from crawlctl.pipeline.serve.api.api_types import ApiDocument, ApiResult, ApiSearch, ApiStatus
from crawlctl.pipeline.serve.searching.found_results import Found, FoundResult


@pytest.mark.parametrize("record", [FoundResult, Found, ApiSearch, ApiResult, ApiDocument, ApiStatus])
def test_long_records_take_names_only(record: Any) -> None:
    values = dict.fromkeys(record.__struct_fields__)
    assert record(**values)
    with pytest.raises(TypeError, match="positional"):
        record(*values.values())
