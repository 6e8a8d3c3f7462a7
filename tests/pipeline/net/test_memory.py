from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.net.memory import BodyBudget

LIMIT = 100


class Body:
    """Wants its pieces one after the other, and waits where it is told to."""

    def __init__(self, budget: BodyBudget, pieces: list[int]) -> None:
        self.budget = budget
        self.pieces = pieces
        self.held = 0
        self.is_paused = False

    def receive(self) -> None:
        if self.pieces and not self.is_paused:
            if self.budget.take(self.pieces[0], self):
                self.held += self.pieces.pop(0)
            else:
                self.is_paused = True

    def resume(self) -> None:
        self.is_paused = False
        self.receive()

    def end(self) -> None:
        self.budget.release(self.held, self)
        self.held = 0
        self.pieces = []
        self.is_paused = False


def test_within_the_budget_nobody_waits() -> None:
    budget = BodyBudget(LIMIT)
    bodies = [Body(budget, [50]), Body(budget, [50])]
    for body in bodies:
        body.receive()
    assert [body.held for body in bodies] == [50, 50]


def test_beyond_it_one_goes_on_and_the_others_wait_for_it() -> None:
    budget = BodyBudget(LIMIT)
    big, late = Body(budget, [60, 60, 60]), Body(budget, [60])
    for body in (big, big, late, big):
        body.receive()
    assert (big.held, late.held, late.is_paused) == (180, 0, True)
    big.end()
    assert (budget.held, late.held) == (60, 60)


def test_one_that_gives_up_while_it_waits_is_forgotten() -> None:
    budget = BodyBudget(LIMIT)
    first, second = Body(budget, [150]), Body(budget, [60])
    first.receive()
    second.receive()
    second.end()
    first.end()
    assert (budget.held, second.held) == (0, 0)


@given(
    sizes=st.lists(st.lists(st.integers(0, 40), max_size=8), min_size=1, max_size=8),
    turns=st.lists(st.integers(0, 7), max_size=60),
    given_up=st.sets(st.integers(0, 7)),
)
def test_every_body_comes_through_and_the_budget_is_kept(
    sizes: list[list[int]], turns: list[int], given_up: set[int]
) -> None:
    budget = BodyBudget(LIMIT)
    bodies = [Body(budget, list(pieces)) for pieces in sizes]
    longest = max(sum(pieces) for pieces in sizes)
    for turn in turns:
        bodies[turn % len(bodies)].receive()
        assert budget.held == sum(body.held for body in bodies) <= LIMIT + longest
    for number in given_up & set(range(len(bodies))):
        bodies[number].end()
    while missing := sum(len(body.pieces) for body in bodies):
        for body in bodies:
            body.receive()
            if not body.pieces:
                body.end()
        assert sum(len(body.pieces) for body in bodies) < missing
    for body in bodies:
        body.end()
    assert budget.held == 0
