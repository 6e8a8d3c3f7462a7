"""One resource of a demo site: body, headers, and the answer to conditional requests."""

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
    """A fixed answer to the requests for one path."""

    body: bytes
    kind: str = HTML
    status: HTTPStatus = HTTPStatus.OK
    modified: int | None = None  # seconds since 1970; None: conditional requests get the full answer
    location: str = ""

    @property
    def etag(self) -> str:
        """The ETag of the body."""
        return f'"{hashlib.blake2b(self.body, digest_size=8).hexdigest()}"'

    def headers(self) -> dict[str, str]:
        """Return the headers that describe the body, for answers with and without it."""
        headers = {"Content-Type": self.kind}
        if self.location:
            headers["Location"] = self.location
        if self.modified is not None:
            headers.update({"ETag": self.etag, "Last-Modified": formatdate(self.modified, usegmt=True)})
        return headers

    def is_unchanged(self, tags: str | None, since: str | None) -> bool:
        """Return whether the client has this body, by If-None-Match, else by If-Modified-Since (RFC 9110)."""
        if self.modified is None:
            return False
        if tags is not None:
            return self.etag in (tag.strip().removeprefix("W/") for tag in tags.split(","))
        try:
            return since is not None and self.modified <= parsedate_to_datetime(since).timestamp()
        except ValueError:
            return False
