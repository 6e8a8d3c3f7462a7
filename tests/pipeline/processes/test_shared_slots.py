from __future__ import annotations

import os
from typing import TYPE_CHECKING

from crawlctl.pipeline.processes.shared_slots import SharedSlots

if TYPE_CHECKING:
    from pathlib import Path


def test_all_together_hold_no_more_slots_than_there_are(tmp_path: Path) -> None:
    one, other = (SharedSlots(str(tmp_path), 3) for _ in range(2))
    assert one.hold(1) and other.hold(1) and one.hold(2)
    assert one.hold(1) and not one.hold(3) and not other.hold(2)
    one.close()
    assert other.hold(3) and not one.hold(1)
    other.close()


def test_what_was_free_is_held_though_more_was_wanted(tmp_path: Path) -> None:
    one, other = (SharedSlots(str(tmp_path), 2) for _ in range(2))
    assert not one.hold(5)
    assert one.hold(2) and not other.hold(1)
    one.close()


def test_the_slot_of_a_process_that_has_ended_is_free(tmp_path: Path) -> None:
    if (child := os.fork()) == 0:
        SharedSlots(str(tmp_path), 1).hold(1)
        os._exit(0)
    os.waitpid(child, 0)
    slots = SharedSlots(str(tmp_path), 1)
    assert slots.hold(1)
    slots.close()


def test_without_a_folder_there_are_no_slots(tmp_path: Path) -> None:
    assert not SharedSlots("", 4).hold(1)
    assert not SharedSlots(str(tmp_path / "elsewhere"), 4).hold(1)
