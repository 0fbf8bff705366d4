"""What other ears heard is listened to once more: what is played stays, the figures are made anew."""

from __future__ import annotations

import pytest

from emma_eval.accounts.models import User
from emma_eval.adapters.recordings import Store
from emma_eval.outbox.registry import GiveUpError, TryLaterError
from emma_eval.scoring.turns import EARS, EDITION
from results.models import CallFigures, Recording, Sides
from results.recordings.making.listen_again import listen_again
from results.recordings.making.make_ready import make_ready
from results.recordings.removal.removal_reasons import Reason
from results.recordings.removal.remove_recording import remove_recording
from tests.media import media

from ..sent import Faulty, uploaded

pytestmark = [pytest.mark.django_db]
OLD = {"ears": EARS - 1, "sides": [[[0, 1000]], [[2000, 3000]]], "copied": [0, 0], "floor_db": [-70, -70]}


@pytest.fixture
def heard_by_others(tester: User, store: Store) -> Recording:
    recording = uploaded(tester, store, media("webm"), sides=Sides.TWO)
    make_ready(str(recording.pk), store)
    CallFigures.objects.filter(recording=recording).update(heard=OLD, edition=EDITION - 1, turn_count=1)
    recording.refresh_from_db()
    return recording


def test_it_is_heard_by_todays_ears_and_played_as_before(heard_by_others: Recording, store: Store) -> None:
    listen_again(str(heard_by_others.pk), store)
    figures = CallFigures.objects.get()
    assert (figures.edition, figures.heard["ears"]) == (EDITION, EARS)
    assert figures.heard["sides"] != OLD["sides"]
    again = Recording.objects.get()
    assert (again.key, again.digest, again.ready_at) == (
        heard_by_others.key,
        heard_by_others.digest,
        heard_by_others.ready_at,
    )


def test_it_is_heard_once(heard_by_others: Recording, store: Store) -> None:
    listen_again(str(heard_by_others.pk), store)
    before = CallFigures.objects.get().measured_at
    listen_again(str(heard_by_others.pk), store)
    assert CallFigures.objects.get().measured_at == before


def test_a_store_that_is_down_is_asked_again_later(heard_by_others: Recording, store: Store) -> None:
    with pytest.raises(TryLaterError):
        listen_again(str(heard_by_others.pk), Faulty(store, "fetch"))
    assert CallFigures.objects.get().heard == OLD


def test_a_file_that_is_gone_leaves_the_figures_of_the_older_edition(heard_by_others: Recording, store: Store) -> None:
    store.remove([heard_by_others.key])
    with pytest.raises(GiveUpError):
        listen_again(str(heard_by_others.pk), store)
    figures = CallFigures.objects.get()
    assert (figures.edition, figures.turn_count) == (EDITION - 1, 1)


def test_of_a_removed_one_nothing_is_heard(heard_by_others: Recording, store: Store, tester: User) -> None:
    remove_recording(heard_by_others, tester, Reason.ASKED)
    listen_again(str(heard_by_others.pk), store)
    assert not CallFigures.objects.exists()
