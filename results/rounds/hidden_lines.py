"""The lines of the audit trail about rounds that somebody may not know of: a round may become Safety's own later."""

from __future__ import annotations

from django.db.models import CharField, Q
from django.db.models.functions import Cast

from emma_eval.accounts.hidden import tells_hidden_lines
from emma_eval.accounts.models import User

from ..models import Round

OF_ROUNDS = ("planned a round", "changed a round", "wanted runs of a script", "closed a round", "opened a round again")


@tells_hidden_lines
def lines_of_hidden_rounds(user: User) -> Q:
    hidden = Round.objects.covered().annotate(target=Cast("pk", CharField(max_length=200))).order_by()
    return Q(action__in=OF_ROUNDS, target__in=hidden.values("target"))
