"""Session: the flags of one invocation of crawlctl, and the settings that result from them."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.config.load import Loaded
    from crawlctl.pipeline.config.settings import Config
    from crawlctl.pipeline.crawl.work import Work
    from crawlctl.pipeline.store.base import Store

STORE_FLAG = "--store"
SET_FLAG = "--set"
COMPLETION_VARIABLE = "_CRAWLCTL_COMPLETE"  # the variable by which a shell asks click to complete a word


class Session:
    """The flags of one invocation, for as long as it runs; the settings are loaded at first use."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._flags: dict[str, tuple[str, str]] = {}
        self._stores: dict[str, Store] = {}  # by URI; each store is opened once
        self.is_verbose = False
        self._forget()

    def _forget(self) -> None:
        """Forget the settings that were loaded: a flag has changed them."""
        self._given: Loaded | None = None
        self._loaded: Loaded | None = None
        self._own_file = ""
        self._changes: dict[str, Any] = {}

    def flag(self, key: str, value: object, name: str) -> None:
        """Let the flag `name` set a key, if the flag was given; several values make a list."""
        if value is not None:
            self._flags[key] = (_as_yaml(value), name)
            self._forget()

    @property
    def given(self) -> Loaded:
        """The settings by defaults, settings file, variables and flags, without the crawl's own settings."""
        if self._given is None:
            from crawlctl.pipeline.config.load import load_config

            self._given = load_config(os.environ, self._flags, self._path)
        return self._given

    def flag_of(self, key: str) -> str | None:
        """Return the value that a flag of this command line gives to a key; None if there is no such flag."""
        given = self._flags.get(key)
        return None if given is None else given[0]

    def set_all(self, settings: tuple[str, ...]) -> None:
        """Take settings of the form KEY=VALUE."""
        for setting in settings:
            key, text = _split_setting(setting)
            self.flag(key, text, SET_FLAG)

    def read_from(self, path: str) -> None:
        """Take the settings file from here."""
        from pathlib import Path

        self._path = Path(path)
        self._forget()

    def with_store(self, uri: str) -> Session:
        """Return a session with the same flags for another store."""
        other = Session()
        other._path, other._flags, other.is_verbose = self._path, dict(self._flags), self.is_verbose
        other.flag("store", uri, STORE_FLAG)
        return other

    def be_verbose(self) -> None:
        """Show the log messages of libraries, and tracebacks of failed tasks."""
        import logging

        logging.basicConfig(level=logging.DEBUG)
        self.is_verbose = True

    @property
    def loaded(self) -> Loaded:
        """The settings with the origin of each value; the crawl's own settings are among them.

        They are read once. If a settings file or variable differs from the crawl's own settings, a line on
        standard error says so.
        """
        if self._loaded is None:
            self._loaded = self._with_own_settings()
        return self._loaded

    @property
    def config(self) -> Config:
        """The effective settings."""
        return self.loaded.config

    @property
    def changes(self) -> dict[str, Any]:
        """The values of flags that differ from the crawl's own settings, as plain values by key."""
        _ = self.loaded
        return self._changes

    def work(self, *, with_own: bool = True) -> Work:
        """Return the store, the settings and a display on standard error, for commands that run steps.

        Commands that do not need the crawl's own settings do not read them, so they work even if these are
        damaged.
        """
        from crawlctl.pipeline.commands.shared.remedies import StoreNamingDisplay
        from crawlctl.pipeline.crawl.work import Work
        from crawlctl.pipeline.progress.choice import display_for

        config = self.config if with_own else self.given.config
        display = StoreNamingDisplay(display_for(sys.stderr), self.store_words)
        return Work(self.store(), config, display, self._own_file if with_own else None)

    def work_despite_damage(self) -> Work:
        """Return the work with the crawl's own settings, and without them if they cannot be read."""
        from crawlctl.pipeline.errors import CorruptFile, MissingFile

        try:
            return self.work()
        except (CorruptFile, MissingFile):
            return self.work(with_own=False)

    def store(self) -> Store:
        """Open the store that the settings name."""
        from crawlctl.pipeline.store.open import open_store

        uri = self._store_uri()
        if uri not in self._stores:
            self._stores[uri] = open_store(uri)
        return self._stores[uri]

    @property
    def store_words(self) -> list[str]:
        """The words of a command line that name the store; none if the settings or the default name it."""
        given = self._flags.get("store")
        return [STORE_FLAG, given[0]] if given is not None else []

    def typed(self, *words: str) -> str:
        """Return another command for the user to type, for the same store."""
        import shlex

        return shlex.join(["crawlctl", *words, *self.store_words])

    def _store_uri(self) -> str:
        if self._given is None and self._flags.keys() <= {"store"}:
            given = self._flags.get("store")
            if given is not None:
                return given[0]
            from crawlctl.pipeline.config.locations import only_store

            named = only_store(os.environ, self._path)
            if named is not None:
                return named
        return self.given.config.store

    def _with_own_settings(self) -> Loaded:
        """Return the settings of all layers; without the layer of the crawl, if it has no own settings."""
        from crawlctl.pipeline.errors import NotACrawl
        from crawlctl.pipeline.state.own_settings import read_own_settings, settings_entry
        from crawlctl.pipeline.state.snapshots import load_current

        given, store = self.given, self.store()
        try:
            snapshot = load_current(store)
        except NotACrawl:
            return given
        entry, own = settings_entry(snapshot), read_own_settings(store, snapshot)
        if entry is None or own is None:
            return given
        from crawlctl.pipeline.config.own_layer import changed_by_flags, difference_line, layered

        loaded, differences = layered(given, own, self._flags.keys())
        self._own_file, self._changes = entry.name, changed_by_flags(loaded, own, self._flags.keys())
        if differences:
            from crawlctl.pipeline.commands.shared.output import say

            say(difference_line(differences, self.store_words), err=True)
        return loaded


def _as_yaml(value: object) -> str:
    """Return the value of a flag as a text from which the settings read the same value."""
    if not isinstance(value, tuple):
        return str(value)
    import json

    return json.dumps(value, ensure_ascii=False)  # JSON is YAML


def _split_setting(setting: str) -> tuple[str, str]:
    """Return key and text of a --set KEY=VALUE."""
    key, separator, text = setting.partition("=")
    if not separator:
        import click

        # Show only the beginning: the rest may be a password, if only the = is missing.
        raise click.BadParameter(f"{setting[:20]!r} has no '='; write --set KEY=VALUE", param_hint=SET_FLAG)
    return key.strip(), text
