"""Two leads take the same edition at once, on real connections: it is taken once, and nothing is doubled."""

import pytest

from apps.audit.models import Event
from apps.corpus.models import Snapshot
from apps.editions.actions.taking import take_imported
from apps.editions.execution.taking import TakeOrder
from apps.judging.enums import RoundKind
from apps.judging.models import Round
from tests.editions.stories import LATER, make_story
from tests.factories import lead_of
from tests.races import overlapping, refusals

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]


def assert_taken_once() -> None:
    assert Event.objects.filter(action="edition.taken").count() == 1
    assert Round.objects.filter(kind=RoundKind.JUDGING).count() == 2
    assert Round.objects.filter(kind=RoundKind.PROPAGATED).count() == 1


def test_the_edition_of_a_snapshot_is_taken_once():
    story = make_story()
    snapshot = story.freeze_autumn()

    results = overlapping(lambda: story.take_frozen(snapshot), lambda: story.take_frozen(snapshot))

    assert refusals(results) == ["This edition has been taken already. Its page shows the round and what came along."]
    assert_taken_once()


def test_the_edition_of_an_import_is_taken_once():
    story = make_story()
    item = story.begin_import()

    def take():
        return take_imported(import_id=item.pk, order=TakeOrder({}), actor=lead_of(story.project), at=LATER)

    results = overlapping(take, take)

    assert len(refusals(results)) == 1
    assert Snapshot.objects.count() == 2
    assert_taken_once()
