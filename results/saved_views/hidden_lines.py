"""The lines of the audit trail about views that somebody may not know of: a round may become Safety's own later."""

from __future__ import annotations

from django.db.models import CharField, Exists, ExpressionWrapper, F, OuterRef, Q, Value
from django.db.models.functions import Cast, Concat

from emma_eval.accounts.hidden import tells_hidden_lines
from emma_eval.accounts.models import User

from ..models import Round, SavedView
from .save_view import OF_VIEWS


@tells_hidden_lines
def lines_of_hidden_views(user: User) -> Q:
    """Those narrowed to such a round; of a script, a line names it. What is removed has no row, and its lines name
    nothing."""
    as_text: CharField[str, str] = CharField(max_length=200)
    covered = Round.objects.covered().annotate(
        query=ExpressionWrapper(OuterRef("query"), as_text),
        said=Concat(Value("round="), Cast("pk", as_text), output_field=as_text),
    )
    hidden = SavedView.objects.filter(Exists(covered.filter(query__contains=F("said")))).order_by()
    return Q(action__in=OF_VIEWS, target__in=hidden.annotate(target=Cast("pk", as_text)).values("target"))
