"""A model of a disk that loses its power: what was not synced may be there, be torn, or be gone.

`Recorder` notes what a program does to the files below a folder. `after_cut` makes the folder that a power
cut after so many of these steps may leave:

- data of a file that was synced is there; of what was written later a random part is, the rest is cut off or
  zeros;
- a name (created, linked, removed) is durable once its folder was synced; until then each name is in a random
  one of the states it has gone through since. A folder that is lost takes along what is in it, synced or not.

This is harsher than file systems are in practice: ext4, for one, keeps the order of names.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable, Sequence


class Step(msgspec.Struct, frozen=True, array_like=True):
    """Something done to the disk; `path` is below the folder, and `other` the second name of a link.

    `kind` is one of create, write (at the byte `at`), truncate (there), sync_file, sync_folder, link, rename,
    mkdir, unlink, rmdir, or returned: the store told its caller that the file of this name is there for good.
    """

    kind: str
    path: str
    data: bytes = b""
    other: str = ""
    at: int = 0


class Recorder:
    """Notes each step of this process and of its forks below a folder in a log; patches os and pathlib."""

    def __init__(self, root: Path, log: Path) -> None:
        self._root = str(root)
        self._lock = threading.RLock()
        self._open: dict[int, tuple[str, bool]] = {}  # descriptor: its path, and whether it is a folder
        self._places: dict[int, int] = {}  # descriptor: where the next byte is written
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._write = os.write
        self._encoder = msgspec.msgpack.Encoder()

    def start(self) -> None:
        """Patch the calls by which files are written; the process is expected to end before long."""
        os.register_at_fork(after_in_child=self._after_fork)
        for owner, name in (
            *((os, name) for name in ("open", "write", "ftruncate", "fsync", "close", "link")),
            *((Path, name) for name in ("mkdir", "rename", "rmdir", "unlink")),
        ):
            setattr(owner, name, self._noting(getattr(owner, name), getattr(self, f"_after_{name}")))

    def note(self, kind: str, path: str, data: bytes = b"", other: str = "", at: int = 0) -> None:
        step = self._encoder.encode(Step(kind, path, data, other, at))
        self._write(self._log, len(step).to_bytes(4, "big") + step)

    def _after_fork(self) -> None:
        self._lock = threading.RLock()  # another thread may have held it

    def _noting(self, call: Callable[..., Any], after: Callable[..., None]) -> Callable[..., Any]:
        def noted(*args: Any, **options: Any) -> Any:
            # One at a time: a step must stand in the list where it took place.
            with self._lock:
                result = call(*args, **options)
                after(result, *args)
                return result

        return noted

    def _below(self, path: Any) -> str | None:
        name = os.fspath(path) if not isinstance(path, int) else ""
        return name[len(self._root) + 1 :] if f"{name}/".startswith(f"{self._root}/") else None

    def _after_open(self, descriptor: int, path: Any, flags: int, *_: Any) -> None:
        if (name := self._below(path)) is not None:
            self._open[descriptor] = (name, bool(flags & os.O_DIRECTORY))
            self._places[descriptor] = 0
            if flags & os.O_CREAT:
                self.note("create", name)

    def _after_write(self, written: int, descriptor: int, data: bytes) -> None:
        if descriptor in self._open:
            self.note("write", self._open[descriptor][0], bytes(data[:written]), at=self._places[descriptor])
            self._places[descriptor] += written

    def _after_ftruncate(self, _: None, descriptor: int, length: int) -> None:
        if descriptor in self._open:
            self.note("truncate", self._open[descriptor][0], at=length)

    def _after_fsync(self, _: None, descriptor: int) -> None:
        if descriptor in self._open:
            path, is_folder = self._open[descriptor]
            self.note("sync_folder" if is_folder else "sync_file", path)

    def _after_close(self, _: None, descriptor: int) -> None:
        self._open.pop(descriptor, None)

    def _after_link(self, _: None, source: Any, target: Any) -> None:
        if (name := self._below(target)) is not None:
            self.note("link", self._below(source) or "", other=name)

    def _after_rename(self, _: Path, path: Path, target: Any) -> None:
        if (name := self._below(path)) is not None:
            self.note("rename", name, other=self._below(target) or "")

    def _after_mkdir(self, _: None, path: Path, *__: Any) -> None:
        if name := self._below(path):
            self.note("mkdir", name)

    def _after_unlink(self, _: None, path: Path) -> None:
        if (name := self._below(path)) is not None:
            self.note("unlink", name)

    def _after_rmdir(self, _: None, path: Path) -> None:
        if (name := self._below(path)) is not None:
            self.note("rmdir", name)


def read_log(log: Path) -> list[Step]:
    """Return the steps that a recorder has noted, in order."""
    data, steps, start = log.read_bytes(), [], 0
    while start < len(data):
        end = start + 4 + int.from_bytes(data[start : start + 4], "big")
        steps.append(msgspec.msgpack.decode(data[start + 4 : end], type=Step))
        start = end
    return steps


class _File:
    """The content of a file: as it has reached the disk, and as it was written."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.synced = b""

    def write(self, at: int, data: bytes) -> None:
        self.data[at : at + len(data)] = data

    def sync(self) -> None:
        self.synced = bytes(self.data)

    def torn(self, chance: random.Random) -> bytes:
        """Return what may be left: some of what was written since, then what was there before, or zeros."""
        new, old = bytes(self.data), self.synced
        if new == old:
            return old
        pairs = enumerate(zip(new, old, strict=False))
        same = next((at for at, (ours, theirs) in pairs if ours != theirs), min(len(new), len(old)))
        kept = same + round(chance.choice((0, chance.random(), 1)) * (len(new) - same))
        zeros = chance.choice((0, max(0, len(new) - max(kept, len(old)))))
        return new[:kept] + old[kept:] + bytes(zeros)


