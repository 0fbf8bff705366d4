"""What a program asks of the list of results: the filters, the sort and the places of the Results tab.

There is no form that somebody looks at, so what can't be understood is refused: left out, it would widen the list.
"""

from __future__ import annotations

from django.forms import Form
from django.http import QueryDict

from emma_eval.accounts.models import User
from emma_eval.accounts.programs.asked import faults_of_names, faults_of_size, page_size
from emma_eval.accounts.programs.body import Faults, not_right
from scripts_catalog.forms import areas_for
from scripts_catalog.models import Build, Script

from ..filing.typed import number_in
from ..listing.choices import Choices
from ..listing.filter_form import MOST_TEXT, PICK_ONE, FilterForm
from ..listing.list_results import COLUMN_OF, Asked, read_asked
from ..models import Result
from ..review.blind import SEE_REVIEWS

NO_FILTERS = ("sort", "direction", "after", "before", "page_size")


def read_list_asked(user: User, params: QueryDict) -> tuple[Asked, int]:
    """What is asked, and how many rows a page is to have; refused with every fault at once."""
    said = {name: str(params[name]) for name in params}
    form = FilterForm(said, _choices_named(user, said))
    filters = form.filters()
    faults = faults_of_form(form)
    faults |= _faults_of_the_order(said) | _faults_of_the_words(said)
    faults |= faults_of_size(params) | faults_of_names(params, {*form.fields, *NO_FILTERS})
    if faults:
        raise not_right(faults, at="parameter")
    asked = read_asked(filters, said)
    if asked.notices:
        raise not_right({"after" if "after" in said else "before": ["This is no place in this list."]}, at="parameter")
    return asked, page_size(params)


def faults_of_form(form: Form) -> Faults:
    """What the form of a page says, without the list that its readers are sent to and programs have not."""
    return {name: [_for_programs(str(words)) for words in errors] for name, errors in form.errors.items()}


def _for_programs(words: str) -> str:
    return words.replace(PICK_ONE, "").strip() or "Give one of the values that the document lists."


def _faults_of_the_order(said: dict[str, str]) -> Faults:
    faults: Faults = {}
    if said.get("sort", "date") not in COLUMN_OF:
        faults["sort"] = [f"Sort by one of {', '.join(COLUMN_OF)}."]
    if said.get("direction", "asc") not in {"asc", "desc"}:
        faults["direction"] = ["Say asc or desc."]
    if "after" in said and "before" in said:
        faults["before"] = ["Go on after a place or before one, not both."]
    return faults


def _faults_of_the_words(said: dict[str, str]) -> Faults:
    """What the form of the page lets pass, since nobody can type it there or it is seen at once."""
    faults: Faults = {}
    if len(said.get("q", "")) > MOST_TEXT:
        faults["q"] = [f"Search for at most {MOST_TEXT} characters."]
    if said.get("biggest", "yes") != "yes":
        faults["biggest"] = ["Say yes, or leave it out."]
    elif "biggest" in said and "problem" not in said:
        faults["biggest"] = ["Name the problem that is to be the biggest."]
    return faults


def _choices_named(user: User, said: dict[str, str]) -> Choices:
    """Of all that the list can be narrowed by, what is named: a program picks from no list, so none is read."""
    areas = {area: area for area, _ in areas_for(user)}
    scripts = {slug: (title, area) for slug, title, area in _scripts(user, said.get("script", ""))}
    return Choices(
        scripts={slug: title for slug, (title, _) in scripts.items()},
        area_of=areas | {slug: area for slug, (_, area) in scripts.items()},
        builds=_builds(said.get("build", "")),
        testers=_testers(user, number_in(said.get("tester", ""))),
        sees_reviews=user.has_role(*SEE_REVIEWS),
        sees_safety=True,  # may be left out by everybody
    )


def _scripts(user: User, slug: str) -> list[tuple[str, str, str]]:
    if not slug:
        return []
    written = Script.objects.visible_to(user).filter(slug=slug, latest__isnull=False)
    return list(written.values_list("slug", "latest__title", "area"))


def _builds(name: str) -> list[str]:
    build = Build.objects.named(name)
    return [build.name] if build else []


def _testers(user: User, key: int) -> dict[str, str]:
    """Who filed nothing that may be seen is nobody here, as on the page."""
    if not key or not Result.objects.visible_to(user).filter(tester=key).exists():
        return {}
    return {str(key): ""}
