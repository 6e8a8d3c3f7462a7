from __future__ import annotations

from crawlctl.pipeline.fetch.loop.planned_urls import RequestPurpose, robots_request
from crawlctl.pipeline.politeness.handout import Action, Handout
from crawlctl.pipeline.robots.robots import robots_for_status
from crawlctl.pipeline.robots.robots_lines import MAX_ROBOTS_BYTES


def test_the_line_at_which_a_robots_txt_is_cut_does_not_count() -> None:
    # Cut at the limit, the last line would read "Allow: /" and allow everything.
    rules = b"User-agent: *\nDisallow: /\n"
    line = b"Allow: /public"
    comment = b"#".ljust(MAX_ROBOTS_BYTES - len(rules) - len(b"Allow: /") - 1, b"x") + b"\n"
    url = "https://a/robots.txt"
    request = robots_request(url, RequestPurpose(Handout("a", url, Action.ROBOTS)))
    received = (rules + comment + line)[: request.max_bytes]
    assert not robots_for_status(200, received, "crawlctl").verdict("https://a/private").allowed
