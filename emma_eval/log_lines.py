"""How lines of the log look: one line for a request that is refused, whatever is in its address."""

from __future__ import annotations

import logging
import re

OUR_FAULT = 500
_LINK = re.compile(r"(/kept/)[^/\s]+")  # whoever reads the log could use it for some minutes


class RefusalsInOneLine(logging.Filter):
    """No traceback where a request was refused as it should be: anybody can have any number of those. What is in its
    address makes no line of its own, and a link that opens something is left out of it."""

    def filter(self, record: logging.LogRecord) -> bool:
        status = getattr(record, "status_code", OUR_FAULT)
        is_refusal = status < OUR_FAULT or record.name.startswith("django.security")
        if is_refusal:
            record.exc_info = record.exc_text = record.stack_info = None
        if is_refusal or hasattr(record, "status_code"):
            record.msg, record.args = _LINK.sub(r"\1...", _in_one_line(record.getMessage())), ()
        return True


def _in_one_line(text: str) -> str:
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
