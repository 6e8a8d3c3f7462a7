"""Opens the store that --store names: a folder, file://, hdfs:// or s3://."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import ConfigError

if TYPE_CHECKING:
    from crawlctl.pipeline.store.base import Store

FORMS = "give a folder, file:///folder, hdfs://namenode/folder or s3://bucket/prefix"


def open_store(uri: str) -> Store:
    """Return the store at a path or URI; no request is made before its first use."""
    scheme, separator, rest = uri.partition("://")
    if not separator:
        return _open_folder(uri, uri)
    if "@" in rest.partition("/")[0]:
        from crawlctl.pipeline.config.secrets import redacted

        raise ConfigError(
            f"{redacted(uri)}: the URI of a store is printed and must not hold a name or password; put the "
            "keys of S3 into ~/.aws/credentials, and set HADOOP_USER_NAME for HDFS"
        )
    if scheme == "file":
        return _open_folder(uri, _path_of_file_uri(uri))
    if scheme == "s3":
        from crawlctl.pipeline.store.s3.store import S3Store

        return S3Store(*split_s3(uri))
    if scheme in {"s3a", "s3n"}:
        raise ConfigError(f"{uri} is how Hadoop writes it; use s3://{rest}")
    if scheme == "hdfs":
        from crawlctl.pipeline.store.hdfs.address import find_address
        from crawlctl.pipeline.store.hdfs.store import HdfsStore

        return HdfsStore(find_address(uri))
    if scheme in {"webhdfs", "swebhdfs"}:
        raise ConfigError(f"{uri} is how Hadoop writes it; use hdfs://, and set CRAWLCTL_WEBHDFS if need be")
    raise ConfigError(f"there is no store of kind {scheme}:// ({uri}); {FORMS}")


def _open_folder(uri: str, path: str) -> Store:
    from crawlctl.pipeline.store.local.store import LocalStore

    if not path or "\0" in path:
        raise ConfigError(f"{uri!r} names no folder; {FORMS}")
    return LocalStore(_expand(path))


def _expand(path: str) -> str:
    if not path.startswith("~"):
        return path
    from pathlib import Path

    try:
        return str(Path(path).expanduser())
    except RuntimeError as err:
        raise ConfigError(f"{path}: there is no such home folder; write the path in full") from err


def _path_of_file_uri(uri: str) -> str:
    from urllib.parse import unquote, urlsplit

    parts = urlsplit(uri)
    if parts.netloc not in {"", "localhost"} or not parts.path:
        raise ConfigError(f"{uri} names no folder of this machine; write file:///folder with three slashes")
    return unquote(parts.path)


def split_s3(uri: str) -> tuple[str, str]:
    """Return the bucket and the prefix (without slashes around it) of an s3:// URI."""
    bucket, _, prefix = uri.removeprefix("s3://").partition("/")
    prefix = prefix.strip("/")
    segments = prefix.split("/") if prefix else []
    if not bucket:
        raise ConfigError(f"{uri} names no bucket; write s3://bucket/prefix")
    if any(segment in {"", ".", ".."} for segment in segments) or not uri.isprintable():
        raise ConfigError(f"{uri!r} has an empty, dotted or unprintable part; write s3://bucket/plain/prefix")
    return bucket, prefix
