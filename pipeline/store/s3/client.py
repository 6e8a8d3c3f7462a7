"""Makes the boto3 client of a store, one for each process."""

from __future__ import annotations

import os
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.store.s3.retry import S3Patience

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_AMAZON = (".amazonaws.com", ".amazonaws.com.cn", ".api.aws")


@dataclass(frozen=True)
class S3Settings:
    """How to reach S3; what is None comes from the usual AWS environment and files."""

    endpoint: str | None = None
    region: str | None = None
    access_key: str | None = None
    secret_key: str | None = None
    connect_timeout: float = 10.0
    read_timeout: float = 60.0
    attempts: int = 6  # of botocore; s3_patience.py goes on from there


class ClientPerProcess:
    """Gives each process its own client: connections shared across a fork mix up their answers."""

    def __init__(self, settings: S3Settings) -> None:
        self._settings = settings
        self._patience = S3Patience()
        self._made: S3Client | None = None
        self._lock = Lock()
        self._process = os.getpid()

    def __call__(self) -> S3Client:
        """Return the client of this process, which the threads that want it first wait for together."""
        if self._process != os.getpid():  # we were forked, perhaps while a thread held the lock
            self._made, self._lock, self._process = None, Lock(), os.getpid()
        with self._lock:
            if self._made is None:
                self._made = self._make()
            return self._made

    def _make(self) -> S3Client:
        from botocore.exceptions import BotoCoreError

        try:
            client = make_client(self._settings)
        except BotoCoreError:
            raise  # explained by the caller, who knows what for
        except ValueError as err:
            raise ConfigError(f"{err}; correct AWS_ENDPOINT_URL_S3, AWS_REGION or ~/.aws/config") from err
        self._patience.watch(client)
        return client

    def __reduce__(self) -> tuple[type[ClientPerProcess], tuple[S3Settings]]:
        return type(self), (self._settings,)


def make_client(settings: S3Settings) -> S3Client:
    """Return a client that retries, with bounded waits."""
    from boto3.session import Session
    from botocore.config import Config

    session = Session(settings.access_key, settings.secret_key, region_name=settings.region)
    config = Config(
        connect_timeout=settings.connect_timeout,
        read_timeout=settings.read_timeout,
        retries={"mode": "standard", "total_max_attempts": settings.attempts},
        tcp_keepalive=True,
    )
    client: S3Client = session.client("s3", endpoint_url=settings.endpoint, config=config)
    host = urlsplit(client.meta.endpoint_url).hostname or ""
    if host.endswith(_AMAZON):
        return client
    # A server of one's own rarely has a DNS name for each bucket.
    by_path = config.merge(Config(s3={"addressing_style": "path"}))
    return session.client("s3", endpoint_url=settings.endpoint, config=by_path)
