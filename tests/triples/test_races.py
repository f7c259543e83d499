"""One new bench that is sent several times at once, each on a connection of its own."""

import pytest

from apps.accounts.enums import Role
from apps.triples.actions.triples import start_draft
from apps.triples.models import Triple
from apps.triples.selectors.triples import newest_snapshot
from tests.factories import AT, make_member
from tests.races import at_once, refusals
from tests.triples.factories import make_team

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_key_that_comes_four_times_at_once_starts_one_draft():
    project = make_team()
    bench = {"project": project, "author": make_member(project, Role.ANNOTATOR), "snapshot": newest_snapshot(project)}

    results = at_once(*[lambda: start_draft(**bench, idempotency_key="one", at=AT)] * 4)

    assert refusals(results) == ["This draft has become T-0001."] * 3
    assert [result for result in results if isinstance(result, Triple)] == [Triple.objects.get()]
