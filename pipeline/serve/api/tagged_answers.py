"""Answers that name their snapshot in an ETag, so that a client does not download the same answer twice."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

import msgspec
from starlette.responses import Response

from crawlctl import __version__

if TYPE_CHECKING:
    from starlette.requests import Request

JSON = "application/json"


def json_answer(answer: msgspec.Struct, writer: str, following: str | None = None) -> Response:
    """Return a record as JSON; `writer` is the random name of its snapshot, `following` the next path."""
    response = tagged_answer(msgspec.json.encode(answer), writer, JSON)
    if following:
        response.headers["Link"] = f'<{following}>; rel="next"'
    return response


def tagged_answer(body: bytes, writer: str, content_type: str) -> Response:
    """Return an answer with the tag of its snapshot."""
    return Response(body, headers={"Content-Type": content_type, "ETag": _tag(writer)})


def unchanged(request: Request, writer: str) -> Response | None:
    """Return 304 if the client has the answer of this snapshot already, else None."""
    known = {tag.strip() for tag in request.headers.get("if-none-match", "").split(",")}
    if _tag(writer) not in known and "*" not in known:
        return None
    return Response(status_code=HTTPStatus.NOT_MODIFIED, headers={"ETag": _tag(writer)})


def _tag(writer: str) -> str:
    """Return the ETag of answers from a snapshot; weak, because answers contain the time of the search."""
    return f'W/"{writer[:16]}-{__version__}"'
