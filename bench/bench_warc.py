"""Web archives: records written and read per CPU second, compared with warcio and FastWARC.

    python bench/bench_warc.py [--records 1000] [--repeat 3]

Pages are 40 kB of text in tags, compressed with gzip record by record, with digests. We write a request with
each response, the others only responses; each library reads what it wrote, without checking digests. Figures
are CPU times, the best of the repeats.
"""

from __future__ import annotations

import argparse
import io
import random
from functools import partial
from typing import TYPE_CHECKING

from clock import best_of
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from crawlctl.pipeline.formats.warc.warc_reader import WarcReader
from crawlctl.pipeline.formats.warc.warc_writer import Capture, WarcWriter
from crawlctl.tests.bytes_source import BytesSource

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE_BYTES = 40_000
REQUEST = b"GET / HTTP/1.1\r\nHost: example.com\r\nUser-Agent: bench\r\n\r\n"
HEADERS = [("Content-Type", "text/html; charset=utf-8"), ("Server", "bench"), ("ETag", '"1"')]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    pages = make_pages(arguments.records)
    megabytes = sum(map(len, pages)) / 1e6
    print(f"{'':22}{'write rec/s':>12}{'read rec/s':>12}{'MB':>8}  ({megabytes:.0f} MB plain)")
    for name, write, read in contenders():
        data = write(pages)
        assert read(data) >= megabytes * 1e6
        written = best_of(partial(write, pages), arguments.repeat).cpu
        reading = best_of(partial(read, data), arguments.repeat).cpu
        rates = (arguments.records / written, arguments.records / reading)
        print(f"{name:22}{rates[0]:12.0f}{rates[1]:12.0f}{len(data) / 1e6:8.1f}")


def contenders() -> list[tuple[str, Callable[[list[bytes]], bytes], Callable[[bytes], int]]]:
    found: list[tuple[str, Callable[[list[bytes]], bytes], Callable[[bytes], int]]] = [
        ("ours (+ requests)", write_ours, read_ours),
        ("warcio", write_warcio, read_warcio),
    ]
    try:
        import fastwarc  # noqa: F401  # only asked whether it is there
    except ImportError:
        return found
    return [*found, ("FastWARC", write_fastwarc, read_fastwarc)]


def make_pages(count: int) -> list[bytes]:
    draw = random.Random(1)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(2, 10))) for _ in range(3000)]
    weights = [1 / rank for rank in range(1, 3001)]
    parts = [
        f'<div class="entry"><p class="text">{" ".join(draw.choices(words, weights, k=20))}</p></div>\n'
        for _ in range(400)
    ]
    size = sum(map(len, parts)) // len(parts)
    return ["".join(draw.choices(parts, k=PAGE_BYTES // size)).encode() for _ in range(count)]


def write_ours(pages: list[bytes]) -> bytes:
    sink = io.BytesIO()
    writer = WarcWriter(sink, "bench.warc.gz", {"software": "bench"})
    head = "HTTP/1.1 200 OK\r\n" + "".join(f"{name}: {value}\r\n" for name, value in HEADERS) + "\r\n"
    for number, page in enumerate(pages):
        writer.capture(
            Capture(f"http://example.com/{number}", 0.0, REQUEST, head.encode(), page, "192.0.2.1")
        )
    return sink.getvalue()


def read_ours(data: bytes) -> int:
    return sum(len(record.read()) for record in WarcReader(BytesSource(data)))


def write_warcio(pages: list[bytes]) -> bytes:
    sink = io.BytesIO()
    writer = WARCWriter(sink, gzip=True)
    for number, page in enumerate(pages):
        headers = StatusAndHeaders("200 OK", HEADERS, protocol="HTTP/1.1")
        url = f"http://example.com/{number}"
        record = writer.create_warc_record(url, "response", io.BytesIO(page), len(page), http_headers=headers)
        writer.write_record(record)
    return sink.getvalue()


def read_warcio(data: bytes) -> int:
    return sum(len(record.content_stream().read()) for record in ArchiveIterator(io.BytesIO(data)))


def write_fastwarc(pages: list[bytes]) -> bytes:
    from fastwarc.stream_io import GzipWriter
    from fastwarc.warc import WarcRecord, WarcRecordType

    sink = io.BytesIO()
    head = "".join(f"{name}: {value}\r\n" for name, value in [("HTTP/1.1 200 OK", ""), *HEADERS]).encode()
    stream = GzipWriter(sink)
    for number, page in enumerate(pages):
        record = WarcRecord()
        record.init_headers(record_type=WarcRecordType.response)
        record.headers["WARC-Target-URI"] = f"http://example.com/{number}"
        record.set_bytes_content(head + b"\r\n" + page)
        record.write(stream, checksum_data=True)
    stream.close()
    return sink.getvalue()


def read_fastwarc(data: bytes) -> int:
    from fastwarc.warc import ArchiveIterator as FastIterator

    return sum(len(record.reader.read()) for record in FastIterator(io.BytesIO(data)))


if __name__ == "__main__":
    main()
