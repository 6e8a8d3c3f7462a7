"""Requests that schemathesis makes up from the description of the API: no answer is 500, all are as it says.

It runs with `make integration`, where schemathesis is installed, on the same examples each time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings

from crawlctl.pipeline.serve.api.openapi import openapi
from crawlctl.tests.pipeline.serve.server_process import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.store.local.store import LocalStore

pytestmark = pytest.mark.integration

EXAMPLES = 60  # for each operation and mode: some seconds
ALLOWED = {200, *range(400, 500), 503}
OPERATIONS = [
    (path, method, mode)
    for path, methods in openapi()["paths"].items()
    for method, operation in methods.items()
    for mode in ("POSITIVE", "NEGATIVE")
    # Without a parameter or a body there is nothing that could be wrong.
    if mode == "POSITIVE" or operation.get("parameters") or "requestBody" in operation
]


@pytest.fixture(scope="module")
def described(web_store: LocalStore) -> Iterator[Any]:
    """The description of the API of a real server."""
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    with serving(web_store) as server:
        yield schemathesis.openapi.from_url(f"http://127.0.0.1:{server.port}/api/openapi.json")


@pytest.mark.parametrize(("path", "method", "mode"), OPERATIONS)
def test_made_up_requests_are_answered_as_described(
    described: Any, path: str, method: str, mode: str
) -> None:
    from schemathesis import GenerationMode
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    conformance = [
        not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_schema_conformance,
    ]

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(described[path][method].as_strategy(generation_mode=GenerationMode[mode]))
    def ask(case: Any) -> None:
        response = case.call()
        assert response.status_code in ALLOWED
        case.validate_response(response, checks=conformance)

    ask()
