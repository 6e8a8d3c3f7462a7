from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.store.file_names import LONGEST_NAME, check_name, check_prefix, is_name


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "/a",
        "a/",
        "a//b",
        "a/./b",
        "a/../b",
        "../a",
        ".tmp-1",
        "a/.tmp-1",
        "a\\b",
        "a b",
        "a\0b",
        "a\n",
        "\n",
        "a\x7fb",
        "é",
        "a:b",
        "https://example.com/",
        "a" * 256,
        "a/" + "b" * 256,
        "a/" * (LONGEST_NAME // 2) + "ab",
    ],
)
def test_a_name_some_store_would_read_differently_is_refused(name: str) -> None:
    assert not is_name(name)
    with pytest.raises(ValueError, match="cannot name a file"):
        check_name(name)


@pytest.mark.parametrize(
    "name", ["a", "webdb/00001/00000002-0123456789abcdef/data", "pages/x.warc.gz", "a" * 255, "_SUCCESS"]
)
def test_a_name_of_ours_is_accepted(name: str) -> None:
    assert check_name(name) == name


@given(st.text(max_size=12))
def test_an_accepted_name_has_no_segment_a_path_would_fold(text: str) -> None:
    if is_name(text):
        assert not {"", ".", ".."} & set(text.split("/"))
        assert text.isascii()
        assert text.isprintable()


@pytest.mark.parametrize("prefix", ["", "a", "a/", "a/b", "snapshots/0000"])
def test_a_prefix_may_end_anywhere_in_a_name(prefix: str) -> None:
    assert check_prefix(prefix) == prefix


@pytest.mark.parametrize("prefix", ["/", "../", "a//", ".", "a/.", "a\n", "x" * (LONGEST_NAME + 1)])
def test_a_prefix_no_name_has_is_refused(prefix: str) -> None:
    with pytest.raises(ValueError, match="begins with"):
        check_prefix(prefix)
