from __future__ import annotations

from collections import Counter
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from hypothesis import given

from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import host_in_key, webdb_key
from crawlctl.pipeline.webdb.extract.extract_file import hashed
from crawlctl.pipeline.webdb.extract.part_extract import HostCount, KnownKeys, extract_of
from crawlctl.pipeline.webdb.records import LIVE, Status, decode_entry
from crawlctl.tests.pipeline.webdb.extract.made_parts import Table, histories, made_part

if TYPE_CHECKING:
    from crawlctl.pipeline.webdb.extract.part_extract import PartExtract

ALL_KEYS = [b"h%d.example http://h%d.example/%d" % (n // 9, n // 9, n) for n in range(62)]


@given(histories)
def test_what_an_extract_finds_is_what_the_rows_say(history: list[tuple[Table, bool]]) -> None:
    with TemporaryDirectory() as folder:
        part, table = made_part(LocalStore(folder), history)
        extract = extract_of(part)
        if part is None or extract is None:
            assert not table
            return
        assert extract.rows(ALL_KEYS) == table
        assert extract.has(hashed(ALL_KEYS)).tolist() == [key in table for key in ALL_KEYS]
        hosts = Counter(map(host_in_key, table))
        live = Counter(host_in_key(key) for key, value in table.items() if decode_entry(value).live)
        assert list(extract.hosts()) == [HostCount(host, hosts[host], live[host]) for host in sorted(hosts)]
        check_relations(extract, table)


def check_relations(extract: PartExtract, table: Table) -> None:
    entries = {key: decode_entry(value) for key, value in table.items()}
    for signature in (b"", b"\x00", b"\x01"):
        same = {key for key, entry in entries.items() if entry.live and entry.signature == signature != b""}
        found = list(extract.related("signatures", "signature_rows", hashed([signature])))
        assert {key for key, _ in found} == same and len(found) == len(same)
        assert all(table[key] == value for key, value in found)
    for key in ALL_KEYS:
        followers = {
            one
            for one, entry in entries.items()
            if (entry.status in LIVE and entry.names and webdb_key(entry.names) == key)
            or (
                entry.status is Status.DUPLICATE
                and key in {webdb_key(url) for url in (entry.names, entry.canonical) if url}
            )
        }
        found = list(extract.related("targets", "target_rows", hashed([key])))
        assert {one for one, _ in found} == followers and len(found) == len(followers)


@given(histories)
def test_keys_are_known_if_the_part_has_them_or_they_were_added(history: list[tuple[Table, bool]]) -> None:
    with TemporaryDirectory() as folder:
        part, table = made_part(LocalStore(folder), history)
        extract = extract_of(part)
        if extract is None:
            return
        known = KnownKeys(extract)
        assert known.contains(ALL_KEYS) == [key in table for key in ALL_KEYS]
        known.add(ALL_KEYS[:3])
        assert known.contains(ALL_KEYS) == [key in table or key in ALL_KEYS[:3] for key in ALL_KEYS]
