"""`crawlctl serve`: a search page and an API over a crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from crawlctl.pipeline.commands.shared.command import CommonOption
from crawlctl.pipeline.commands.shared.common import CrawlctlCommand, Session, pass_session, say
from crawlctl.pipeline.commands.shared.completing import complete_folder
from crawlctl.pipeline.commands.shared.session import STORE_FLAG
from crawlctl.pipeline.terminal.counted import counted

if TYPE_CHECKING:
    from crawlctl.pipeline.serve.served_crawl import ServeOptions

HOST = "127.0.0.1"
PORT = 8080
MAX_WORKERS = 64
CLIENT_RATE = 20.0


@click.command("serve", cls=CrawlctlCommand)
@click.option(
    STORE_FLAG,
    "stores",
    cls=CommonOption,
    multiple=True,
    metavar="[NAME=]URI",
    shell_complete=complete_folder,
    help="Where the crawl is; with names, several crawls can be chosen from on the page.",
)
@click.option("--host", default=HOST, show_default=True, help="The address to serve on, 0.0.0.0 for all.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=PORT,
    show_default=True,
    help="The port; 0 takes any free port.",
)
@click.option(
    "--workers",
    "processes",
    type=click.IntRange(1, MAX_WORKERS),
    default=1,
    show_default=True,
    help="Processes that search at the same time.",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="A name under which browsers reach the server, such as search.example.org; may be repeated.",
)
@click.option(
    "--allow-origin",
    "origins",
    multiple=True,
    metavar="ORIGIN",
    help="Let scripts of a web page, such as https://example.org, ask the API; may be repeated.",
)
@click.option(
    "--client-rate",
    type=click.FloatRange(min=0),
    default=CLIENT_RATE,
    show_default=True,
    metavar="NUMBER",
    help="Requests per second that each client may make, this machine aside; 0 for no limit.",
)
@click.option(
    "--trust-proxy",
    "proxies",
    multiple=True,
    metavar="ADDRESS",
    help="A proxy on another machine that names clients in X-Forwarded-For, such as 10.0.0.7 or 10.0.0.0/8.",
)
@click.option("--mcp", is_flag=True, help="Let agents ask at /mcp (Model Context Protocol); off by default.")
@pass_session
def command(
    session: Session,
    *,
    stores: tuple[str, ...],
    host: str,
    port: int,
    processes: int,
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
    client_rate: float,
    proxies: tuple[str, ...],
    mcp: bool,
) -> None:
    """Serve a search page and an API.

    The pages need no JavaScript and load nothing from other servers; the server fetches nothing from the web.
    New snapshots of the crawl are searched within seconds, without a restart. Ctrl-C or SIGTERM ends it.

    By default only this machine can connect. With --host 0.0.0.0 all machines of the network can connect and
    read the crawled pages. Put a web server in front of it for HTTPS (docs/serve.md).

    \b
    Example:
      crawlctl serve
      crawlctl serve --store s3://my-bucket/crawl --port 9000 --workers 2
      crawlctl serve --allow-host search.example.org
      crawlctl serve --store docs=s3://my-bucket/docs --store blog=./blog
    """
    from dataclasses import replace

    from crawlctl.pipeline.serve.agents.mcp_server import require_mcp
    from crawlctl.pipeline.serve.http_server import address_of, listen, serve

    if mcp:
        require_mcp()
    crawls, pages = _crawls(session, stores, origins, mcp=mcp)
    options = replace(
        crawls[0],
        hosts=(host, *hosts),
        client_rate=client_rate,
        proxies=proxies,
        others=tuple(crawls[1:]),
    )
    found = counted(pages, "page") + (f" of {len(crawls)} crawls" if len(crawls) > 1 else "")
    with listen(host, port) as listener:
        serve(
            listener,
            options,
            processes,
            lambda: say(f"{found} can be searched at {address_of(listener)} (Ctrl-C ends it)"),
        )


def _crawls(
    session: Session, stores: tuple[str, ...], origins: tuple[str, ...], *, mcp: bool
) -> tuple[list[ServeOptions], int]:
    """Return the options of each crawl to serve, and how many pages can be searched in all of them."""
    from crawlctl.pipeline.index.statistics import summary_of
    from crawlctl.pipeline.search.open.open_index import open_index
    from crawlctl.pipeline.serve.named_stores import NamedStore, named_stores
    from crawlctl.pipeline.serve.served_crawl import ServeOptions

    crawls, pages = [], 0
    for name, uri in named_stores(stores) if stores else [NamedStore("", session.store().uri)]:
        own = session.with_store(uri)
        searcher = open_index(own.store())  # raises an error if there is nothing to search
        # pages that are known only by links do not count
        pages += summary_of(searcher.snapshot.files)["documents"]
        searcher.close()
        crawls.append(ServeOptions(own.store().uri, origins=origins, config=own.config, name=name, mcp=mcp))
    return crawls, pages
