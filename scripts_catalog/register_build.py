"""Register a build of Emma, change what is said about it, make one the current one."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date

from django.db import IntegrityError, transaction

from emma_eval.accounts import audit
from emma_eval.accounts.models import User

from .models import Build, Site
from .names import build_like, fault_of_build


class BuildExistsError(Exception):
    """A build of this name, or one that sorts or looks the same, is registered."""


class BuildNameError(Exception):
    """No build can have this name; the words say why."""


@dataclass(frozen=True)
class Particulars:
    """What is said about a build, apart from its name."""

    released_on: date | None = None
    note: str = ""
    call_link: str = ""


def register_build(name: str, particulars: Particulars, *, make_current: bool, by: User) -> Build:
    """A new build. The first one becomes current whether asked for or not: forms need a default.

    Raises BuildNameError or BuildExistsError. Two at once take turns at the site's row: no constraint knows of looks.
    """
    if fault := fault_of_build(name):
        raise BuildNameError(fault)
    with transaction.atomic():
        Site.objects.select_for_update(no_key=True).get_or_create(pk=1)
        if build_like(name) is not None:
            raise BuildExistsError
        try:
            with transaction.atomic():
                build = Build.objects.create(name=name, **asdict(particulars))
        except IntegrityError as cause:
            raise BuildExistsError from cause
        audit.record(by, "registered a build", build.name)
        if make_current or Build.objects.current_build() is None:
            make_build_current(build, by)
    return build


def change_build(build: Build, particulars: Particulars, *, by: User) -> bool:
    """Whether anything changed. The name stays: results hold it."""
    with transaction.atomic():
        build = Build.objects.select_for_update(no_key=True).get(pk=build.pk)
        changed = [name for name, value in asdict(particulars).items() if getattr(build, name) != value]
        if changed:
            Build.objects.filter(pk=build.pk).update(**asdict(particulars))
            audit.record(by, "changed a build", build.name, changed=[name.replace("_", " ") for name in changed])
    return bool(changed)


def make_build_current(build: Build, by: User) -> bool:
    """Whether another one was current until now. Two at once take turns at the site's row, and the later one stays."""
    with transaction.atomic():
        Site.objects.select_for_update(no_key=True).get_or_create(pk=1)
        if Build.objects.current_build() == build:
            return False
        Build.objects.filter(is_current=True).update(is_current=False)
        Build.objects.filter(pk=build.pk).update(is_current=True)
        audit.record(by, "made a build current", build.name)
    return True
