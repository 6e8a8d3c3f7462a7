"""Completions that a shell offers when the user presses TAB: settings, their values, folders, fixed names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import click
    from click.shell_completion import CompletionItem

    Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem[str]]]


def complete_folder(
    _ctx: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Let the shell complete the name of a folder."""
    return [_item(incomplete, "dir")]


def complete_file(
    _ctx: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Let the shell complete the name of a file."""
    return [_item(incomplete, "file")]


def complete_names(names: Iterable[str], *, or_file: bool = False) -> Complete:
    """Return a completion by fixed names; with `or_file`, by files if no name begins with the typed text."""
    known = tuple(names)

    def complete(
        ctx: click.Context, parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        found = [_item(name) for name in known if name.startswith(incomplete)]
        return found or (complete_file(ctx, parameter, incomplete) if or_file else [])

    return complete


def complete_command(
    ctx: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Complete the name of a command of crawlctl."""
    root = ctx.find_root()
    names = root.command.list_commands(root) if hasattr(root.command, "list_commands") else ()
    return [_item(name) for name in names if name.startswith(incomplete)]


def complete_value_of(key: str) -> Complete:
    """Return the completion of the value of a setting, if only certain values are allowed."""

    def complete(
        _ctx: click.Context, _parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        return [_item(value) for value in _values(_types().get(key)) if value.startswith(incomplete)]

    return complete


def complete_setting(
    _ctx: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Complete KEY=VALUE of any setting."""
    return _assignments(_types(), incomplete)


def complete_own_setting(
    _ctx: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Complete KEY=VALUE of a setting that a crawl owns."""
    return _assignments(_own_types(), incomplete)


def complete_own_key(
    _ctx: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Complete the key of a setting that a crawl owns."""
    return [_item(key) for key in _own_types() if key.startswith(incomplete)]


def _assignments(types: dict[str, Any], incomplete: str) -> list[CompletionItem[str]]:
    """Offer the key and its =, then the value if the setting has only certain values."""
    key, equals, text = incomplete.partition("=")
    if equals:
        return [_item(f"{key}={value}") for value in _values(types.get(key)) if value.startswith(text)]
    return [_item(f"{name}=") for name in types if name.startswith(incomplete)]


def _own_types() -> dict[str, Any]:
    from crawlctl.pipeline.config.settings import is_own

    return {key: kind for key, kind in _types().items() if is_own(key)}


def _types() -> dict[str, Any]:
    from crawlctl.pipeline.config.load import setting_types
    from crawlctl.pipeline.config.settings import Config

    return dict(setting_types(Config))


def _item(value: str, kind: str = "plain") -> CompletionItem[str]:
    from click.shell_completion import CompletionItem

    return CompletionItem(value, type=kind)


def _values(kind: Any) -> list[str]:
    """Return all values of a setting that allows only certain values."""
    if kind is bool:
        return ["true", "false"]
    return [value for value in get_args(kind) if isinstance(value, str)]
