"""What a browser calls itself, in words that its owner recognises."""

from __future__ import annotations


def browser_in_words(says: str) -> str:
    """Such as "Firefox on Windows"; the tables of all browsers are read when they are first needed."""
    from ua_parser import parse

    found = parse(says)
    browser = found.user_agent.family if found.user_agent else ""
    system = found.os.family if found.os else ""
    if browser and system:
        return f"{browser} on {system}"
    return browser or system or "A browser that doesn't say its name"
