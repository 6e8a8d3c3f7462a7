"""Web archives made for tests, as other crawlers write them."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

DATE = "2024-05-18T09:30:00Z"
MOMENT = 1_716_024_600


def record(
    url: str,
    block: bytes,
    *,
    kind: str = "response",
    date: str = DATE,
    content_type: str = "application/http; msgtype=response",
) -> bytes:
    """Return a record of WARC 1.0."""
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: {date}\r\n"
        f"Content-Type: {content_type}\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def arc_record(url: str, block: bytes, *, version: int = 1) -> bytes:
    """Return a record of ARC."""
    more = "200 3f2a - 1202 a.arc.gz " if version == 2 else ""
    return f"{url} 192.0.2.7 20240518093000 text/html {more}{len(block)}\n".encode() + block + b"\n"


def answer(
    body: str | bytes, *headers: str, status: str = "200 OK", content_type: str = "text/html"
) -> bytes:
    """Return an HTTP response."""
    data = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {content_type}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


def page(title: str, *links: str) -> str:
    anchors = "".join(f'<a href="{link}">to {link}</a> ' for link in links)
    return f"<html><title>{title}</title><body><p>Words about {title}, and then some. {anchors}</body></html>"


def write(path: Path, *records: bytes, compressed: bool = True) -> Path:
    path.write_bytes(b"".join(gzip.compress(one) if compressed else one for one in records))
    return path
