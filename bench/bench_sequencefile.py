"""SequenceFiles and MapFiles: speed of reading and writing, per CPU second of one core.

    python bench/bench_sequencefile.py [--megabytes 3] [--repeat 2]

Pages are 1 kB of HTML; entries look like those of the WebDB, with a key of 60 bytes and a value of 120 bytes.
The peer is the simplest alternative: pickled batches of records, each after its length, compressed with zlib.
Deflate is also measured with each library alone; the result is the reason why we use isal.
"""

from __future__ import annotations

import argparse
import io
import pickle
import random
import struct
import zlib
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from clock import best_of
from isal import isal_zlib

from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader, MapFileWriter
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader, SequenceFileWriter
from crawlctl.tests.bytes_source import BytesSource

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.formats.sequencefile.header import Compression

BATCH = 1000
FORMS: list[tuple[Compression, str]] = [
    ("block", "default"),
    ("block", "gzip"),
    ("block", "bzip2"),
    ("record", "default"),
    ("none", "default"),
]


class Table(NamedTuple):
    """Records in key order."""

    name: str
    keys: list[bytes]
    values: list[bytes]

    @property
    def megabytes(self) -> float:
        return sum(map(len, self.values)) / 1e6

    def batches(self) -> list[tuple[list[bytes], list[bytes]]]:
        starts = range(0, len(self.keys), BATCH)
        return [(self.keys[start : start + BATCH], self.values[start : start + BATCH]) for start in starts]


