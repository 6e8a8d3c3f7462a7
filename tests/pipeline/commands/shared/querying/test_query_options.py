"""A query that is spelt plainly is read without click, and as click would read it."""

from __future__ import annotations

import contextlib
from typing import Any

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.commands.search.query import command
from crawlctl.pipeline.commands.shared.querying.query_options import OPTIONS, read_plainly
from crawlctl.pipeline.commands.shared.session import Session

NAMES = [option.name for option in OPTIONS]
PIECES = st.sampled_from(
    [
        *NAMES,
        *(f"{name}={value}" for name in NAMES for value in ("", "1", "date")),
        *(
            "--store",
            "--store=",
            "--store=s3://b/c",
            "--help",
            "--limt",
            "--",
            "-",
            "-h",
            "-v",
            "-n",
            "-3",
            "-漢",
            "-python",
            "+x",
        ),
        *("1", "0", "-1", "10000", "10001", "1_0", " 7", "٣", "9" * 5000, "date", "score", "DATE"),
        *("--set", "--set=partitions=1", "--config=x", "--verbose", "-vim"),
        *("AND", "term1", "event loop", "", "a=b", "--=", "---"),
    ]
)


class Recorder(Session):
    """A session that remembers the store."""

    store_flag: str | None = None

    def flag(self, key: str, value: object, name: str) -> None:
        """Keep the store."""
        if key == "store":
            self.store_flag = None if value is None else str(value)


def as_click_reads(arguments: list[str]) -> tuple[dict[str, Any], str | None]:
    session = Recorder()
    context = command.make_context("query", list(arguments), obj=session)
    return context.params, session.store_flag


@settings(deadline=None)
@given(st.lists(PIECES, max_size=6))
def test_what_is_read_without_click_is_what_click_reads(arguments: list[str]) -> None:
    found = read_plainly(arguments)
    if found is None:
        with contextlib.suppress(click.ClickException, click.exceptions.Exit):
            as_click_reads(arguments)
    else:
        assert ({"words": found.words, **found.options}, found.store) == as_click_reads(arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ["AND", "term1", "term2"],
        ["--limit", "3", "--sort=date", "loop", "-twisted", "--json"],
        ["--store", "s3://bucket/crawl", "--", "--help"],
        ["event loop", "--offset", "20", "--strict", "--explain"],
    ],
)
def test_common_spellings_are_plain(arguments: list[str]) -> None:
    found = read_plainly(arguments)
    assert found is not None
    assert ({"words": found.words, **found.options}, found.store) == as_click_reads(arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["-h"],
        ["loop", "--help"],
        ["loop", "--limit", "0"],
        ["loop", "--sort", "name"],
        ["loop", "--store"],
        ["loop", "--strict=yes"],
        ["loop", "--json", "--urls"],
        ["loop", "--limt", "3"],
        ["loop", "-n", "3"],
        ["loop", "-v"],
        ["loop", "--set", "partitions=1"],
        ["loop", "--config", "x"],
    ],
)
def test_help_faults_and_the_prompt_are_left_to_click(arguments: list[str]) -> None:
    assert read_plainly(arguments) is None
