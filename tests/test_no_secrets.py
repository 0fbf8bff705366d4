"""No secret is in the repository: every tracked file is looked through for what keys of usual kinds look like, and for
words that only chance makes."""

from __future__ import annotations

import math
import re
import secrets
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from emma_eval.accounts.programs.tokens import PREFIX
from emma_eval.webhooks.sign import new_secret

ROOT = Path(__file__).resolve().parent.parent
SHAPES = (
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----\s+[A-Za-z0-9+/=]{16}"),
    re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),  # S3
    re.compile(r"\bgh[pousr]_[A-Za-z0-9]{36}|\bglpat-[\w-]{20}|\bxox[abprs]-[\w-]{10}"),
    re.compile(r"\beyJ[\w-]{16,}\.eyJ[\w-]{16,}\.[\w-]{16,}"),  # a signed token of sign-on
    re.compile(r"\bwhsec_[A-Za-z0-9+/]{30,}={0,2}"),
    re.compile(rf"\b{PREFIX}[\w-]{{43}}\b"),
    re.compile(r"\b(?:postgres(?:ql)?|rediss?|https?|amqp|smtps?)://[^\s:/@{}$<>\"']+:[^\s/@{}$<>\"']{12,}@"),
)
A_WORD = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/_-]{32,}={0,2}(?![\w+/=-])")
LEAST_BITS = 4.4  # a letter of 40 random ones has 4.7 or more, names and paths of ours less than 4.2
DIGESTS = re.compile(r"[0-9a-f]{32,}|sha(256|384|512)-.*")  # what a file or a package must be, and example keys
VENDORED = ("static/vendor/", "requirements/")  # what others wrote; their hashes are recorded


def bits_a_letter(word: str) -> float:
    return -sum(n / len(word) * math.log2(n / len(word)) for n in Counter(word).values())


def looks_random(word: str) -> bool:
    """Small and large letters and digits in no order, and no path of words."""
    kinds = (any(map(str.isupper, word)), any(map(str.islower, word)), sum(map(str.isdigit, word)) >= 2)
    return all(kinds) and not DIGESTS.fullmatch(word) and bits_a_letter(word) >= LEAST_BITS


def suspects(text: str) -> Iterator[str]:
    for shape in SHAPES:
        yield from (found[0] for found in shape.finditer(text))
    yield from (word for word in A_WORD.findall(text) if looks_random(word))


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    paths = [Path(name) for name in listed.split("\0") if name]
    return paths or [path.relative_to(ROOT) for path in ROOT.rglob("*.py") if ".venv" not in path.parts]


def test_no_tracked_file_holds_what_looks_like_a_secret() -> None:
    found = []
    for path in tracked():
        if str(path).startswith(VENDORED) or not (ROOT / path).is_file():
            continue
        text = (ROOT / path).read_bytes().decode("utf-8", errors="ignore")
        if "\0" not in text:
            found += [f"{path}: {word[:12]}..." for word in suspects(text)]
    assert found == []


@pytest.mark.parametrize("kind", ["site", "webhook", "token", "address", "key", "s3"])
def test_what_the_site_and_its_neighbours_use_would_be_found(kind: str) -> None:
    made = {
        "site": lambda: secrets.token_urlsafe(50),
        "webhook": new_secret,
        "token": lambda: PREFIX + secrets.token_urlsafe(32),
        "address": lambda: f"postgres://emma:{secrets.token_urlsafe(24)}@db/emma",
        "key": lambda: f"-----BEGIN PRIVATE KEY-----\n{secrets.token_hex(32)}",
        "s3": lambda: "AKIA" + "".join(secrets.choice("ABCDEFGHIJ234567") for _ in range(16)),
    }[kind]
    assert all(list(suspects(f'SECRET = "{made()}"\n')) for _ in range(50))