def make_pages(count: int) -> Table:
    """Return HTML with words in Zipf's distribution; zlib -6 compresses it to about a third."""
    draw = random.Random(1)
    vocabulary = [f"{draw.getrandbits(draw.choice((12, 16, 20, 24))):x}" for _ in range(5000)]
    weights = [1 / (rank + 1) for rank in range(5000)]
    values = []
    for number in range(count):
        page = f'<div class="post"><h2><a href="/p/{number}">'
        while len(page) < 1024:
            page += " ".join(draw.choices(vocabulary, weights, k=8)) + '</p><p class="t">'
        values.append(page[:1024].encode())
    return Table(
        "1 kB pages",
        [b"host%05d http://host/%09d" % (number // 50, number) for number in range(count)],
        values,
    )


def make_entries(count: int) -> Table:
    """Return entries as the WebDB has them: times, a signature, an ETag, a date, anchors."""
    draw = random.Random(2)
    values = []
    for _ in range(count):
        etag, second = f'"{draw.getrandbits(64):x}"', draw.randrange(60)
        times = [1_700_000_000 + draw.randrange(10**7) for _ in range(3)]
        anchors = ["home", "read more", "next page"][: draw.randrange(4)]
        modified = f"Mon, 03 Nov 2025 10:{second:02d}:{draw.randrange(60):02d} GMT"
        entry = [
            "fetched",
            *times,
            86400 * draw.randrange(90),
            draw.randbytes(16),
            etag,
            modified,
            draw.random(),
            anchors,
        ]
        values.append(msgspec.msgpack.encode(entry))
    keys = [
        b"www.site%05d.org http://www.site%05d.org/articles/%09d" % (n // 50, n // 50, n)
        for n in range(count)
    ]
    return Table("WebDB entries", keys, values)


def best(repeat: int, work: Callable[[], object]) -> float:
    """Return the CPU seconds of the quickest run."""
    return best_of(work, repeat).cpu


def write_file(table: Table, form: tuple[Compression, str]) -> bytes:
    sink = io.BytesIO()
    with SequenceFileWriter(sink, compression=form[0], codec=form[1]) as writer:
        for keys, values in table.batches():
            writer.extend(keys, values)
    return sink.getvalue()


def read_file(data: bytes) -> int:
    return sum(len(block.keys) for block in SequenceFileReader(BytesSource(data)).blocks())


def copy_file(data: bytes) -> int:
    sink = io.BytesIO()
    with SequenceFileWriter(sink) as writer:
        for block in SequenceFileReader(BytesSource(data)).blocks():
            writer.extend(block.keys, block.values)
    return writer.records


def write_pickles(table: Table, level: int) -> bytes:
    sink = io.BytesIO()
    for batch in table.batches():
        stream = zlib.compress(pickle.dumps(batch, protocol=5), level)
        sink.write(struct.pack(">i", len(stream)) + stream)
    return sink.getvalue()


def read_pickles(data: bytes) -> int:
    position = records = 0
    while position < len(data):
        (length,) = struct.unpack_from(">i", data, position)
        keys, _ = pickle.loads(zlib.decompress(data[position + 4 : position + 4 + length]))
        records += len(keys)
        position += 4 + length
    return records


def print_row(name: str, table: Table, size: int, write: float, read: float) -> None:
    records = len(table.keys) / 1e3
    ratio = (table.megabytes * 1e6 + sum(map(len, table.keys))) / size
    print(
        f"{name:22}{ratio:7.2f}{table.megabytes / write:11.0f}{records / write:13.0f}"
        f"{table.megabytes / read:11.0f}{records / read:13.0f}"
    )


def bench_files(table: Table, repeat: int) -> None:
    print(f"\n{table.name}: {len(table.keys)} records, {table.megabytes:.1f} MB of values")
    print(f"{'':22}{'ratio':>7}{'write MB/s':>11}{'1000 rec/s':>13}{'read MB/s':>11}{'1000 rec/s':>13}")
    for form in FORMS:
        data = write_file(table, form)
        assert read_file(data) == len(table.keys)
        runs = 1 if form[1] == "bzip2" else repeat
        write = best(runs, lambda form=form: write_file(table, form))
        read = best(runs, lambda data=data: read_file(data))
        print_row(" ".join(form) if form[0] != "none" else "none", table, len(data), write, read)
    for level in (1, 6):
        data = write_pickles(table, level)
        write = best(repeat, lambda level=level: write_pickles(table, level))
        print_row(
            f"peer: pickle, zlib -{level}",
            table,
            len(data),
            write,
            best(repeat, lambda data=data: read_pickles(data)),
        )
    data = write_file(table, FORMS[0])
    copied = len(table.keys) / best(repeat, lambda: copy_file(data))
    print(f"read and written again: {copied / 1e3:.0f} thousand records/s")


def bench_deflate(table: Table, repeat: int) -> None:
    """Compare the libraries that could serve as the default codec, on parts of a block."""
    parts = [b"".join(values) for _, values in table.batches()]
    ways: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
        **{f"zlib -{n}": (lambda data, n=n: zlib.compress(data, n), zlib.decompress) for n in (1, 6)},
        **{
            f"isal -{n}": (lambda data, n=n: isal_zlib.compress(data, n), isal_zlib.decompress)
            for n in (1, 2, 3)
        },
    }
    try:
        from zlib_ng import zlib_ng
    except ImportError:
        print("\n(zlib-ng is not installed)")
    else:
        ways |= {
            f"zlib-ng -{n}": (lambda data, n=n: zlib_ng.compress(data, n), zlib_ng.decompress)
            for n in (1, 2, 6)
        }
    print(f"\nDeflate of {table.name}\n{'':22}{'ratio':>7}{'write MB/s':>11}{'read MB/s':>11}")
    for name, (compress, decompress) in ways.items():
        streams = [compress(part) for part in parts]
        write = best(repeat, lambda compress=compress: [compress(part) for part in parts])
        read = best(
            repeat, lambda streams=streams, decompress=decompress: [decompress(stream) for stream in streams]
        )
        ratio = table.megabytes * 1e6 / sum(map(len, streams))
        print(f"{name:22}{ratio:7.2f}{table.megabytes / write:11.0f}{table.megabytes / read:11.0f}")


def bench_map(table: Table, block_bytes: int) -> None:
    """Look up keys in random order."""
    data, index = io.BytesIO(), io.BytesIO()
    with MapFileWriter(data, index, block_bytes=block_bytes) as writer:
        for keys, values in table.batches():
            writer.extend(keys, values)
    reader = MapFileReader(BytesSource(data.getvalue()), BytesSource(index.getvalue()))
    wanted = random.Random(3).sample(table.keys, 300)
    milliseconds = 1000 * best(1, lambda: [reader.get(key) for key in wanted]) / len(wanted)
    size = len(index.getvalue())
    print(
        f"MapFile, blocks of {block_bytes // 1000:4} kB: {milliseconds:.2f} ms a get, index of {size} bytes"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--megabytes", type=int, default=3, help="values in each table")
    parser.add_argument("--repeat", type=int, default=2, help="runs, of which the quickest counts")
    args = parser.parse_args()
    pages, entries = make_pages(args.megabytes * 1000), make_entries(args.megabytes * 8000)
    for table in (pages, entries):
        bench_files(table, args.repeat)
        bench_deflate(table, args.repeat)
    print()
    for block_bytes in (1_000_000, 64_000, 16_000):
        bench_map(entries, block_bytes)


if __name__ == "__main__":
    main()
