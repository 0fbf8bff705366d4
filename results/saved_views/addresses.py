"""Which addresses can be kept: pages of our own that are made of their filters, with the keys that these have.

An address comes from a form, so none of it is trusted: it must name one of `PAGES`, it is written anew from what was
understood, and every key that the page doesn't have is left out. What is kept is read in the same way each time it is
shown, so that no row, however it came about, leads anywhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, urlencode

from django.urls import Resolver404, resolve, reverse

from emma_eval.accounts.models import User
from emma_eval.accounts.roles import Role
from scripts_catalog import taxonomy
from scripts_catalog.models import Script

from ..filing.typed import number_in
from ..listing.filters import NAME_OF
from ..models import Round

MOST_QUERY = 2_000
MOST_PATH = 200
OF_DASHBOARDS = frozenset({Role.MANAGER, Role.EVAL_TEAM, Role.EVAL_LEAD})
SORT = frozenset({"sort", "direction"})


@dataclass(frozen=True)
class Page:
    """A page that can be kept: what it is called, who may open it, the keys of its address, whether it is mailed."""

    label: str
    roles: frozenset[Role]
    keys: frozenset[str]
    can_be_mailed: bool = False


OF_FIGURES = frozenset({"build", "area", "tags", "period", "from", "to", "returning", "over"}) | SORT
OF_COMPARISONS = frozenset({"build", "with", "unchanged", "area", "tags", "returning"})
PAGES: Mapping[str, Page] = {
    "results": Page("Results", frozenset(Role), frozenset(NAME_OF.values()) | SORT),
    "dashboard": Page("Dashboard", OF_DASHBOARDS, OF_FIGURES, can_be_mailed=True),
    "script_dashboard": Page("Dashboard of a script", OF_DASHBOARDS, OF_FIGURES - {"area"}, can_be_mailed=True),
    "compare": Page("Two builds compared", OF_DASHBOARDS, OF_COMPARISONS),
    "agreement": Page("Agreement", OF_DASHBOARDS, frozenset({"build"})),
    "coverage": Page("Coverage", OF_DASHBOARDS, frozenset({"build", "area", "round"})),
}


@dataclass(frozen=True)
class Address:
    """An address of one of `PAGES`, as it was understood."""

    name: str
    path: str
    params: tuple[tuple[str, str], ...]
    script: str

    @property
    def page(self) -> Page:
        return PAGES[self.name]

    @property
    def query(self) -> str:
        return urlencode(self.params)

    @property
    def url(self) -> str:
        return f"{self.path}?{self.query}" if self.params else self.path

    def names_safety(self) -> bool:
        """Whether it is about something that only the trained may know of."""
        return self.names_any_of(read_covered())

    def names_any_of(self, covered: Covered) -> bool:
        said = dict(self.params)
        slugs = {self.script, said.get("script", "")}
        is_about_a_round = number_in(said.get("round")) in covered.rounds
        return said.get("area") == taxonomy.SAFETY or is_about_a_round or not slugs.isdisjoint(covered.slugs)


@dataclass(frozen=True)
class Covered:
    """What an address can name and only the trained may know of: scripts, and rounds of nothing else."""

    slugs: frozenset[str]
    rounds: frozenset[int]


def read_covered() -> Covered:
    slugs = Script.objects.filter(area=taxonomy.SAFETY).values_list("slug", flat=True)
    return Covered(frozenset(slugs), frozenset(Round.objects.covered().values_list("pk", flat=True)))


def read_address(path: str, query: str) -> Address | None:
    """The address, written anew; None where it is no page that can be kept."""
    if len(path) > MOST_PATH or len(query) > MOST_QUERY:
        return None
    try:
        found = resolve(path)
    except Resolver404:
        return None
    name = found.url_name or ""
    if name not in PAGES:
        return None
    script = str(found.kwargs.get("slug", ""))
    return Address(name, reverse(name, kwargs=found.kwargs), _params(PAGES[name], query), script)


def known_part(user: User, address: Address) -> Address | None:
    """The address without what this person may not know of, which is told apart from nothing that is not there.

    None where the page itself is about such a thing.
    """
    scripts = Script.objects.visible_to(user)
    if not user.has_role(*address.page.roles) or (address.script and not scripts.filter(slug=address.script).exists()):
        return None
    known: dict[str, Callable[[str], bool]] = {
        "script": lambda slug: scripts.filter(slug=slug).exists(),
        "area": lambda area: area in taxonomy.AREA_NAMES and (user.is_trained or area != taxonomy.SAFETY),
        "round": lambda key: Round.objects.visible_to(user).filter(pk=number_in(key)).exists(),
    }
    params = tuple((key, value) for key, value in address.params if key not in known or known[key](value))
    return replace(address, params=params)


def may_open(user: User, address: Address, covered: Covered) -> bool:
    """Whether this person may open the page, and may know of what the address names."""
    return user.has_role(*address.page.roles) and (user.is_trained or not address.names_any_of(covered))


def _params(page: Page, query: str) -> tuple[tuple[str, str], ...]:
    """The keys that the page has, each once, in the order of their names."""
    try:
        said = dict(parse_qsl(query, max_num_fields=100))
    except ValueError:
        return ()
    return tuple(sorted((key, value) for key, value in said.items() if key in page.keys and "\x00" not in value))
