"""Reads the bodies of requests, within limits."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import parse_qsl

import msgspec

from crawlctl.pipeline.serve.problem import Problem

if TYPE_CHECKING:
    from starlette.requests import Request

MAX_BODY_BYTES = 64 << 10
_MAX_FIELDS = 50

_Record = TypeVar("_Record", bound=msgspec.Struct)


async def json_body(request: Request, record: type[_Record]) -> _Record:
    """Return the record in the body of a request."""
    try:
        return msgspec.json.decode(await _body(request), type=record)
    except (msgspec.MsgspecError, UnicodeDecodeError) as err:
        reason = str(err) if isinstance(err, msgspec.MsgspecError) else "it is not UTF-8"
        raise Problem(HTTPStatus.BAD_REQUEST, f"the body is not the JSON that is expected: {reason}") from err


async def form_body(request: Request) -> dict[str, str]:
    """Return the fields of a form; of a field that is given twice, the last value."""
    data = await _body(request)
    try:
        return dict(parse_qsl(data.decode("ascii"), max_num_fields=_MAX_FIELDS))
    except ValueError as err:
        raise Problem(
            HTTPStatus.BAD_REQUEST, "the body is not a form (application/x-www-form-urlencoded)"
        ) from err


async def _body(request: Request) -> bytes:
    data = bytearray()
    async for part in request.stream():
        data += part
        if len(data) > MAX_BODY_BYTES:
            raise Problem(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body has more than {MAX_BODY_BYTES} bytes"
            )
    return bytes(data)
