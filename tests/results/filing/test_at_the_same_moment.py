"""Several acts on the results of one call at the same moment: each is done or refused, and none waits in a ring."""

from __future__ import annotations

from dataclasses import replace

import pytest

from results.filing.correct_result import correct_result, filing_of
from results.live_call.begin_call import add_script
from results.models import Call, Result
from results.review.find_disagreement import queue_disagreement
from scripts_catalog import taxonomy
from tests import make
from tests.at_once import at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.data_layer]


def test_a_script_joins_a_call_while_its_results_are_corrected() -> None:
    """The one reaches the results by way of the call, the other the call by way of the results."""
    scripts = [make.script(f"script-{number}") for number in range(6)]
    builds = [make.build(f"2026.{number}") for number in range(2)]
    for number in range(10):
        tester = make.user()
        call = make.call(tester, scripts[0], build=builds[0])
        same = {"call_uuid": call.uuid, "called_at": call.started_at}
        results = [make.result(tester, script, builds[0], browser="Chrome", **same) for script in scripts]
        last = results[-1]
        said = replace(filing_of(last), build=builds[1])
        hidden = make.script(f"hidden-{number}", area=taxonomy.SAFETY)
        answers = at_once(
            lambda: correct_result(tester, last, said, based_on=1),  # noqa: B023
            lambda: add_script(call, hidden),  # noqa: B023
            lambda: queue_disagreement(scripts[0].slug, builds[0].sort_key),
        )
        assert not [answer for answer in answers if isinstance(answer, Exception)]
        assert Call.objects.get(pk=call.pk).build == builds[1]
        told = Result.objects.filter(tester=tester).values_list("build", "browser").distinct()
        assert set(told) == {(builds[1].sort_key, "")}
