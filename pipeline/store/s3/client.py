"""Makes the boto3 client of a store.

Why boto3 and not obstore or s3fs: EMR needs boto3 anyway, and neither of the other two finds out whether a
write succeeded whose answer was lost. That is most of the code here (s3/store.py, s3/upload.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict
from urllib.parse import urlsplit

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.store.parallel_reads import THREADS

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

    from crawlctl.pipeline.store.s3.retry import S3Retries

_AMAZON = (".amazonaws.com", ".amazonaws.com.cn", ".api.aws")


@dataclass(frozen=True)
class S3Settings:
    """How to reach S3; boto3 looks for fields that are None in the AWS environment variables and files."""

    endpoint: str | None = None
    region: str | None = None
    access_key: str | None = None
    secret_key: str | None = None
    connect_timeout: float = 10.0
    read_timeout: float = 60.0
    attempts: int = 6  # by botocore; s3/retry.py adds more after them


class ObjectAddress(TypedDict):
    """Bucket and key of an object, named as the calls of boto3 name them."""

    Bucket: str
    Key: str


def make_retrying_client(settings: S3Settings, retries: S3Retries) -> S3Client:
    """Return a client whose requests are sent again as `retries` decides."""
    from botocore.exceptions import BotoCoreError

    try:
        client = make_client(settings)
    except BotoCoreError:
        raise  # the caller explains the error, because it knows the file
    except ValueError as err:
        raise ConfigError(f"{err}; correct AWS_ENDPOINT_URL_S3, AWS_REGION or ~/.aws/config") from err
    retries.watch(client)
    return client


def make_client(settings: S3Settings) -> S3Client:
    """Return a client with time limits and with the retries of botocore only."""
    from boto3.session import Session
    from botocore.config import Config

    session = Session(settings.access_key, settings.secret_key, region_name=settings.region)
    config = Config(
        connect_timeout=settings.connect_timeout,
        read_timeout=settings.read_timeout,
        retries={"mode": "standard", "total_max_attempts": settings.attempts},
        tcp_keepalive=True,
        max_pool_connections=THREADS,
    )
    client: S3Client = session.client("s3", endpoint_url=settings.endpoint, config=config)
    host = urlsplit(client.meta.endpoint_url).hostname or ""
    if host.endswith(_AMAZON):
        return client
    # A self-hosted server rarely has a DNS name for each bucket.
    by_path = config.merge(Config(s3={"addressing_style": "path"}))
    return session.client("s3", endpoint_url=settings.endpoint, config=by_path)
