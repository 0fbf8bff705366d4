"""A row of the list: one script run, in the words of its cells."""

from __future__ import annotations

from dataclasses import dataclass

from results.models import ProblemOrder

MOST_PROBLEMS = 3


@dataclass(frozen=True)
class Tagged:
    """A problem of a row. Its place is known where the overall order of the row's problems is."""

    label: str
    is_biggest: bool
    has_place: bool


@dataclass(frozen=True)
class Row:
    """`ratings` go in the order of the dimensions, None is N/A; `marks` say what is special about run and tester."""

    id: int
    day: str
    time: str
    title: str
    is_covered: bool
    marks: tuple[str, ...]
    build: str
    tester: str
    tester_marks: tuple[str, ...]
    ratings: tuple[int | None, ...]
    never_started: bool
    problems: tuple[Tagged, ...]
    problem_order: str
    comment: str

    @property
    def first_problems(self) -> tuple[Tagged, ...]:
        """As many as a row has room for: a line that says more about the others takes the place of one."""
        has_a_line_more = len(self.problems) > MOST_PROBLEMS or self.order_unknown
        return self.problems[: MOST_PROBLEMS - 1 if has_a_line_more else MOST_PROBLEMS]

    @property
    def about_the_others(self) -> str:
        """How many problems are left out and what isn't known of their order, in words; empty if all is said."""
        left_out = len(self.problems) - len(self.first_problems)
        return ", ".join(filter(None, (f"and {left_out} more" if left_out else "", self.order_unknown)))

    @property
    def order_unknown(self) -> str:
        """What isn't known of the order of the problems, in words; empty where all of it is known."""
        if self.problem_order == ProblemOrder.GROUPS and len(self.problems) > 1:
            return "order not known"
        if self.problem_order == ProblemOrder.BIGGEST and len(self.problems) > 2:
            return "order of the others not known"
        return ""
