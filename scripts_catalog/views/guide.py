"""The Guide: the method, printed from the taxonomy."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import render

from emma_eval.accounts.roles import UserRequest, for_members

from .. import taxonomy


@dataclass(frozen=True)
class Pointed:
    """Where a mismatch of one dimension is tagged: the words, and the tags with their groups."""

    dimension: taxonomy.Dimension
    text: str
    tags: tuple[tuple[taxonomy.Tag, taxonomy.TagGroup], ...]


def _pointed(pointer: taxonomy.Pointer) -> Pointed:
    return Pointed(
        taxonomy.DIMENSION_BY_KEY[pointer.dimension],
        pointer.text,
        tuple((taxonomy.TAG_BY_KEY[key], taxonomy.GROUP_OF_TAG[key]) for key in pointer.tags),
    )


def _in_use(group: taxonomy.TagGroup) -> tuple[taxonomy.TagGroup, list[taxonomy.Tag]]:
    return group, [tag for tag in group.tags if tag.retired_in is None]


@for_members
def guide(request: UserRequest) -> HttpResponse:
    with_label_studio = [_in_use(group) for group in taxonomy.TAG_GROUPS if group.label_studio]
    live_only = [_in_use(group) for group in taxonomy.TAG_GROUPS if not group.label_studio]
    context = {
        "edition": taxonomy.EDITION,
        "dimensions": taxonomy.DIMENSIONS,
        "scale": taxonomy.SCALE,
        "groups": with_label_studio,
        "live_only": live_only,
        "pointers": [_pointed(pointer) for pointer in taxonomy.POINTERS],
    }
    return render(request, "scripts_catalog/guide.html", context)
