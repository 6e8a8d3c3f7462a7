"""The search box for web pages of others: small, loadable from there, and harmless whatever it finds."""

from __future__ import annotations

import subprocess
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from shutil import which
from typing import TYPE_CHECKING

import pytest
from selectolax.lexbor import LexborHTMLParser

from crawlctl.tests.pipeline.serve.served_web import LOOP
from crawlctl.tests.pipeline.serve.server_process import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from starlette.testclient import TestClient

    from crawlctl.pipeline.store.local.store import LocalStore

MAX_BYTES = 10_000
WAIT_MS = 8000


def test_it_is_small_and_puts_in_texts_alone() -> None:
    script = (files("crawlctl.pipeline.serve") / "static" / "embed.js").read_text("utf-8")
    assert len(script.encode()) < MAX_BYTES
    assert not any(word in script for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "eval("))


def test_web_pages_of_others_may_load_it_and_nothing_else(client: TestClient) -> None:
    policy = "cross-origin-resource-policy"
    assert client.get("/static/embed.js").headers[policy] == "cross-origin"
    assert client.get("/static/style.css").headers[policy] == "same-origin"


def embedding(server: str, words: str) -> str:
    """Return a web page with the box, in which somebody has searched."""
    return f"""<!doctype html><title>Friend</title><div id=here></div>
<script src="{server}/static/embed.js" data-target="#here" data-limit=3></script>
<script>addEventListener("load", () => {{
  document.querySelector("#here input").value = "{words}";
  document.querySelector("#here form").requestSubmit();
}});</script>"""


@contextmanager
def friend(page: list[str]) -> Iterator[str]:
    """Serve a web page, and yield its origin."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(page[0].encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{web.server_address[1]}"
        finally:
            web.shutdown()


@pytest.mark.integration
@pytest.mark.skipif(which("chromium") is None, reason="no chromium here")
def test_a_browser_shows_results_below_the_box(web_store: LocalStore, tmp_path: Path) -> None:
    page = [""]
    with friend(page) as origin, serving(web_store, "--allow-origin", origin) as server:

        def shown(words: str) -> LexborHTMLParser:
            page[0] = embedding(f"http://127.0.0.1:{server.port}", words)
            options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}"]
            command = ["chromium", *options, f"--virtual-time-budget={WAIT_MS}", "--dump-dom", origin]
            html = subprocess.run(command, capture_output=True, text=True, check=True, timeout=90).stdout
            return LexborHTMLParser(html)

        found = shown("asynchronous generator")
        links = [link.attributes["href"] for link in found.css("#here a")]
        assert links == [f"{LOOP}#running%20loops"]
        assert [mark.text() for mark in found.css("#here p mark")] == ["asynchronous", "generator"]
        assert [one.text().strip() for one in found.css(".crawlctl-status")] == ["1 page"]

        hostile = shown("hostile")
        (link,) = (one.attributes["href"] or "" for one in hostile.css("#here li a"))
        assert link.startswith("http://evil.example/%3Cscript%3E") and link.endswith("#xxx")
        assert not hostile.css("#here script") and not hostile.css("#here img")
        assert ["<script>alert(1)</script>" in one.text() for one in hostile.css("#here li")] == [True]
