"""Finds the web addresses of the namenodes behind an hdfs:// URI."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawlctl.pipeline.config.locations import WEBHDFS_VARIABLE
from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.store.hdfs.conf import HadoopConf, read_conf

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PORTS = {"http": 9870, "https": 9871}

_ANY_HOST = ("0.0.0.0", "[::]", "::", "")  # noqa: S104 - "all interfaces": no client can connect
_FORM = "write hdfs://namenode/folder, or hdfs:///folder where HADOOP_CONF_DIR names the cluster"


@dataclass(frozen=True)
class HdfsAddress:
    """A folder of HDFS, the web addresses of its namenodes, and the user name that requests carry."""

    uri: str
    path: str
    namenodes: tuple[str, ...]
    user: str


def find_address(uri: str, environment: Mapping[str, str] = os.environ) -> HdfsAddress:
    """Return the address of an hdfs:// URI.

    The namenodes come from CRAWLCTL_WEBHDFS, else from Hadoop's configuration, else from the URI and the
    usual port.
    """
    authority, path = split_hdfs(uri)
    conf = read_conf(environment)
    default = urlsplit(conf.get("fs.defaultFS"))
    if not authority and default.scheme == "hdfs":
        authority = default.netloc
    given = tuple(_given(environment.get(WEBHDFS_VARIABLE, "")))
    namenodes = given or tuple(_namenodes(authority, conf))
    if not namenodes:
        raise ConfigError(f"neither {uri} nor a configuration of Hadoop names a namenode; {_FORM}")
    return HdfsAddress(f"hdfs://{authority}{path}", path, namenodes, hadoop_user(environment))


def split_hdfs(uri: str) -> tuple[str, str]:
    """Return the namenode ("" for the default one) and the absolute path ("" for the root) of a URI."""
    authority, _, path = uri.removeprefix("hdfs://").partition("/")
    path = path.strip("/")
    segments = path.split("/") if path else []
    if any(segment in {"", ".", ".."} or ":" in segment for segment in segments) or not uri.isprintable():
        raise ConfigError(
            f"{uri!r} has an empty part, a part . or .., a colon, or an unprintable character; {_FORM}"
        )
    try:
        _ = urlsplit(f"hdfs://{authority}").port
    except ValueError as err:
        raise ConfigError(f"{uri}: {err}; {_FORM}") from err
    return authority, f"/{path}" if path else ""


def _given(text: str) -> Iterator[str]:
    for part in filter(None, map(str.strip, text.split(","))):
        parts = urlsplit(part if "://" in part else f"http://{part}")
        if parts.scheme not in PORTS or not parts.hostname:
            raise ConfigError(f"{WEBHDFS_VARIABLE}: {part!r} is no web address; write http://namenode:9870")
        yield f"{parts.scheme}://{parts.netloc}"


def _namenodes(authority: str, conf: HadoopConf) -> Iterator[str]:
    """Yield the web addresses of the namenodes: all of a nameservice, or the one that the URI names."""
    if not authority:
        return
    scheme = "https" if conf.get("dfs.http.policy") == "HTTPS_ONLY" else "http"
    host = urlsplit(f"hdfs://{authority}").hostname or ""
    members = conf.names(f"dfs.ha.namenodes.{authority}")
    if members or authority in conf.names("dfs.nameservices"):
        for suffix in [f".{authority}.{member}" for member in members] or [f".{authority}"]:
            rpc = conf.get(f"dfs.namenode.rpc-address{suffix}").partition(":")[0]
            yield _web_address(scheme, conf.get(f"dfs.namenode.{scheme}-address{suffix}"), rpc)
        return
    # If the URI means another cluster than the configured one, the configured address does not apply.
    is_configured = authority in {
        urlsplit(conf.get("fs.defaultFS")).netloc,
        conf.get("dfs.namenode.rpc-address"),
    }
    configured = conf.get(f"dfs.namenode.{scheme}-address") if is_configured else ""
    yield _web_address(scheme, configured, host)


def _web_address(scheme: str, configured: str, host: str) -> str:
    listening, _, port = configured.rpartition(":")
    return f"{scheme}://{host if listening in _ANY_HOST else listening}:{port or PORTS[scheme]}"


def hadoop_user(environment: Mapping[str, str] = os.environ) -> str:
    """Return the user name that Hadoop itself would use; in a YARN container, the user of the job."""
    import getpass

    if given := environment.get("HADOOP_USER_NAME"):
        return given
    try:
        return getpass.getuser()
    except (KeyError, OSError) as err:
        raise ConfigError("this user has no name on this machine; set HADOOP_USER_NAME") from err
