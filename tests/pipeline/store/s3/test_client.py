from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawlctl.pipeline.store.s3.client import S3Settings, make_client

if TYPE_CHECKING:
    import pytest


def test_a_self_hosted_server_is_addressed_by_path_and_amazon_by_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def style(settings: S3Settings) -> Any:
        config: Any = make_client(settings).meta.config
        return config.s3

    assert style(S3Settings("http://minio.example:9000")) == {"addressing_style": "path"}
    assert style(S3Settings(region="eu-west-1")) is None
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://minio.example:9000")
    assert style(S3Settings()) == {"addressing_style": "path"}
