"""After something was sent by a form: here is the page to look at, by GET, so that a reload sends nothing again."""

from __future__ import annotations

from django.http import HttpResponseRedirect


class SeeOther(HttpResponseRedirect):
    status_code = 303
