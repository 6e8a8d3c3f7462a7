"""Tells programs why a request was refused: `application/problem+json` of RFC 9457."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from starlette.responses import Response

from crawlctl.pipeline.serve.api.api_types import ApiProblem

if TYPE_CHECKING:
    from crawlctl.pipeline.serve.problem import Problem

MEDIA_TYPE = "application/problem+json"


def problem_response(problem: Problem) -> Response:
    """Return a problem as JSON."""
    body = ApiProblem(problem.title, int(problem.status), problem.detail, caret=problem.caret)
    return Response(msgspec.json.encode(body), problem.status, problem.headers, MEDIA_TYPE)
