"""A store on Amazon S3, or on any service that speaks its protocol and honours If-None-Match.

botocore sends a request again when its answer is lost. The first try may have succeeded, and the second is
then refused because the name exists. So after a refusal we read the object: the write succeeded if it holds
our bytes.
"""

from __future__ import annotations

import secrets
import time
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from botocore.exceptions import (
    ClientError,
    FlexibleChecksumError,
    HTTPClientError,
    IncompleteReadError,
)

from crawlctl.pipeline.errors import MissingFile, StoreError, StoreUnavailable
from crawlctl.pipeline.store.base import RemoteFile, Store, StoredFile
from crawlctl.pipeline.store.file_names import check_name, is_name
from crawlctl.pipeline.store.per_process import PerProcess
from crawlctl.pipeline.store.s3.client import S3Settings, make_retrying_client
from crawlctl.pipeline.store.s3.errors import (
    S3Error,
    code_of,
    explain,
    is_absent,
    is_conflict,
    is_taken,
    is_unanswered,
    no_bucket,
    status_of,
)
from crawlctl.pipeline.store.s3.retry import S3Retries
from crawlctl.pipeline.store.s3.upload import PART_BYTES, S3Writer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from botocore.response import StreamingBody
    from mypy_boto3_s3.type_defs import ObjectIdentifierTypeDef

    from crawlctl.pipeline.store.s3.client import ObjectAddress

DELETE_BATCH = 1000  # objects; S3 allows no more per request
TRIES = 5  # tries of requests that botocore does not send again by itself

_BROKEN_BODY = (HTTPClientError, IncompleteReadError, FlexibleChecksumError)


class S3Store(Store):
    """The objects of a bucket whose keys begin with a prefix."""

    def __init__(
        self, bucket: str, prefix: str, settings: S3Settings | None = None, part_bytes: int = PART_BYTES
    ) -> None:
        super().__init__(f"s3://{bucket}/{prefix}".rstrip("/"))
        self.client = PerProcess(partial(make_retrying_client, settings or S3Settings(), S3Retries()))
        self._bucket = bucket
        self._prefix = f"{prefix}/" if prefix else ""
        self._part_bytes = part_bytes

    def address(self, name: str) -> ObjectAddress:
        """Return the bucket and key of a file."""
        return {"Bucket": self._bucket, "Key": self._prefix + check_name(name)}

    def size(self, name: str) -> int:
        """Return the length of a file in bytes."""
        try:
            return self.client().head_object(**self.address(name))["ContentLength"]
        except S3Error as err:
            if is_absent(err):
                self._require_bucket()
            raise explain(err, self.locate(name)) from err

    def open(self, name: str) -> RemoteFile:
        """Look a file up once and return it for ranged reads."""
        return RemoteFile(self, name)

    def create(self, name: str, data: bytes) -> bool:
        """Write a small file as a whole unless the name is taken; return whether it holds this data now."""
        address = self.address(name)
        for attempt in range(TRIES):
            try:
                self.client().put_object(**address, Body=data, IfNoneMatch="*")
            except S3Error as err:
                if not is_conflict(err) or attempt + 1 == TRIES:
                    return self._settle(name, data, err)
                pause(attempt)
            else:
                break
        return True

    def _settle(self, name: str, data: bytes, err: Exception) -> bool:
        """Return whether our write succeeded although the last answer was an error: an answer may be lost."""
        unexplained = explain(err, self.locate(name))
        if not is_taken(err) and not is_unanswered(err):
            raise unexplained from err
        try:
            return self._read(name, 0, None) == data
        except MissingFile:
            if is_taken(err):  # and the object has been deleted since
                return False
            raise unexplained from err
        except StoreError:
            raise unexplained from err

    def sweep(self, folder: str, before: float, *, dry_run: bool = False) -> tuple[StoredFile, ...]:
        """Abort uploads that were begun before `before` and never completed; S3 charges for their parts."""
        prefix = self.address(folder)["Key"] + "/"
        swept = []
        try:
            pages = self.client().get_paginator("list_multipart_uploads")
            for page in pages.paginate(Bucket=self._bucket, Prefix=prefix):
                for upload in page.get("Uploads", ()):
                    if (begun := upload["Initiated"].timestamp()) < before:
                        swept.append(StoredFile(upload["Key"][len(self._prefix) :], 0, begun))
                        if not dry_run:
                            self._abort(upload["Key"], upload["UploadId"])
        except S3Error as err:
            raise explain(err, self.uri) from err
        return tuple(swept)

    def _abort(self, key: str, upload: str) -> None:
        try:
            self.client().abort_multipart_upload(Bucket=self._bucket, Key=key, UploadId=upload)
        except ClientError as err:
            if code_of(err) != "NoSuchUpload":
                raise

    def _require_bucket(self) -> None:
        # The answer to a HEAD request is 404 for a missing bucket as well as for a missing object.
        try:
            self.client().head_bucket(Bucket=self._bucket)
        except S3Error as err:
            if is_absent(err):
                raise no_bucket(self.uri) from err
            raise explain(err, self.uri) from err

    def _read(self, name: str, start: int, length: int | None) -> bytes:
        for attempt in range(TRIES):
            body = self._get(name, start, length)
            try:
                return body.read() if body else b""
            except _BROKEN_BODY as err:  # the answer broke off; botocore does not retry that
                broken = err
                pause(attempt)
        raise explain(broken, self.locate(name)) from broken

    def _get(self, name: str, start: int, length: int | None) -> StreamingBody | None:
        """Request a range and return the body of the answer, or None past the end of the file."""
        address = self.address(name)
        try:
            if start == 0 and length is None:
                return self.client().get_object(**address)["Body"]
            last = "" if length is None else start + length - 1
            answer = self.client().get_object(**address, Range=f"bytes={start}-{last}")
        except S3Error as err:
            if status_of(err) == 416:
                return None
            raise explain(err, self.locate(name)) from err
        if answer.get("ContentRange", "").startswith(f"bytes {start}-"):
            return answer["Body"]
        answer["Body"].close()
        raise StoreUnavailable(
            f"{self.locate(name)}: the S3 service ignores Range headers; use a service that supports them"
        )

    def _sink(self, name: str) -> S3Writer:
        put = partial(self.put, name)
        return S3Writer(name, self.address(name), self.client, put, self._part_bytes)

    def _list(self, prefix: str) -> Iterator[StoredFile]:
        try:
            pages = self.client().get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=self._bucket, Prefix=self._prefix + prefix):
                for found in page.get("Contents", ()):
                    name = found["Key"][len(self._prefix) :]
                    if is_name(name):
                        yield StoredFile(name, found["Size"], found["LastModified"].timestamp())
        except S3Error as err:
            raise explain(err, self.uri) from err

    def _delete(self, names: Iterable[str]) -> None:
        keys: Iterator[ObjectIdentifierTypeDef] = ({"Key": self._prefix + name} for name in names)
        while batch := tuple(islice(keys, DELETE_BATCH)):
            try:
                answer = self.client().delete_objects(
                    Bucket=self._bucket, Delete={"Objects": batch, "Quiet": True}
                )
            except S3Error as err:
                raise explain(err, self.uri) from err
            if refused := answer.get("Errors"):
                first = ClientError({"Error": refused[0]}, "DeleteObjects")
                raise explain(first, f"s3://{self._bucket}/{refused[0]['Key']} (and {len(refused) - 1} more)")


def pause(attempt: int) -> None:
    """Sleep before another try: longer each time, and randomly, so that writers do not collide again."""
    time.sleep(secrets.randbelow(100) / 1000 * 2**attempt)
