"""Plan a round under a UUID that its planner made: sent twice, or twice at once, it is one round."""

from __future__ import annotations

from uuid import UUID

from django.db import IntegrityError, transaction

from emma_eval.accounts.models import User

from ..models import Round, Wanted
from .plan_round import Plan, plan_round


class PlannedOtherwiseError(Exception):
    """Something else stands under this UUID. Nothing was changed."""

    def __init__(self, there: Round) -> None:
        super().__init__(f"planned as {there}")
        self.round = there


def plan_once(by: User, uuid: UUID, plan: Plan) -> tuple[Round, bool]:
    """The round of this plan, and whether it is planned only now. What `by` may not know of is not compared."""
    there = planned_under(by, uuid)
    if there is None:
        try:
            with transaction.atomic():
                made = plan_round(by, plan)
                made.uuid = uuid
                made.save(update_fields=["uuid"])
            return made, True
        except IntegrityError:
            there = Round.objects.select_related("build").get(begun_by=by, uuid=uuid)
    if _plan_of(by, there) != plan:
        raise PlannedOtherwiseError(there)
    return there, False


def planned_under(by: User, uuid: UUID) -> Round | None:
    return Round.objects.select_related("build").filter(begun_by=by, uuid=uuid).first()


def _plan_of(by: User, found: Round) -> Plan:
    wanted = Wanted.objects.visible_to(by).filter(round=found).values_list("script__slug", "runs")
    return Plan(found.name, found.build, found.due_on, found.note, dict(wanted))
