"""`crawlctl demo`: serve a web on this machine, crawl it, show its status, and search it."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from crawlctl.pipeline.commands.shared.common import Session, pass_session, say

if TYPE_CHECKING:
    from crawlctl.pipeline.demo.web import DemoWeb

ROUNDS = 5  # at most; after three or four nothing is due
# They override the user's settings, which are meant for another web.
SETTINGS = {
    "partitions": "4",
    "runner.name": "forked",
    "round.max_time": "1m",
    "scope.include": "[]",
    "scope.exclude": "[]",
    # The index page of a host links to all its modules; with the default it would be read a second time.
    "scope.max_new_urls_per_page": "1000",
    "fetch.contact": "crawlctl demo, on this machine",
    "fetch.proxy": "",
    "fetch.allowed_networks": "[127.0.0.1]",
    "politeness.delay": "0",
    "politeness.response_factor": "0",
    "politeness.connections_per_host": "4",
}
QUERY = ("AND", "event", "loop")
LAST_PORT = 65_000  # the other sites need some ports after it


@click.command("demo")
@click.option(
    "--iterations", type=click.IntRange(min=1), default=ROUNDS, help="The largest number of rounds."
)
@click.option("--keep", is_flag=True, help="Keep the crawl and print where it is.")
@click.option("--store", metavar="URI", help="Keep the crawl here, not in a temporary folder.")
@click.option("--serve", is_flag=True, help="Only serve the pages, until you press Ctrl-C.")
@click.option(
    "--port", type=click.IntRange(1, LAST_PORT), help="The first port to serve on (default: any free ports)."
)
@pass_session
@click.pass_context
def command(
    ctx: click.Context,
    session: Session,
    *,
    iterations: int,
    keep: bool,
    store: str | None,
    serve: bool,
    port: int | None,
) -> None:
    """Crawl a web made of Python's own documentation.

    The pages are the pydoc pages of the standard library of this Python, served on 127.0.0.1. Each port is
    one host. No network is needed. The crawl is deleted at the end, unless you give --keep or --store.

    \b
    Example:
      crawlctl demo
      crawlctl demo --serve --port 8100
    """
    from crawlctl.pipeline.demo.web import demo_web

    say("rendering the standard library of this Python …")
    with demo_web(port or 0) as web:
        say(f"serving {web.pages} pages on {len(web.sites)} hosts, from {web.seeds[0]}")
        if serve:
            _wait(web)
            return
        for key, text in SETTINGS.items():
            session.flag(key, text, "demo")
        _crawl_at(ctx, session, web, store, iterations=iterations, keep=keep)


def _wait(web: DemoWeb) -> None:
    """Print the seeds in the form of `crawlctl inject -`, and wait for Ctrl-C."""
    say("Ctrl-C ends it; crawling it takes --set fetch.allowed_networks=[127.0.0.1]", err=True)
    for url in web.seeds:
        say(url)
    with suppress(KeyboardInterrupt):
        threading.Event().wait()


def _crawl_at(
    ctx: click.Context, session: Session, web: DemoWeb, store: str | None, *, iterations: int, keep: bool
) -> None:
    """Crawl into the store that was named, or into a folder that is removed at the end unless it is kept."""
    from tempfile import mkdtemp

    from crawlctl.pipeline.processes.scratch import scratch_folder

    with scratch_folder() as scratch:
        # What is kept cannot lie in a scratch folder.
        folder = Path(mkdtemp(prefix="crawlctl-demo-")) if keep and not store else scratch
        uri = store or str(folder / "crawl")
        session.flag("store", uri, "demo")
        seeds = folder / "seeds.txt"
        seeds.write_text("".join(f"{url}\n" for url in web.seeds))
        try:
            _crawl(ctx, seeds, iterations)
        finally:
            if keep or store:
                say(f"\nthe crawl is in {uri}: crawlctl status --store {uri}")


def _crawl(ctx: click.Context, seeds: Path, iterations: int) -> None:
    """Run the commands that are printed."""
    say(f"\n$ crawlctl run --iterations {iterations} --seed {seeds.name}")
    ctx.invoke(_command(ctx, "run"), iterations=iterations, seed_file=str(seeds))
    say("\n$ crawlctl status --due")
    ctx.invoke(_command(ctx, "status"), due=True)
    say(f"\n$ crawlctl query --limit 3 {' '.join(QUERY)}")
    ctx.invoke(_command(ctx, "query"), words=QUERY, limit=3)


def _command(ctx: click.Context, name: str) -> click.Command:
    """Return another command, as the command line would find it."""
    group = cast("click.Group", ctx.find_root().command)
    return cast("click.Command", group.get_command(ctx, name))
