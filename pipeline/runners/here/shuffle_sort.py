"""The shuffle on this machine: sorts lines by key in bounded memory and deals them to tasks."""

from __future__ import annotations

import os
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import JobFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import BinaryIO

# Up to this many bytes Python sorts them faster than sort(1) starts; it needs about six times the space.
IN_MEMORY_BYTES = 4 << 20
SORT_BUFFER = "256M"


def line_key(line: bytes) -> bytes:
    """Return the key of a line as Hadoop Streaming does: the text before the first tab, or the whole line."""
    return line.rstrip(b"\n").partition(b"\t")[0]


def sort_lines(inputs: Sequence[str], output: str, *, by_value: bool, scratch: str) -> None:
    """Sort the lines of the inputs by the bytes of their key, or with `by_value` of the whole line."""
    if sum(Path(name).stat().st_size for name in inputs) <= IN_MEMORY_BYTES:
        _sort_in_memory(inputs, output, by_value=by_value)
    else:
        _sort_outside(inputs, output, by_value=by_value, scratch=scratch)


def _sort_in_memory(inputs: Sequence[str], output: str, *, by_value: bool) -> None:
    lines: list[bytes] = []
    for name in inputs:
        lines += _lines(Path(name).read_bytes())
    lines.sort(key=None if by_value else line_key)
    Path(output).write_bytes(b"".join(line + b"\n" for line in lines))


def _lines(data: bytes) -> list[bytes]:
    """Return the lines of the data; bytes.splitlines() would break them at a carriage return too."""
    return data.removesuffix(b"\n").split(b"\n") if data else []


def _sort_outside(inputs: Sequence[str], output: str, *, by_value: bool, scratch: str) -> None:
    import subprocess

    key = [] if by_value else ["-s", "-t", "\t", "-k", "1,1"]
    command = ["sort", *key, "-S", SORT_BUFFER, "-T", scratch, "-o", output, "--", *inputs]
    try:
        done = subprocess.run(command, env={**os.environ, "LC_ALL": "C"}, stderr=subprocess.PIPE, check=False)
    except FileNotFoundError as err:
        raise JobFailed("the program sort is not on PATH; install it (coreutils) or correct PATH") from err
    if done.returncode:
        reason = " ".join(done.stderr.decode(errors="replace").split()) or f"exit code {done.returncode}"
        raise JobFailed(
            f"the sort between map and reduce failed: {reason}; check the free space of {scratch}"
        )


def deal_groups(sorted_lines: str, target: Callable[[int], str], tasks: int) -> int:
    """Deal the groups of equal key in turn to at most `most` files; return how many files there are.

    Groups are dealt, and not cut into ranges of bytes, because the size of a group may say little about the
    work for its key. Where each shard has one key, dealing gives one key to each task, and all tasks have
    about the same work.
    """
    if tasks == 1:
        Path(sorted_lines).rename(target(0))
        return 1
    files: list[BinaryIO] = []
    with ExitStack() as opened, Path(sorted_lines).open("rb") as lines:
        for number, (_, group) in enumerate(groupby(lines, line_key)):
            if number < tasks:
                files.append(opened.enter_context(Path(target(number)).open("wb")))
            files[number % tasks].writelines(group)
        if not files:
            opened.enter_context(Path(target(0)).open("wb"))
    return max(len(files), 1)
