"""`crawlctl demo`: serve a web on this machine, crawl it, show its status, and serve a search page for it."""

from __future__ import annotations

import shlex
import shutil
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from crawlctl.pipeline.commands.shared.common import CrawlctlCommand, Session, pass_session, say
from crawlctl.pipeline.terminal.counted import counted
from crawlctl.pipeline.terminal.width import output_columns
from crawlctl.pipeline.terminal.wrapping import wrapped

if TYPE_CHECKING:
    from crawlctl.pipeline.demo.web import DemoWeb

ROUNDS = 5  # the most rounds; after three or four rounds nothing is due
# These override the user's settings, which were made for other sites.
SETTINGS = {
    "partitions": "4",
    "runner.name": "forked",
    "round.max_time": "1m",
    "scope.include": "[]",
    "scope.exclude": "[]",
    "fetch.contact": "crawlctl demo, on this machine",
    "fetch.proxy": "",
    "fetch.allowed_networks": "[127.0.0.1]",
    "politeness.delay": "0",
    "politeness.response_factor": "0",
    "politeness.connections_per_host": "4",
}
QUERY = ("AND", "event", "loop")
LAST_PORT = 65_000  # the last port that may be chosen, because the other sites need the ports behind it


@click.command("demo", cls=CrawlctlCommand)
@click.option(
    "--iterations", type=click.IntRange(min=1), default=ROUNDS, help="The largest number of rounds."
)
@click.option("--serve", is_flag=True, help="Only serve the web to crawl, until you press Ctrl-C.")
@click.option("--no-serve", "ends", is_flag=True, help="End after the crawl, without the search page.")
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
    serve: bool,
    ends: bool,
    port: int | None,
) -> None:
    """Crawl a web made of Python's own documentation.

    The pages are the pydoc pages of the standard library of this Python, served on 127.0.0.1. Each port is
    one host. No network is needed, and it takes about fifteen seconds. At the end it serves a search page,
    and the crawled pages, until you press Ctrl-C. The crawl stays in the folder crawlctl-demo, or where
    --store says, to search it again; the next demo replaces the folder.

    \b
    Example:
      crawlctl demo
      crawlctl demo --no-serve
      crawlctl demo --serve --port 8100
    """
    from crawlctl.pipeline.demo.demo_folder import make_folder
    from crawlctl.pipeline.demo.web import demo_web

    if serve and ends:
        raise click.UsageError("--serve only serves, and --no-serve does not; give one of them")
    store = session.flag_of("store")
    if not (serve or store):
        make_folder()
    say("rendering the standard library of this Python, which takes some seconds …")
    with demo_web(port or 0) as web:
        say(f"serving {counted(web.pages, 'page')} on {counted(len(web.sites), 'host')}, from {web.seeds[0]}")
        if serve:
            _wait(web)
            return
        for key, text in SETTINGS.items():
            session.flag(key, text, "demo")
        uri = _crawl_at(ctx, session, web, store, iterations)
        _say_what_next(uri, is_served=not ends)
        if not ends:
            _serve_search(ctx)


def _wait(web: DemoWeb) -> None:
    """Print the seeds in the form of `crawlctl inject -`, and wait for Ctrl-C."""
    say("Ctrl-C ends it; crawling it takes --set fetch.allowed_networks=[127.0.0.1]", err=True)
    for url in web.seeds:
        say(url)
    with suppress(KeyboardInterrupt):
        threading.Event().wait()


def _crawl_at(ctx: click.Context, session: Session, web: DemoWeb, store: str | None, iterations: int) -> str:
    """Crawl into the store that was named, or into the folder of the demo; return where it is."""
    from crawlctl.pipeline.demo.demo_folder import CRAWL, SEEDS, write_seeds
    from crawlctl.pipeline.processes.scratch import scratch_folder

    uri = store or str(CRAWL)
    session.flag("store", uri, "demo")
    with scratch_folder() as scratch:
        seeds = scratch / SEEDS.name if store else SEEDS
        write_seeds(seeds, web.seeds)
        _crawl(ctx, seeds, iterations)
    return uri


def _say_what_next(uri: str, *, is_served: bool) -> None:
    """Print commands that can be pasted; if crawlctl is not on PATH, with the path of its script."""
    script = Path(sys.argv[0])
    is_found = script.name != "crawlctl" or shutil.which("crawlctl")
    program, store = "crawlctl" if is_found else shlex.quote(str(script)), shlex.quote(uri)
    now = "From another terminal you can" if is_served else "Its pages are no longer served, but you can"
    kept = f"The crawl is kept in {uri}. {now} look around in it:"
    say("\n".join(["", *wrapped(kept, output_columns())]))
    for words in ("query event loop", "query", "pages", "status", *(() if is_served else ("serve",))):
        name, *rest = words.split()
        say(" ".join([" ", program, name, "--store", store, *rest]))


def _crawl(ctx: click.Context, seeds: Path, iterations: int) -> None:
    """Run the commands that are printed."""
    say(f"\n$ crawlctl run --iterations {iterations} --seed {seeds.name}")
    ctx.invoke(_command(ctx, "run"), urls=(), iterations=iterations, seed_file=str(seeds))
    say("\n$ crawlctl status --due")
    ctx.invoke(_command(ctx, "status"), due=True)
    say(f"\n$ crawlctl query --limit 3 {' '.join(QUERY)}")
    ctx.invoke(_command(ctx, "query"), words=QUERY, limit=3)


def _serve_search(ctx: click.Context) -> None:
    """Serve the search page, on the default port of `crawlctl serve` if it is free."""
    from crawlctl.pipeline.commands.search.serve import HOST, PORT
    from crawlctl.pipeline.serve.http_server import is_free

    say("\n$ crawlctl serve")
    ctx.invoke(_command(ctx, "serve"), port=PORT if is_free(HOST, PORT) else 0)


def _command(ctx: click.Context, name: str) -> click.Command:
    """Return another command, as the command line would find it."""
    group = cast("click.Group", ctx.find_root().command)
    return cast("click.Command", group.get_command(ctx, name))
