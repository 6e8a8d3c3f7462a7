from __future__ import annotations

import os
from typing import TYPE_CHECKING

from crawlctl.pipeline.processes.shared_slots import SharedSlots

if TYPE_CHECKING:
    from pathlib import Path


def test_no_more_slots_are_taken_than_there_are(tmp_path: Path) -> None:
    one, other = (SharedSlots(str(tmp_path), 3) for _ in range(2))
    assert [one.take(), other.take(), one.take(), other.take(), one.take()] == [
        True,
        True,
        True,
        False,
        False,
    ]
    one.close()
    assert [other.take(), other.take(), other.take()] == [True, True, False]
    other.close()


def test_the_slot_of_a_process_that_has_ended_is_free(tmp_path: Path) -> None:
    if (child := os.fork()) == 0:
        SharedSlots(str(tmp_path), 1).take()
        os._exit(0)
    os.waitpid(child, 0)
    slots = SharedSlots(str(tmp_path), 1)
    assert slots.take()
    slots.close()


def test_without_a_folder_there_are_no_slots(tmp_path: Path) -> None:
    assert not SharedSlots("", 4).take()
    assert not SharedSlots(str(tmp_path / "elsewhere"), 4).take()