class _Folder:
    """The names in a folder, each with the states it has had since the last sync, the durable one first."""

    def __init__(self) -> None:
        self.names: dict[str, list[_File | _Folder | None]] = {}

    def now(self, name: str) -> _File | _Folder | None:
        return self.names[name][-1] if name in self.names else None

    def put(self, name: str, content: _File | _Folder | None) -> None:
        self.names.setdefault(name, [None]).append(content)

    def sync(self) -> None:
        self.names = {name: states[-1:] for name, states in self.names.items() if states[-1] is not None}


class Disk:
    """The disk after some steps."""

    def __init__(self, steps: Iterable[Step]) -> None:
        self._root = _Folder()
        for step in steps:
            self._take(step)

    def write_whole(self, folder: Path) -> None:
        """Write what a program sees that looks at the files: all that was done."""
        self._write(self._root, folder, None)

    def write_torn(self, folder: Path, chance: random.Random) -> None:
        """Write what a power cut may leave."""
        self._write(self._root, folder, chance)

    def _take(self, step: Step) -> None:
        folder, name = self._place(step.path)
        content = folder.now(name)
        if step.kind == "create":
            folder.put(name, _File())
        elif step.kind == "mkdir" and content is None:
            folder.put(name, _Folder())
        elif step.kind in ("unlink", "rmdir"):
            folder.put(name, None)
        elif step.kind in ("link", "rename"):
            target, other = self._place(step.other)
            target.put(other, content)
            if step.kind == "rename":
                folder.put(name, None)
        elif step.kind == "sync_folder":
            (content if isinstance(content, _Folder) else self._root).sync()
        elif isinstance(content, _File):
            self._take_data(content, step)

    def _take_data(self, file: _File, step: Step) -> None:
        if step.kind == "write":
            file.write(step.at, step.data)
        elif step.kind == "truncate":
            del file.data[step.at :]
        elif step.kind == "sync_file":
            file.sync()

    def _place(self, path: str) -> tuple[_Folder, str]:
        *parents, name = path.split("/")
        folder = self._root
        for parent in parents:
            below = folder.now(parent)
            assert isinstance(below, _Folder), path
            folder = below
        return folder, name

    def _write(self, folder: _Folder, path: Path, chance: random.Random | None) -> None:
        path.mkdir(exist_ok=True)
        for name, states in folder.names.items():
            content = states[-1] if chance is None else chance.choice(states)
            if isinstance(content, _Folder):
                self._write(content, path / name, chance)
            elif content is not None:
                data = bytes(content.data) if chance is None else content.torn(chance)
                (path / name).write_bytes(data)


def after_cut(steps: Sequence[Step], done: int, folder: Path, chance: random.Random) -> None:
    """Make the folder that a power cut after so many steps may leave."""
    Disk(steps[:done]).write_torn(folder, chance)
