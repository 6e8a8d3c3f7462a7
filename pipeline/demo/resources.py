"""What a site of the demo web has under a path, and when a client need not get it again."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from email.utils import formatdate, parsedate_to_datetime
from http import HTTPStatus

HTML = "text/html; charset=utf-8"
TEXT = "text/plain; charset=utf-8"
XML = "application/xml"


@dataclass(frozen=True)
class Resource:
    """An answer that is always the same."""

    body: bytes
    kind: str = HTML
    status: HTTPStatus = HTTPStatus.OK
    modified: int | None = None  # seconds since 1970; without it there are no conditions to ask under
    location: str = ""

    @property
    def etag(self) -> str:
        """The validator of the body."""
        return f'"{hashlib.blake2b(self.body, digest_size=8).hexdigest()}"'

    def headers(self) -> dict[str, str]:
        """Return what describes the body, for answers with and without it."""
        headers = {"Content-Type": self.kind}
        if self.location:
            headers["Location"] = self.location
        if self.modified is not None:
            headers.update({"ETag": self.etag, "Last-Modified": formatdate(self.modified, usegmt=True)})
        return headers

    def is_unchanged(self, tags: str | None, since: str | None) -> bool:
        """Return whether a client has it already, by If-None-Match or else If-Modified-Since (RFC 9110)."""
        if self.modified is None:
            return False
        if tags is not None:
            return self.etag in (tag.strip().removeprefix("W/") for tag in tags.split(","))
        try:
            return since is not None and self.modified <= parsedate_to_datetime(since).timestamp()
        except ValueError:
            return False
