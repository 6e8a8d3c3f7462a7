from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from crawlctl.pipeline.state.journal import is_round_open, open_round_files, saved_files
from crawlctl.pipeline.state.run_goal import Goal, begin_goal, drop_goal, pass_on_goal, read_goal
from crawlctl.pipeline.store.local.store import LocalStore

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path)


def test_an_interrupted_run_of_three_rounds_has_two_left(store: LocalStore) -> None:
    assert begin_goal(store, 7, 3) == Goal(9, 3)
    pass_on_goal(store, 7)  # round 7 is committed, then a kill
    assert begin_goal(store, 8, 3).left(8) == 2
    assert begin_goal(store, 8, 1, is_given=False).left(8) == 2
    pass_on_goal(store, 8)
    pass_on_goal(store, 9)
    assert read_goal(store, 10) is None
    assert begin_goal(store, 10, 3) == Goal(12, 3)


def test_another_number_is_a_new_goal(store: LocalStore) -> None:
    begin_goal(store, 7, 3)
    pass_on_goal(store, 7)
    assert begin_goal(store, 8, 5) == Goal(12, 5)
    assert read_goal(store, 8) == Goal(12, 5)


def test_one_round_leaves_no_record(store: LocalStore) -> None:
    assert begin_goal(store, 1, 1, is_given=False) == begin_goal(store, 1, 1) == Goal(1, 1)
    assert list(store.list()) == []


def test_a_goal_is_dropped_when_nothing_is_due(store: LocalStore) -> None:
    begin_goal(store, 1, 3)
    drop_goal(store, 1)
    assert read_goal(store, 1) is None


def test_a_goal_alone_opens_no_round_but_is_kept_by_gc(store: LocalStore) -> None:
    begin_goal(store, 1, 3)
    assert not is_round_open(store, 1)
    assert saved_files(store, 1) == ()
    assert open_round_files(store, 1) == {"rounds/00000001/goal-00000003-3"}


class Runs(RuleBasedStateMachine):
    """Runs that are interrupted at any point: the rounds run for a goal never exceed it."""

    def __init__(self) -> None:
        super().__init__()
        from tempfile import TemporaryDirectory

        self.folder = TemporaryDirectory()
        from pathlib import Path

        self.store = LocalStore(Path(self.folder.name))
        self.next_round = 1
        self.goal: Goal | None = None  # as it should be

    @rule(asked=st.integers(1, 4), is_given=st.booleans(), finished=st.integers(0, 4), idle=st.integers(0, 2))
    def run(self, asked: int, *, is_given: bool, finished: int, idle: int) -> None:
        goal = begin_goal(self.store, self.next_round, asked, is_given=is_given)
        if self.goal is not None and (not is_given or asked == self.goal.asked):
            assert goal == self.goal
        else:
            assert goal == Goal(self.next_round + asked - 1, asked)
        if goal.asked > 1:
            for _ in range(idle):  # rounds that ask no host do not count
                pass_on_goal(self.store, self.next_round, counts=False)
                self.next_round += 1
                goal = goal._replace(last=goal.last + 1)
        for _ in range(min(finished, goal.left(self.next_round))):
            pass_on_goal(self.store, self.next_round)
            self.next_round += 1
        self.goal = goal if goal.asked > 1 and goal.left(self.next_round) > 0 else None
        assert read_goal(self.store, self.next_round) == self.goal

    def teardown(self) -> None:
        self.folder.cleanup()


TestRuns = Runs.TestCase
TestRuns.settings = hypothesis_settings(max_examples=20, stateful_step_count=10, deadline=None)
