"""Streams a file of any length to S3: one PUT if it is short, else a multipart upload."""

from __future__ import annotations

import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

from crawlctl.pipeline.store.base import exists_already
from crawlctl.pipeline.store.s3.errors import S3Error, explain, is_taken
from crawlctl.pipeline.store.writer import StoreWriter

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import CompletedPartTypeDef

    from crawlctl.pipeline.store.s3.client import ObjectAddress

PART_BYTES = 8 << 20  # S3 demands at least 5 MiB
PARTS_PER_SIZE = 1000  # then parts grow by 8 MiB, so that 430 GiB fit into the 10,000 parts S3 allows
OWNER = "crawlctl-upload"  # key in the metadata of an object; the value is unique per upload


class S3Writer(StoreWriter):
    """A new object; S3 does not show it before the upload is completed."""

    def __init__(
        self,
        name: str,
        address: ObjectAddress,
        client: Callable[[], S3Client],
        put: Callable[[bytes], None],  # writes a short file in one request
        part_bytes: int = PART_BYTES,
    ) -> None:
        super().__init__(name, part_bytes)
        self._where = f"s3://{address['Bucket']}/{address['Key']}"
        self._object = address
        self._client = client
        self._put = put
        self._part_bytes = part_bytes
        self._owner = secrets.token_hex(16)
        self._upload: str | None = None
        self._parts: list[CompletedPartTypeDef] = []

    def _send(self, chunk: bytes) -> None:
        try:
            if self._upload is None:
                self._upload = self._begin()
            self._append(self._upload, chunk)
        except S3Error as err:
            raise explain(err, self._where) from err

    def _begin(self) -> str:
        # If the last answer is lost, the owner tells whether our upload made the object.
        answer = self._client().create_multipart_upload(**self._object, Metadata={OWNER: self._owner})
        return answer["UploadId"]

    def _append(self, upload: str, chunk: bytes) -> None:
        number = len(self._parts) + 1
        part = self._client().upload_part(**self._object, UploadId=upload, PartNumber=number, Body=chunk)
        self._parts.append({"PartNumber": number, "ETag": part["ETag"]})
        self.chunk_bytes = self._part_bytes * (1 + number // PARTS_PER_SIZE)

    def _finish(self, last: bytes) -> None:
        if self._upload is None:
            self._put(last)
            return
        if last:
            self._send(last)
        self._complete(self._upload)
        self._upload = None

    def _complete(self, upload: str) -> None:
        try:
            self._client().complete_multipart_upload(
                **self._object, UploadId=upload, MultipartUpload={"Parts": self._parts}, IfNoneMatch="*"
            )
        except S3Error as err:
            if self._is_ours():
                return
            if is_taken(err):
                raise exists_already(self._where) from err
            raise explain(err, self._where) from err

    def _is_ours(self) -> bool:
        # If the answer to the first try was lost, the second try is refused: the upload is gone, the name is
        # taken.
        try:
            found = self._client().head_object(**self._object)
        except S3Error:
            return False
        return found["Metadata"].get(OWNER) == self._owner and found["ContentLength"] == self.bytes

    def discard(self) -> None:
        """Abort the upload; if that fails, `crawlctl gc` does it later."""
        if self._upload is not None:
            with suppress(*S3Error):
                self._client().abort_multipart_upload(**self._object, UploadId=self._upload)
            self._upload = None
        self.close()
