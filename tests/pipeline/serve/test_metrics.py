"""The numbers for Prometheus: of one process, and summed over several."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

from crawlctl.pipeline.serve.metrics import Metrics
from crawlctl.pipeline.serve.served_index import Contents

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.testclient import TestClient

CONTENTS = Contents(snapshot=7, updated=1_700_000_000.5, pages=12, sites=(("a.org", 12),), known_urls=40)
OTHER = (
    "import sys; from crawlctl.pipeline.serve.metrics import Metrics; Metrics(sys.argv[1]).request(503, 3.0)"
)


def numbers(text: str) -> dict[str, float]:
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_answers_are_counted_by_status_and_time() -> None:
    metrics = Metrics()
    for status, seconds in ((200, 0.004), (404, 0.2), (503, 0.0001), (500, 60.0), (304, 0.001)):
        metrics.request(status, seconds)
    found = numbers(metrics.text({"": CONTENTS}))
    by_status = {
        status: found[f'crawlctl_http_requests_total{{status="{status}"}}'] for status in ("2xx", "3xx")
    }
    assert by_status == {"2xx": 1, "3xx": 1}
    assert found['crawlctl_http_requests_total{status="503"}'] == 1
    assert found['crawlctl_http_requests_total{status="5xx"}'] == 1
    assert found['crawlctl_http_request_seconds_bucket{le="0.001"}'] == 2
    assert found['crawlctl_http_request_seconds_bucket{le="0.25"}'] == 4
    assert found['crawlctl_http_request_seconds_bucket{le="+Inf"}'] == 5
    assert found["crawlctl_http_request_seconds_count"] == 5
    assert (found["crawlctl_pages"], found["crawlctl_sites"], found["crawlctl_snapshot"]) == (12, 1, 7)


def test_each_crawl_of_several_has_a_label_under_one_heading() -> None:
    sites = (("b.org", 4), ("c.org", 1))
    other = Contents(snapshot=3, updated=1_600_000_000.0, pages=5, sites=sites, known_urls=9)
    text = Metrics().text({"docs": CONTENTS, "blog": other})
    found = numbers(text)
    assert (found['crawlctl_pages{crawl="docs"}'], found['crawlctl_pages{crawl="blog"}']) == (12, 5)
    assert (found['crawlctl_sites{crawl="docs"}'], found['crawlctl_sites{crawl="blog"}']) == (1, 2)
    assert found['crawlctl_snapshot{crawl="blog"}'] == 3
    assert found['crawlctl_known_urls{crawl="blog"}'] == 9
    assert text.count("# TYPE crawlctl_pages gauge") == 1 and "crawlctl_pages" not in found


def test_workers_are_summed_and_one_that_has_ended_still_counts(tmp_path: Path) -> None:
    metrics = Metrics(str(tmp_path))
    subprocess.run([sys.executable, "-c", OTHER, str(tmp_path)], check=True)
    metrics.request(200, 1.0)
    found = numbers(metrics.text({"": CONTENTS}))
    assert found['crawlctl_http_requests_total{status="503"}'] == 1
    assert found['crawlctl_http_requests_total{status="2xx"}'] == 1
    assert found["crawlctl_http_request_seconds_sum"] == 4


def test_the_server_tells_supervisors_how_it_is(client: TestClient) -> None:
    assert client.get("/healthz").text == "alive\n"
    assert re.fullmatch(r"ready: snapshot \d+\n", client.get("/readyz").text)
    answer = client.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert numbers(answer.text)["crawlctl_sites"] == 3
