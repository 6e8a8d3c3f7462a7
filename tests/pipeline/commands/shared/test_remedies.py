from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.commands.shared.remedies import StoreNamingDisplay, with_store
from crawlctl.pipeline.progress.display import Display, ShownStep

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.tests.pipeline.commands.conftest import Shell

WORDS = ("--store", "my crawl")


@pytest.mark.parametrize(
    ("message", "named"),
    [
        ("type `crawlctl gc`, or wait", "type `crawlctl gc --store 'my crawl'`, or wait"),
        ("`crawlctl run` and `crawlctl hosts`", "`crawlctl run --store 'my crawl'` and `crawlctl hosts {}`"),
        ("`crawlctl show --raw a > FILE`", "`crawlctl show --raw a --store 'my crawl' > FILE`"),
        ("`crawlctl run --store x`, `crawlctl help run`, `crawlctl gc --help`", ""),
        ("it is in use by `crawlctl run`; crawlctl runs `other commands`", ""),
    ],
)
def test_commands_name_the_store_where_they_need_it(message: str, named: str) -> None:
    assert with_store(message, WORDS) == (named.replace("{}", "--store 'my crawl'") or message)
    assert with_store(message, ()) == message


def test_an_error_from_deep_inside_names_the_store_that_was_named(shell: Shell) -> None:
    for store in (("--store", "mine"), ()):
        shell("init", "--partitions", "1", *store)
        shell("inject", "https://a.org/", *store)
        for path in Path(*store[1:] or ("crawl",)).glob("webdb/*/*/data"):
            path.write_bytes(b"damaged")
        remedy = " ".join(("`crawlctl check --repair", *store)) + "` rebuilds"
        assert remedy in shell("dump", "webdb", *store, code=1)
        assert " ".join(("`crawlctl merge", *store)) + "`" in shell("query", "a", *store, code=1)


def test_lines_of_a_display_name_the_store() -> None:
    said: list[object] = []

    class Recording(Display):
        def say(self, text: str) -> None:
            said.append(text)

        @contextmanager
        def step(self, step: ShownStep) -> Iterator[None]:
            said.append(step)
            yield

    display, step = StoreNamingDisplay(Recording(), WORDS), ShownStep("fetch", 1, "pages", Path())
    display.say("type `crawlctl run` then")
    with display.step(step):
        pass
    assert said == ["type `crawlctl run --store 'my crawl'` then", step]
