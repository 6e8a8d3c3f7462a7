"""The goal of `crawlctl run --iterations N`: the round with which it ends, kept until that round is done.

A run that was stopped or killed still has some of its N rounds to run. The journal of the next round records
this in an empty file, whose name has the last round and N (layout.py). Before each commit the record is
copied to the journal of the following round. So the same command, or `crawlctl run` without a number, runs
only the remaining rounds. Another number sets a new goal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.state.layout import goal_name, goal_prefix, said_by_goal

if TYPE_CHECKING:
    from crawlctl.pipeline.store.base import Store


class Goal(NamedTuple):
    """The last round of a run, and how many rounds were asked for."""

    last: int
    asked: int

    def left(self, next_round: int) -> int:
        """Return how many rounds are still to be run."""
        return self.last - next_round + 1


def read_goal(store: Store, next_round: int) -> Goal | None:
    """Return the goal that an earlier run has not reached; None if there is none."""
    said = (said_by_goal(file.name) for file in store.list(goal_prefix(next_round)))
    goals = [Goal(*found) for found in said if found and found[0] >= next_round]
    return max(goals, default=None)


def begin_goal(store: Store, next_round: int, asked: int, *, is_given: bool = True) -> Goal:
    """Return the goal of a run of `asked` rounds that begins now, and record it.

    It is the goal of an interrupted run if that run had the same number of rounds, or if the user gave no
    number.
    """
    before = read_goal(store, next_round)
    if before is not None and (before.asked == asked or not is_given):
        return before
    drop_goal(store, next_round)
    goal = Goal(next_round + asked - 1, asked)
    _keep(store, next_round, goal)
    return goal


def pass_on_goal(store: Store, round_number: int, *, counts: bool = True) -> None:
    """Record the goal for the round after this round, before this round is committed.

    A round that could ask no host does not count (`counts`): the run ends one round later.
    """
    goal = read_goal(store, round_number)
    if goal is not None:
        goal = goal if counts else goal._replace(last=goal.last + 1)
        if goal.last > round_number:
            _keep(store, round_number + 1, goal)


def drop_goal(store: Store, next_round: int) -> None:
    """Forget the goal: another one is set, or there is nothing left to do."""
    store.delete([file.name for file in store.list(goal_prefix(next_round)) if said_by_goal(file.name)])


def _keep(store: Store, next_round: int, goal: Goal) -> None:
    if goal.asked > 1:  # a run of one round is simply run again
        store.create(goal_name(next_round, goal.last, goal.asked), b"")
