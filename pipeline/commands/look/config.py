"""`crawlctl config`: every setting and where its value comes from; changes the crawl's own settings."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crawlctl.pipeline.commands.shared.common import (
    CrawlctlGroup,
    Session,
    json_option,
    pass_session,
    print_json,
    say,
)
from crawlctl.pipeline.commands.shared.completing import complete_own_key, complete_own_setting
from crawlctl.pipeline.commands.shared.output import json_of
from crawlctl.pipeline.errors import CrawlctlError
from crawlctl.pipeline.terminal.width import output_width

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from crawlctl.pipeline.config.load import Origin
    from crawlctl.pipeline.crawl.work import Work

_SHOWS_VALUES = frozenset({"get", "show", "list", "ls", "print", "view"})  # in other programs
_NARROWEST = 20  # the fewest columns for values beside their keys; with less room, values get their own lines


class ConfigGroup(CrawlctlGroup):
    """The group of `config`; those who look for a command that shows a setting are told where it is shown."""

    def unknown(self, ctx: click.Context, name: str) -> str:
        """Return what is wrong with a name that is no command."""
        if name not in _SHOWS_VALUES and not _is_key(name):
            return super().unknown(ctx, name)
        key = name if _is_key(name) else "KEY"
        return (
            f"no command `{name}`; `crawlctl config` prints all settings and where their values come from, "
            f"`crawlctl config set {key}=VALUE` changes one"
        )


def _is_key(name: str) -> bool:
    from crawlctl.pipeline.config.load import all_types

    return name in all_types()


@click.group("config", cls=ConfigGroup, invoke_without_command=True)
@json_option
@pass_session
@click.pass_context
def command(ctx: click.Context, session: Session, as_json: bool) -> int:
    """Print all settings, or change those of the crawl.

    A crawl keeps its own settings in its store: those of the sections urls, scope, budgets, parse, sites,
    recrawl, focus, index and search. `config set` and `config edit` change them. For these sections, a
    settings file or variable counts only when the crawl is made. In a terminal, long values are cut off;
    --json shows them whole. Passwords and keys are shown as ***.

    \b
    Example:
      CRAWLCTL_PARTITIONS=16 crawlctl config
      crawlctl config set scope.max_depth=3 'scope.include=[docs.python.org]'
    """
    return 0 if ctx.invoked_subcommand else _print(session, as_json)


def _print(session: Session, as_json: bool) -> int:
    """Print all settings. If the crawl's own cannot be read, say so and return the error's exit code."""
    from crawlctl.pipeline.config.units import encode_unit
    from crawlctl.pipeline.errors import CorruptFile, StoreError

    code = 0
    try:
        origins = session.loaded.origins
    except (CorruptFile, StoreError) as err:
        say(f"crawlctl: these settings are without the crawl's own, which cannot be read: {err}", err=True)
        origins, code = session.given.origins, err.exit_code
    if as_json:
        print_json({one.key: {"value": _shown(one, str), "source": one.source} for one in origins})
        return code
    rows = [(one.key, _as_text(_shown(one, encode_unit)), one.source) for one in origins]
    for line in settings_table(rows, output_width() if sys.stdout.isatty() else None):
        say(line)
    return code


@command.command("set")
@click.argument("assignments", nargs=-1, metavar="KEY=VALUE...", shell_complete=complete_own_setting)
@click.option(
    "--anew",
    is_flag=True,
    help="Start from the defaults, your settings file and variables, not from the crawl's own settings.",
)
@json_option
@pass_session
def set_values(session: Session, assignments: tuple[str, ...], anew: bool, as_json: bool) -> None:
    """Change settings of the crawl for good.

    All values are checked before any is changed. KEY= goes back to the default. With --anew the settings in
    use here become the crawl's own; this also repairs a crawl whose file of settings is damaged.

    \b
    Example:
      crawlctl config set scope.max_depth=3 'scope.include=[docs.python.org]'
      crawlctl config set scope.max_depth=
    """
    if not assignments and not anew:
        raise click.UsageError("give one or more KEY=VALUE, such as scope.max_depth=3")
    changes = _assigned(assignments)
    _change(session, session.work(with_own=False), changes, anew=anew, as_json=as_json)


@command.command("unset")
@click.argument("keys", nargs=-1, required=True, metavar="KEY...", shell_complete=complete_own_key)
@json_option
@pass_session
def unset(session: Session, keys: tuple[str, ...], as_json: bool) -> None:
    """Let settings of the crawl go back to their defaults.

    \b
    Example:
      crawlctl config unset scope.max_depth
    """
    from crawlctl.pipeline.crawl.changes.own_rules import UNSET

    _change(session, session.work(with_own=False), dict.fromkeys(keys, UNSET), as_json=as_json)


@command.command("edit")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False)
@json_option
@pass_session
def edit(session: Session, file: Path | None, as_json: bool) -> None:
    """Change settings of the crawl in your editor.

    $VISUAL or $EDITOR opens a text with all settings of the crawl and their meanings. If the text has a
    mistake, the crawl stays as it is, and your text is kept in a file: give this file as FILE to continue.

    \b
    Example:
      EDITOR=nano crawlctl config edit
    """
    from crawlctl.pipeline.config.edit_text import edit_text
    from crawlctl.pipeline.crawl.changes.own_rules import settings_to_edit

    work, own = settings_to_edit(session.work(with_own=False))
    offered = edit_text(own, work.store.uri)
    text = file.read_text(encoding="utf-8") if file else offered
    edited = _edited(text)
    if edited is None or edited == offered:
        say("the text has no changes, so the crawl stays as it is", err=as_json)
        return
    try:
        _change_to(session, work, own, edited, as_json=as_json)
    except CrawlctlError:
        again = shlex.join(["crawlctl", "config", "edit", *session.store_words, _kept(edited)])
        say(f"crawlctl: your text is kept; correct it with: {again}", err=True)
        raise


def _edited(text: str) -> str | None:
    """Let the user edit a text; None if it was not saved."""
    try:
        return click.edit(text, extension=".yaml", require_save=False)
    except click.ClickException as err:
        raise CrawlctlError(
            f"the editor failed ({err.message}), so the crawl stays as it is; choose another one, such as "
            "EDITOR=nano crawlctl config edit, or use crawlctl config set KEY=VALUE"
        ) from err


def _change_to(session: Session, work: Work, own: Mapping[str, Any], edited: str, *, as_json: bool) -> None:
    """Give the crawl exactly the settings of an edited text."""
    from crawlctl.pipeline.config.edit_text import read_edited
    from crawlctl.pipeline.crawl.changes.own_rules import UNSET

    _change(session, work, {**dict.fromkeys(own, UNSET), **read_edited(edited)}, as_json=as_json)


def _kept(text: str) -> str:
    """Write a text to a new file and return its path."""
    from tempfile import NamedTemporaryFile

    with NamedTemporaryFile(
        "w", encoding="utf-8", prefix="crawl-settings-", suffix=".yaml", delete=False
    ) as file:
        file.write(text)
    return file.name


def _assigned(assignments: Sequence[str]) -> dict[str, Any]:
    """Return the plain values of KEY=VALUE texts by key; nothing after the = means the default."""
    from crawlctl.pipeline.config.load import typed_flags
    from crawlctl.pipeline.config.own_layer import require_own
    from crawlctl.pipeline.config.plain_values import plain_value
    from crawlctl.pipeline.crawl.changes.own_rules import UNSET

    texts = dict(_split(one) for one in assignments)
    typed = typed_flags({key: (text, "config set") for key, text in texts.items() if text})
    for key in typed:
        require_own(key)
    return {key: plain_value(typed[key]) if text else UNSET for key, text in texts.items()}


def _split(assignment: str) -> tuple[str, str]:
    key, separator, text = assignment.partition("=")
    if not separator:
        raise click.UsageError(f"{assignment!r} has no '='; write KEY=VALUE, such as scope.max_depth=3")
    return key.strip(), text.strip()


def _change(
    session: Session, work: Work, changes: Mapping[str, Any], *, anew: bool = False, as_json: bool
) -> None:
    """Change settings of the crawl and print what has changed."""
    from crawlctl.pipeline.config.plain_values import plain_value
    from crawlctl.pipeline.crawl.changes.own_rules import change_now

    changed = change_now(work, changes, anew=anew)
    if changed.was_damaged:
        say(
            "crawlctl: the damaged file may have had rules of `crawlctl forget` that no older snapshot has; "
            "forget such pages again before the next run",
            err=True,
        )
    for sentence in changed.unmatched:
        say(sentence, err=True)
    if as_json:
        values = {
            one.key: {"value": plain_value(one.value), "was": plain_value(one.was)} for one in changed.changes
        }
        moved = {"left": changed.left, "due": changed.due}
        print_json({"snapshot": changed.snapshot, "changed": values, "pages": moved})
    elif changed.changes:
        undo = f"; undo: {session.typed('rollback', str(changed.undo))}" if changed.excluded else ""
        say(changed.line() + undo)
    else:
        say(
            "the crawl has these values already"
            if not changed.is_committed
            else "no value in use has changed"
        )


def settings_table(rows: Sequence[tuple[str, str, str]], room: int | None) -> Iterator[str]:
    """Return the lines of a table of (key, value, source); values longer than `room` columns are cut."""
    from crawlctl.pipeline.terminal.tables import Column, table

    keys, values, sources = zip(*rows, strict=True)
    parts = (
        Column("", keys, is_text=True),
        Column("", values, is_text=True, narrowest=_NARROWEST),
        Column("", sources, is_text=True),
    )
    return table(parts, room)


def _shown(origin: Origin, encode: Callable[[Any], str | int]) -> Any:
    """Return the value of a setting as a plain object, without its secrets."""
    import msgspec

    from crawlctl.pipeline.config.secrets import shown_value

    return shown_value(origin.key, msgspec.to_builtins(origin.value, enc_hook=encode))


def _as_text(plain: Any) -> str:
    """Return a value as it would be written in crawl.yaml."""
    return plain if isinstance(plain, str) else json_of(plain)
