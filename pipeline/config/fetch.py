"""How pages are asked for: who we say we are, the bounds of a transfer, and where it may go."""

from __future__ import annotations

import re
from typing import Annotated

import msgspec

from crawlctl.pipeline.config.section import Section, demand
from crawlctl.pipeline.config.units import Duration, Size

_Count = Annotated[int, msgspec.Meta(ge=1, le=10_000)]
# All before the last @ is a name and a password, as in secrets.py.
_PROXY = re.compile(
    r"(?:(?:https?|socks(?:4a?|5h?))://)?(?:(?!\w+://).*@)?(?:\[[0-9A-Fa-f:.]+\]|[^\s/?#@:\[\]]+)(?::(\d{1,5}))?/?",
    re.S,
)
_Redirects = Annotated[int, msgspec.Meta(ge=0, le=20)]


class FetchSettings(Section, frozen=True):
    """What the fetch engine must know; every bound is there because some server on the web breaks it."""

    # Our name in the User-Agent header, and the one looked for in robots.txt.
    agent: str = "crawlctl"
    # Where the owner of a site reaches whoever runs the crawl (web or mail); nothing is fetched without it.
    contact: str = ""
    # What the Accept-Language header says; empty leaves it out.
    languages: str = "en, *;q=0.5"
    # Transfers under way at once in one task, fewer where the system lets it open fewer files (ulimit -Hn).
    connections: _Count = 256
    # Answers under way in one task. Half is a reserve that each may fill, half is shared by large bodies.
    memory: Size = Size(128 << 20)
    # From the first look-up of the name to the end of the TLS handshake.
    connect_timeout: Duration = Duration(10)
    # The whole transfer, from the first look-up to the last byte.
    timeout: Duration = Duration(60)
    # A body must keep up this many bytes a second …
    min_speed: Size = Size(256)
    # … over any span of this length; so long may a server think before its first byte, too.
    min_speed_span: Duration = Duration(20)
    # Headers of one answer, 32 bytes more for each line, with interim ones (1xx) and trailers.
    max_header: Size = Size(64 << 10)
    # A body after decompression; what is longer is cut off and marked as truncated.
    max_body: Size = Size(8 << 20)
    # Bodies whose type begins with one of these are not downloaded.
    skip_types: tuple[str, ...] = ("audio/", "font/", "image/", "video/")
    # Redirects (and meta refreshes) in a row that are followed; each behind the first adds 1 to the depth.
    max_redirects: _Redirects = 5
    # Offer HTTP/2 in the TLS handshake.
    http2: bool = True
    # Refuse servers whose certificate does not prove their name.
    tls_verify: bool = True
    # A PEM file of trusted authorities; empty means those of the system, or else of certifi.
    ca_file: str = ""
    # An http(s) proxy for everything; empty means none, whatever the environment says.  What a name leads to
    # is then for the proxy to judge: here only addresses that stand in URLs can be refused.
    proxy: str = ""
    # The address of this machine to connect from; empty leaves the choice to the system.
    local_address: str = ""
    # Networks (10.0.0.0/8) or addresses to be crawled although they are private, loopback or the like.
    allowed_networks: tuple[str, ...] = ()
    # Names to be answered for without DNS, as in example.com:443:192.0.2.7.
    resolve: tuple[str, ...] = ()
    # How long the answer of DNS is kept.
    dns_cache: Duration = Duration(600)
    # How long one host may keep a library busy before the process that fetches is replaced without that host;
    # 0 fetches in the task's own process, as a debugger wants it.
    stall_time: Duration = Duration(60)

    def __post_init__(self) -> None:
        # libcurl would say so at each request, as if the hosts had not answered. A password is not repeated.
        proxy = _PROXY.fullmatch(self.proxy)
        is_one = proxy is not None and 0 < int(proxy[1] or 80) < 1 << 16
        demand(
            not self.proxy or is_one,
            "proxy",
            "be as in http://proxy.example:3128; name:password@ may stand before the host",
        )
