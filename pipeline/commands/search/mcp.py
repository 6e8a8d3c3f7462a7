"""`crawlctl mcp`: let an agent search the crawl and read its pages, by the Model Context Protocol."""

from __future__ import annotations

import click

from crawlctl.pipeline.commands.shared.common import CrawlctlCommand, Session, pass_session


@click.command("mcp", cls=CrawlctlCommand)
@pass_session
def command(session: Session) -> None:
    """Let an agent search and read the crawl.

    An agent starts this command and talks to it by the Model Context Protocol, on standard input and output.
    The tools are search, read_page, list_sites and explain; nothing is fetched from the web and nothing is
    changed. It needs an extra package: pip install 'crawlctl[mcp]'. Over HTTP: crawlctl serve --mcp.

    \b
    Example:
      crawlctl mcp --store s3://my-bucket/crawl
    """
    from crawlctl.pipeline.search.open.open_index import open_index
    from crawlctl.pipeline.serve.agents.mcp_server import require_mcp, serve_streams
    from crawlctl.pipeline.serve.served_crawl import ServedCrawl, ServeOptions

    require_mcp()
    store = session.store()
    open_index(store).close()  # raises an error if there is nothing to search
    serve_streams(ServedCrawl(ServeOptions(store.uri, config=session.config)))
