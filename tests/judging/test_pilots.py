"""When the rest of a round opens after its pilot: by agreement, by a lead with a reason, or not at all."""

import pytest
from django.urls import reverse

from apps.audit.models import Event
from apps.common.errors import Refusal
from apps.judging.actions.rounds import close_round, open_after_pilot
from apps.judging.actions.seats import claim_seats
from apps.judging.models import PilotDecision, Seat
from apps.judging.selectors.plans import pilot_queries, undecided_pilot_queries
from apps.judging.selectors.rounds import pilot_progress
from tests.factories import AT, lead_of
from tests.judging.factories import give, judge_all, make_round, people_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def round_():
    return make_round(queries=4, blocks=3, annotators=2, overlap=0.0, pilot=2, pilot_bar=0.7)


def by_place(seat):
    return seat.entry_id % 4


def open_rest(round_, reason="The guideline was read together."):
    return open_after_pilot(round_id=round_.pk, actor=lead_of(round_.project), reason=reason, at=AT)


def test_everybody_judges_the_pilot_and_nothing_else_before_it_is_decided(round_):
    mara, _ = people_of(round_)

    mine = judge_all(round_, mara, by_place)

    assert {judgement.seat.query_id for judgement in mine} == set(pilot_queries(round_))
    assert len(mine) == 6
    assert Seat.objects.filter(round=round_, query__in=pilot_queries(round_)).count() == 12
    assert Seat.objects.filter(round=round_).count() == 12 + 6


def test_agreement_opens_the_rest_by_itself(round_):
    mara, sef = people_of(round_)
    judge_all(round_, mara, by_place)
    assert not PilotDecision.objects.exists()

    judge_all(round_, sef, by_place)

    decision = PilotDecision.objects.get(round=round_)
    assert (decision.alpha, decision.decided_by) == (pytest.approx(1.0), None)
    assert Seat.objects.filter(round=round_, state="done").count() == 18
    assert Event.objects.get(action="round.pilot_passed").after == {"alpha": 1.0, "bar": 0.7}


def test_low_agreement_blocks_the_rest_until_a_grade_changes(round_):
    mara, sef = people_of(round_)
    mine, theirs = judge_all(round_, mara, by_place), judge_all(round_, sef, lambda seat: 3 - by_place(seat))
    assert not PilotDecision.objects.exists()
    assert claim_seats(round_=round_, annotator=mara, n=5, at=AT) == []

    first = {judgement.entry_id: judgement.grade for judgement in mine}
    for judgement in theirs:
        give(judgement.seat, sef, first[judgement.entry_id])

    assert PilotDecision.objects.get(round=round_).alpha >= 0.7
    assert claim_seats(round_=round_, annotator=mara, n=5, at=AT) != []


def test_a_lead_opens_the_rest_for_a_reason(round_):
    with pytest.raises(Refusal, match="needs a reason"):
        open_rest(round_, "  ")

    decision = open_rest(round_)

    assert (decision.alpha, decision.decided_by) == (None, lead_of(round_.project))
    assert undecided_pilot_queries(round_) is None
    assert Event.objects.get(action="round.pilot_opened").after["reason"] == "The guideline was read together."
    with pytest.raises(Refusal, match="This round is not waiting for a pilot"):
        open_rest(round_)


def test_a_closed_round_and_one_without_a_pilot_have_nothing_to_open(round_):
    close_round(round_id=round_.pk, actor=lead_of(round_.project), at=AT)

    with pytest.raises(Refusal, match="closed"):
        open_rest(round_)
    with pytest.raises(Refusal, match="not waiting for a pilot"):
        open_rest(make_round())


def test_a_grade_for_a_pair_outside_the_pilot_is_refused(round_):
    mara, _ = people_of(round_)
    behind = Seat.objects.filter(round=round_).exclude(query__in=pilot_queries(round_)).first()

    with pytest.raises(Refusal) as refusal:
        give(behind, mara)

    assert refusal.value.code == "seat_not_open"


def test_undefined_agreement_opens_nothing(round_):
    for person in people_of(round_):
        judge_all(round_, person, lambda seat: 1)

    found = pilot_progress(round_)
    assert (found.alpha, found.is_judged, found.is_waiting) == (None, True, True)


def test_the_page_of_a_round_shows_the_pilot_and_takes_the_reason(client, round_):
    lead = lead_of(round_.project)
    client.force_login(lead)
    page = reverse("judging:round", args=[round_.project.slug, round_.pk])
    address = reverse("judging:open-the-rest", args=[round_.project.slug, round_.pk])

    assert "Only the pilot is assigned so far" in client.get(page).content.decode()
    assert "needs a reason" in client.post(address, {"reason": ""}, follow=True).content.decode()
    client.post(address, {"reason": "Enough."})

    assert PilotDecision.objects.get().decided_by == lead
    assert "Enough." in client.get(page).content.decode()
