"""The migration that plans the shares of rounds that are open from before shares were planned."""

from collections.abc import Iterator

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from apps.accounts.enums import Role
from apps.accounts.models import Membership
from apps.judging.actions.rounds import close_round
from apps.judging.actions.seats import claim_seats, release_seats
from apps.judging.enums import SeatState
from apps.judging.models import RoundAnnotator, Seat
from apps.judging.selectors.progress import totals
from tests.factories import AT, lead_of
from tests.judging.factories import give, make_round, own_progress, people_of

BEFORE = [("judging", "0013_no_retired_queries")]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture(autouse=True)
def whole() -> Iterator[None]:
    leaves = MigrationExecutor(connection).loader.graph.leaf_nodes()
    yield
    MigrationExecutor(connection).migrate(leaves)


def upgrade() -> None:
    executor = MigrationExecutor(connection)
    leaves = executor.loader.graph.leaf_nodes()
    executor.migrate(BEFORE)
    MigrationExecutor(connection).migrate(leaves)


def old_round(**plan):
    """A round as it was when nobody's share was planned."""
    round_ = make_round(annotators=3, overlap=1.0, **plan)
    Seat.objects.filter(round=round_).update(meant_for=None)
    RoundAnnotator.objects.filter(round=round_).update(share=None)
    return round_


def judge(round_, person, number):
    for _ in range(number):
        give(claim_seats(round_=round_, annotator=person, n=8, at=AT)[0], person)


def told(round_):
    return [own_progress(round_, person).to_go for person in people_of(round_)]


def test_everybody_can_judge_what_they_are_told_of_a_round_from_before_whoever_is_first():
    round_ = old_round(queries=5, blocks=6)
    people = people_of(round_)
    for person, number in zip(people, [14, 9, 0], strict=True):
        judge(round_, person, number)

    upgrade()

    assert min(promised := told(round_)) > 0
    assert sum(promised) == totals(round_).to_go == 37
    for person in people:
        judge(round_, person, own_progress(round_, person).to_go)
    assert totals(round_).to_go == 0
    assert set(told(round_)) == {0}


def test_what_was_leased_stays_with_its_person_and_what_is_returned_is_still_theirs():
    round_ = old_round(queries=2, blocks=4)
    first, *_ = people_of(round_)
    claim_seats(round_=round_, annotator=first, n=8, at=AT)

    upgrade()

    assert sum(told(round_)) == totals(round_).to_go == 16
    release_seats(round_=round_, annotator=first)
    assert sum(told(round_)) == 16


def test_nobody_is_promised_a_pair_that_only_somebody_who_left_could_judge():
    round_ = old_round(queries=2, blocks=4)
    first, second, third = people_of(round_)
    judge(round_, first, 8)
    Membership.objects.filter(user=third, role=Role.ANNOTATOR).update(ended_at=AT)
    Seat.objects.filter(round=round_, state=SeatState.LEASED).update(state=SeatState.OPEN, annotator=None)

    upgrade()

    assert told(round_)[:2] == [0, 8]
    judge(round_, second, 8)
    assert totals(round_).to_go == 0
    assert list(RoundAnnotator.objects.filter(round=round_).order_by("annotator").values_list("share", flat=True)) == [
        8, 8, 0,
    ]  # fmt: skip


def test_a_closed_round_and_one_whose_shares_are_planned_stay_as_they_are():
    closed, planned = old_round(), make_round(annotators=3, overlap=1.0)
    close_round(round_id=closed.pk, actor=lead_of(closed.project), at=AT)
    before = list(Seat.objects.order_by("pk").values_list("pk", "meant_for"))

    upgrade()

    assert list(Seat.objects.order_by("pk").values_list("pk", "meant_for")) == before
    assert set(RoundAnnotator.objects.filter(round=closed).values_list("share", flat=True)) == {None}
    assert None not in RoundAnnotator.objects.filter(round=planned).values_list("share", flat=True)
