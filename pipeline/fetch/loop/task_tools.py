"""TaskTools: the objects that the fetch loop and the answer handler share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Set

    from crawlctl.pipeline.clock import RunClock
    from crawlctl.pipeline.config.settings import Config
    from crawlctl.pipeline.fetch.heartbeat import Heartbeat
    from crawlctl.pipeline.fetch.loop.outlink_following import Following
    from crawlctl.pipeline.fetch.loop.parse_queue import ParseQueue
    from crawlctl.pipeline.fetch.loop.planned_urls import PlannedUrls
    from crawlctl.pipeline.fetch.loop.round_tail import RoundTail
    from crawlctl.pipeline.fetch.pages.page_reader import PageReader
    from crawlctl.pipeline.fetch.pages.sitemap_queue import SitemapQueue
    from crawlctl.pipeline.fetch.save.run_buffer import RunBuffer
    from crawlctl.pipeline.fetch.save.run_saver import RunSaver
    from crawlctl.pipeline.http.engine import Engine
    from crawlctl.pipeline.politeness.polite_queue import PoliteQueue
    from crawlctl.pipeline.politeness.rules_memory import RuleMemory


@dataclass(frozen=True)
class TaskTools:
    """The objects of one fetch task, held from its first request to its last save.

    The state of the task is only in these objects. So the loop and the answer handler need not know each
    other's state: the loop asks the tools what is left to do, the answer handler changes them.
    """

    config: Config
    clock: RunClock
    queue: PoliteQueue  # which host is asked next
    planned: PlannedUrls  # which URLs of the host are requested
    following: Following  # which URLs that the round has found are requested too
    engine: Engine  # transfers
    parse_queue: ParseQueue  # answers that wait to be parsed
    reader: PageReader  # turns parsed pages into outcomes
    sitemaps: SitemapQueue
    rules: RuleMemory  # the robots.txt rules of all hosts
    run: RunBuffer  # pages that are not saved yet
    saver: RunSaver
    tail: RoundTail  # whether the round ends early
    new_hosts: Set[bytes]  # hosts of which the task found URLs that the crawl did not know
    heartbeat: Heartbeat
