"""`crawlctl forget`: remove pages from search at once, and keep them out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from crawlctl.pipeline.commands.shared.common import (
    CrawlctlCommand,
    Session,
    json_option,
    pass_session,
    print_json,
    runner_options,
    say,
)
from crawlctl.pipeline.terminal.counted import by_number, counted

if TYPE_CHECKING:
    from crawlctl.pipeline.crawl.changes.forgetting import Forgotten
    from crawlctl.pipeline.crawl.changes.revision import Revised
    from crawlctl.pipeline.crawl.work import Work


@click.command("forget", cls=CrawlctlCommand)
@click.argument("pages", nargs=-1, required=True, metavar="URL|HOST|PREFIX|WORDS...")
@click.option("--query", "is_query", is_flag=True, help="The words are a query: forget all pages it matches.")
@click.option("--dry-run", is_flag=True, help="Count the pages and show some of them, but change nothing.")
@click.option("--keep-archive", is_flag=True, help="Let `gc` keep the copies of the pages in the archive.")
@runner_options()
@json_option
@pass_session
def command(
    session: Session,
    *,
    pages: tuple[str, ...],
    is_query: bool,
    dry_run: bool,
    keep_archive: bool,
    as_json: bool,
) -> None:
    """Remove pages from search at once, and keep them out.

    A URL means this page alone. A URL that ends in / or * means all URLs that begin like this. A host such as
    example.org means all its pages; other rules of scope.include work too. To name only the page whose URL
    ends in /, write url: before it. With --query, all pages that the query matches are removed, also pages
    that `query` folds away as near duplicates.

    The command makes a snapshot, with which the pages leave search. A rule in scope.forgotten keeps them out,
    even if other pages link to them. `crawlctl gc` deletes their data in the WebDB and the archive. Until
    then `crawlctl rollback` undoes the command.

    \b
    Example:
      crawlctl forget https://example.org/old/page.html
      crawlctl forget https://example.org/private/ intranet.example.org --dry-run
      crawlctl forget --query 'title:"internal server error"'
    """
    from crawlctl.pipeline.commands.shared.querying.query_run import joined
    from crawlctl.pipeline.crawl.changes.named_pages import rules_of_query, rules_of_targets

    if not is_query:
        _refuse_words(session, pages)
    work = session.work()
    rules = rules_of_query(joined(pages), work.store) if is_query else rules_of_targets(pages, work.config)
    named = " ".join((*["--query"] * is_query, *pages))
    forgotten = _forget(work, rules, named, dry_run=dry_run, keep_archive=keep_archive)
    if as_json:
        print_json(_plain(forgotten, rules, dry_run=dry_run))
    else:
        _print(session, forgotten, dry_run=dry_run, keep_archive=keep_archive)


def _refuse_words(session: Session, pages: tuple[str, ...]) -> None:
    """Refuse text that can only be words of a query; an error about scope rules would not help the user."""
    for page in pages:
        if " " in page.strip() and not page.startswith("regex:"):
            tried = session.typed("forget", "--query", page, "--dry-run")
            raise click.UsageError(
                f"{page!r} is no URL, host or beginning of URLs; to forget all pages that a query matches, "
                f"add --query, and try it first: {tried}"
            )


def _forget(
    work: Work, rules: tuple[str, ...], named: str, *, dry_run: bool, keep_archive: bool
) -> Forgotten:
    from crawlctl.pipeline.crawl.changes.forgetting import forget, would_forget

    if dry_run:
        return would_forget(work, rules, keep_archive=keep_archive)
    return forget(work, rules, named, keep_archive=keep_archive)


def _plain(forgotten: Forgotten, rules: tuple[str, ...], *, dry_run: bool) -> dict[str, object]:
    revised = forgotten.revised
    return {
        "dry_run": dry_run,
        "rules": rules,
        "left": revised.left,
        "excluded": revised.excluded,
        "due": revised.due,
        "examples": revised.examples,
        "snapshot": forgotten.snapshot,
        "undo": None if forgotten.snapshot is None else forgotten.undo,
    }


def _print(session: Session, forgotten: Forgotten, *, dry_run: bool, keep_archive: bool) -> None:
    revised = forgotten.revised
    if not dry_run and forgotten.snapshot is None:
        known = counted(sum(revised.matched.values()), "known URL")
        say(f"nothing has changed: {known} of this name, forgotten already")
        return
    if dry_run:
        would = f"would remove {counted(revised.left, 'page')} from search"
        say(f"{would}{_kept_out(revised, 'would be', 'would be')}, such as:")
        for url in revised.examples:
            say(f"  {url}")
        say("nothing was changed")
        return
    say(f"removed {counted(revised.left, 'page')} from search{_kept_out(revised, 'is', 'are')}")
    if revised.due:
        due = counted(revised.due, "duplicate")
        say(f"{due} of these pages can be fetched in their place: `{session.typed('run')}`")
    gone = f"`{session.typed('gc')}` deletes all that is left"
    left = "entries and copies in the archive stay" if keep_archive else gone
    say(f"{left}; undo: {session.typed('rollback', str(forgotten.undo))}")


def _kept_out(revised: Revised, one: str, many: str) -> str:
    """Return the part of a sentence about URLs that were not in search; `one` and `many` are verb forms."""
    others, known = revised.excluded - revised.left, sum(revised.matched.values())
    if others:
        return f"; {counted(others, 'other known URL')} {by_number(others, one, many)} kept out"
    return "" if revised.left else f"; {counted(known, 'known URL was', 'known URLs were')} kept out before"
