"""Bodies of requests are read within limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.serve.dialects.request_body import MAX_BODY_BYTES

if TYPE_CHECKING:
    from starlette.testclient import TestClient


def test_a_large_body_is_refused(client: TestClient) -> None:
    answer = client.post("/search", content=b"q=" + b"x" * MAX_BODY_BYTES)
    assert answer.status_code == 413


@pytest.mark.parametrize("body", [b"q=\xff&format=json", b"&".join([b"format=json"] * 51)])
def test_a_body_that_is_no_form_is_refused(client: TestClient, body: bytes) -> None:
    assert "not a form" in client.post("/search", content=body).text
