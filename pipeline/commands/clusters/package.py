"""`crawlctl package`: upload crawlctl and its dependencies for the nodes of a cluster."""

from __future__ import annotations

import click

from crawlctl.pipeline.commands.shared.common import (
    CrawlctlCommand,
    Session,
    pass_session,
    say,
    takes_setting,
)


@click.command("package", cls=CrawlctlCommand)
@click.option(
    "--for", "cluster", type=click.Choice(["hadoop", "emr"]), required=True, help="The kind of cluster."
)
@takes_setting(
    "--to", key="runner.packages", metavar="URI", help="A folder on HDFS or S3 (setting runner.packages)."
)
@pass_session
def command(session: Session, cluster: str) -> None:
    """Put crawlctl and its dependencies where a cluster finds them.

    For Hadoop, all installed packages are packed into an archive, which runs with the Python of the nodes.
    For EMR, a bootstrap script installs the same versions on the nodes. Files that are already there are not
    sent again. `--runner hadoop` does all this by itself.

    \b
    Example:
      crawlctl package --for hadoop --to hdfs:///apps/crawlctl
      crawlctl package --for emr --to s3://bucket/packages
    """
    from crawlctl.pipeline.runners.shipping.ship import ship_for_emr, ship_for_hadoop

    ship = ship_for_hadoop if cluster == "hadoop" else ship_for_emr
    say(ship(session.given.config.runner))
