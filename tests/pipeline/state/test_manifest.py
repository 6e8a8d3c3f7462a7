from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.state.manifest import (
    FileEntry,
    decode_entry,
    decode_lines,
    encode_entry,
    read_manifest,
)

ENTRY = FileEntry("webdb", 3, "webdb/00003/a/data", 10, 2, "ab" * 32, {"fetched": 2})

counts = st.integers(0, 2**63 - 1)
entries = st.builds(
    FileEntry,
    kind=st.text(min_size=1),
    partition=counts,
    name=st.from_regex(r"[a-z0-9][a-z0-9._=-]{0,20}(/[a-z0-9][a-z0-9._=-]{0,20}){0,3}", fullmatch=True),
    bytes=counts,
    records=counts,
    checksum=st.text("0123456789abcdef", min_size=64, max_size=64),
    counters=st.dictionaries(st.text(), st.integers(-(2**63), 2**63 - 1), max_size=4),
)


@given(st.lists(entries, max_size=5))
def test_a_manifest_gives_back_what_was_written(written: list[FileEntry]) -> None:
    data = b"".join(encode_entry(entry) + b"\n" for entry in written)
    assert data.count(b"\n") == len(written)
    assert list(read_manifest(data, "manifest")) == written


def test_a_line_may_end_as_hadoop_streaming_ends_it() -> None:
    lines = [encode_entry(ENTRY) + end for end in (b"\t\n", b"\n", b"\r\n", b"")]
    assert list(decode_lines(lines, "part-00000")) == [ENTRY] * 4


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b"[]",
        b"\xff\xfe",
        b"null",
        encode_entry(ENTRY)[:-1],
        encode_entry(ENTRY) * 2,
        encode_entry(ENTRY).replace(b'"bytes":10', b'"bytes":-1'),
        encode_entry(ENTRY).replace(b'"bytes":10', b'"bytes":"10"'),
        encode_entry(ENTRY).replace(b'"bytes":10', b'"bytes":10,"colour":"red"'),
        encode_entry(ENTRY).replace(b"webdb/00003/a/data", b"../../etc/passwd"),
        encode_entry(ENTRY).replace(b"abab", b"xxxx", 1),
        encode_entry(ENTRY).replace(b'"kind":"webdb"', b'"kind":""'),
    ],
)
def test_a_bad_line_is_named_with_its_place(line: bytes) -> None:
    good = encode_entry(ENTRY) + b"\n"
    with pytest.raises(
        CorruptFile, match=r"part-00007: damaged at byte \d+: not a line of a manifest"
    ) as caught:
        list(decode_lines([good, line], "part-00007"))
    assert caught.value.offset == len(good)


def test_an_entry_with_a_name_that_is_none_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="cannot name a file"):
        msgspec.structs.replace(ENTRY, name="/etc/passwd")


def test_a_line_reads_as_plain_json() -> None:
    assert msgspec.json.decode(encode_entry(ENTRY)) == {
        "kind": "webdb",
        "partition": 3,
        "name": "webdb/00003/a/data",
        "bytes": 10,
        "records": 2,
        "checksum": "ab" * 32,
        "counters": {"fetched": 2},
    }
    assert decode_entry(encode_entry(ENTRY), "x").counters == {"fetched": 2}
