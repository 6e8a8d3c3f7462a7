"""Session: the flags of one invocation of crawlctl, and the settings that result from them."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.config.load import Loaded
    from crawlctl.pipeline.config.settings import Config
    from crawlctl.pipeline.crawl.work import Work
    from crawlctl.pipeline.store.base import Store

STORE_FLAG = "--store"
COMPLETION_VARIABLE = "_CRAWLCTL_COMPLETE"  # by which the shell asks click to complete a word


class Session:
    """The flags of one invocation, for as long as it runs; the settings are loaded at first use."""

    def __init__(self, path: Path | None = None, settings: tuple[str, ...] = ()) -> None:
        self._path = path
        self._flags = dict(_split_setting(setting) for setting in settings)
        self._loaded: Loaded | None = None

    def flag(self, key: str, value: object, name: str) -> None:
        """Let the flag `name` set a key, if the flag was given."""
        if value is not None:
            self._flags[key] = (str(value), name)
            self._loaded = None

    @property
    def loaded(self) -> Loaded:
        """The configuration with the origin of each value, read once."""
        if self._loaded is None:
            from crawlctl.pipeline.config.load import load_config

            self._loaded = load_config(os.environ, self._flags, self._path)
        return self._loaded

    @property
    def config(self) -> Config:
        """The effective settings."""
        return self.loaded.config

    def work(self) -> Work:
        """Return the store, the settings and a display on standard error, for commands that run steps."""
        from crawlctl.pipeline.crawl.work import Work
        from crawlctl.pipeline.progress.choice import display_for

        return Work(self.store(), self.config, display_for(sys.stderr))

    def store(self) -> Store:
        """Open the store that the settings name."""
        from crawlctl.pipeline.store.open import open_store

        return open_store(self._store_uri())

    def _store_uri(self) -> str:
        if self._loaded is None and self._flags.keys() <= {"store"}:
            given = self._flags.get("store")
            if given is not None:
                return given[0]
            from crawlctl.pipeline.config.locations import only_store

            named = only_store(os.environ, self._path)
            if named is not None:
                return named
        return self.config.store


def _split_setting(setting: str) -> tuple[str, tuple[str, str]]:
    """Return (key, (text, flag)) of a --set KEY=VALUE."""
    key, separator, text = setting.partition("=")
    if not separator:
        import click

        # Show only the beginning: the rest may be a password, if only the = is missing.
        raise click.BadParameter(f"{setting[:20]!r} has no '='; write --set KEY=VALUE", param_hint="--set")
    return key.strip(), (text, "--set")
