"""The settings of how gently hosts are treated."""

from __future__ import annotations

from typing import Annotated

import msgspec

from crawlctl.pipeline.config.section import AtLeastOne, Count, Section
from crawlctl.pipeline.config.units import DAY, Duration

NotNegative = Annotated[float, msgspec.Meta(ge=0)]


class PolitenessSettings(Section, frozen=True):
    """How often a host is asked, and what happens when it cannot answer."""

    delay: Duration = Duration(1)  # at least this long between two requests to a host
    response_factor: NotNegative = 5.0  # and at least this many times as long as its last answer took,
    max_response_delay: Duration = Duration(30)  # up to this
    max_crawl_delay: Duration = Duration(300)  # a Crawl-delay in robots.txt is kept up to this
    connections_per_host: Count = 1  # 0 lifts the limit: only for hosts that are yours
    # Many hosts can be one machine. Between two requests to an address, or to a registrable domain whose
    # addresses are not known yet, lies this part of `delay`, over all tasks; without delay there is none.
    # No task waits longer than `delay`, so with more than 1 / address_factor tasks each asks once in `delay`.
    address_factor: NotNegative = 0.2
    connections_per_address: Count = 10  # of one task; 0 lifts the limit
    backoff: Duration = Duration(10)  # after a failure; doubled with each one that follows,
    max_backoff: Duration = Duration(3600)  # up to this
    # When only failing hosts are left, a round does not wait longer than this for one of them; for one that
    # has answered before, or where nobody else has, as long as all its back-offs take together.
    patience: Duration = Duration(15)
    max_failures: AtLeastOne = 5  # no answer, 429 or 503, in a row; then the host is left for the next round
    max_page_errors: AtLeastOne = 10  # other 5xx answers in a row that make a failure of the host
    max_retry_after: Duration = Duration(DAY)  # a Retry-After header is kept up to this
    pages_per_host: AtLeastOne | None = None  # a host's share of a round; null: no limit
    robots_max_age: Duration = Duration(DAY)  # then robots.txt is read again; at most 1d (RFC 9309)
    robots_tries: AtLeastOne = 3  # in a row, where robots.txt cannot be had
    robots_retry: Duration = Duration(3600)  # after them the host's pages stay closed for this long

    def __post_init__(self) -> None:
        if self.robots_max_age > DAY:
            raise ValueError(f"robots_max_age = {self.robots_max_age}: at most 1d, as RFC 9309 §2.4 asks for")
