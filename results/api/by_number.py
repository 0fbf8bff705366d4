"""Lists that are read forwards by the numbers of their rows, the newest first; and things that are open or closed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.http import QueryDict
from drf_spectacular.utils import OpenApiExample, OpenApiParameter
from rest_framework import serializers

from emma_eval.accounts.programs.asked import PAGE_SIZE, asks, faults_of_names, faults_of_size, one_of, page_size
from emma_eval.accounts.programs.body import Body, Faults, Truth, not_right

from ..filing.typed import number_in

OPEN, CLOSED = "open", "closed"
Kept = TypeVar("Kept", bound=Model)
CLOSE_IT = OpenApiExample("Close it", value={"is_open": False}, request_only=True)


def list_parameters(what: str) -> list[OpenApiParameter]:
    """Of a list of such things; `what` names one of them."""
    number = {"type": "integer", "minimum": 1}
    return [asks("after", number, f"The number of the {what} behind which it goes on."), PAGE_SIZE]


def state_parameter() -> OpenApiParameter:
    return asks("state", one_of(OPEN, CLOSED), "Which of them; the open ones if left out.")


def faults_of_state(params: QueryDict) -> Faults:
    return {} if params.get("state", OPEN) in {OPEN, CLOSED} else {"state": [f"Ask for {OPEN} or {CLOSED}."]}


def asks_for_closed(params: QueryDict) -> bool:
    """Once it has no fault."""
    return params.get("state") == CLOSED


@dataclass(frozen=True)
class Place:
    """Where a page of the list begins, behind this number or with the first row, and how many rows it has at most."""

    after: int
    size: int

    def page_of(self, rows: QuerySet[Kept]) -> tuple[list[Kept], str]:
        """The rows of the page, and where the next one begins, as `page_of_items` has it: empty if there is none."""
        behind = rows.filter(pk__lt=self.after) if self.after else rows
        read = list(behind.order_by("-pk")[: self.size + 1])
        shown = read[: self.size]
        return shown, f"after={shown[-1].pk}" if len(read) > len(shown) else ""


def read_place(params: QueryDict, *others: str, faults: Faults | None = None) -> Place:
    """The place that is asked for; refused with every fault at once. `others`: what else may be asked for, and
    `faults` what is wrong with that."""
    found = faults_of_size(params) | faults_of_names(params, {*others, "after", "page_size"}) | (faults or {})
    after = number_in(params.get("after"))
    if "after" in params and not after:
        found.setdefault("after", ["This is no place in this list."])
    if found:
        raise not_right(found, at="parameter")
    return Place(after, page_size(params))


class ForwardPageSerializer(serializers.Serializer[Any]):
    """What pages of such lists have beside their items."""

    next = serializers.URLField(allow_null=True, help_text="Where the list goes on.")
    previous = serializers.URLField(allow_null=True, help_text="Always null: this list is read forwards.")


class StateBody(Body):
    """Whether it is open."""

    is_open = Truth(help_text="true opens it again, false closes it.")
