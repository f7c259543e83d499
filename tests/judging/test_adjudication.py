"""Adjudication: only what needs it, only by somebody who has no part in it, always with a reason."""

import pytest
from django.db import DatabaseError, connection, transaction
from django.urls import reverse

from apps.accounts.actions import projects
from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.common.errors import Refusal
from apps.judging import rules
from apps.judging.actions.rounds import close_round
from apps.judging.actions.seats import claim_seats
from apps.judging.core.resolution import PairState, Resolution
from apps.judging.models import Adjudication
from apps.judging.selectors.deciding import adjudicable, deciders_of_left, deciders_of_pair, left_to_another_lead
from apps.judging.selectors.pairs import pair_of, resolved_grades
from apps.judging.selectors.rejudging import KnownGrade
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import decide, entries_of, give, judge_all, judge_pairs, make_pool, make_round, people_of
from tests.module_rows import rows_of_module

pytestmark = pytest.mark.django_db


@rows_of_module
def round_():
    """Three pairs, judged twice: apart by 3, apart by 1, and agreed."""
    round_ = make_round(queries=1, blocks=3, overlap=1.0)
    judge_pairs(round_, (0, 1, 2), (3, 2, 2))
    return round_


def make_lead(round_, person):
    roles = [Role.LEAD, Role.ANNOTATOR]
    projects.set_roles(project=round_.project, user=person, roles=roles, actor=lead_of(round_.project), at=AT)


def test_who_judged_a_pair_under_no_name_can_decide_it(round_):
    mara = people_of(round_)[0]
    far = entries_of(round_)[0]
    chief = lead_of(round_.project)

    assert deciders_of_pair(round_, far.pk) == ([chief.name], 0)

    make_lead(round_, mara)
    assert deciders_of_pair(round_, far.pk) == ([chief.name], 0)

    projects.set_roles(project=round_.project, user=chief, roles=[], actor=mara, at=AT)
    assert deciders_of_pair(round_, far.pk) == ([], 1)

    newcomer = make_member(round_.project, Role.LEAD)
    assert deciders_of_pair(round_, far.pk) == ([newcomer.name], 0)


def test_of_the_pairs_that_a_lead_left_it_is_told_how_many_nobody_can_decide(round_):
    mara = people_of(round_)[0]
    make_lead(round_, mara)
    chief = lead_of(round_.project)
    close_round(round_id=round_.pk, actor=chief, at=AT)

    assert deciders_of_left(round_, mara) == ([chief.name], 0)

    projects.set_roles(project=round_.project, user=chief, roles=[], actor=mara, at=AT)
    assert deciders_of_left(round_, mara) == ([], 2)


@pytest.mark.parametrize(
    ("names", "pairs", "stuck", "words"),
    [
        (["Petra"], 1, 0, "Ask Petra."),
        (["Petra", "Ola", "Jun"], 3, 0, "Ask Petra, Ola or Jun."),
        ([], 1, 1, "Every lead of this project judged it: invite a lead"),
        ([], 3, 3, "Every lead of this project judged all of them: invite a lead"),
        (["Petra"], 3, 2, "Ask Petra. Every lead of this project judged 2 of them: invite a lead"),
    ],
)
def test_the_remedy_is_one_that_helps(names, pairs, stuck, words):
    assert rules.who_decides(names, pairs=pairs, stuck=stuck).startswith(words)


def test_pairs_wait_with_the_lowest_agreement_first(round_):
    far, near, _ = entries_of(round_)

    assert [p.entry_id for p in adjudicable(round_, lead_of(round_.project))] == [far.pk, near.pk]


def test_a_pair_that_nobody_was_to_judge_is_refused_in_words():
    """It met the round as a check, which has no seat of the first pass."""
    project = make_project()
    pool = make_pool(project, queries=1, blocks=2)
    check = pool.entries.order_by("pk").first()
    known = [KnownGrade(check.query_id, check.version_id, 2, "named")]
    round_ = make_round(project, pool=pool, overlap=0.0, known=known)

    with pytest.raises(Refusal, match="Nobody has judged this pair"):
        decide(round_, check, 1)


def test_a_pair_that_nobody_got_to_before_the_end_is_refused_in_words(client):
    round_ = make_round(queries=1, blocks=1)
    close_round(round_id=round_.pk, actor=lead_of(round_.project), at=AT)
    client.force_login(lead_of(round_.project))
    url = reverse("judging:adjudicate-pair", args=[round_.project.slug, round_.pk, entries_of(round_)[0].pk])

    page = client.get(url)

    assert page.status_code == 409
    assert "Nobody has judged this pair" in page.content.decode()


def test_a_decision_settles_the_pair_and_is_on_record(round_):
    far = entries_of(round_)[0]

    decision = decide(round_, far, grade=1)

    resolved = pair_of(round_, far).resolved
    assert resolved == (PairState.ADJUDICATED, Resolution.ADJUDICATED, 1)
    event = Event.objects.get(action="pair.adjudicated", object_id=str(decision.pk))
    said = {"grade": 1, "reason": "The block names no cipher.", "error_type": "slip", "decided_by": "lead"}
    assert event.after == said
    assert [p.entry_id for p in adjudicable(round_, lead_of(round_.project))] == [entries_of(round_)[1].pk]


def test_a_pair_that_cannot_be_judged_is_left_out_of_the_grades(round_):
    far, near, agreed = entries_of(round_)

    decide(round_, far, grade=None)
    decide(round_, near, grade=2)

    found = {pair.entry_id: (pair.grade, pair.resolution) for pair in resolved_grades(round_)}
    assert found == {near.pk: (2, Resolution.ADJUDICATED), agreed.pk: (2, Resolution.UNANIMOUS)}


def test_a_pair_whose_judges_agree_is_not_adjudicated(round_):
    with pytest.raises(Refusal, match="agree"):
        decide(round_, entries_of(round_)[2], 1)


def test_a_pair_somebody_still_judges_is_not_adjudicated():
    round_ = make_round(queries=1, blocks=1, overlap=1.0)
    mara = people_of(round_)[0]
    give(claim_seats(round_=round_, annotator=mara, n=1, at=AT)[0], mara, 0)

    with pytest.raises(Refusal, match="Not every judge"):
        decide(round_, entries_of(round_)[0], 1)


def test_a_lead_who_judged_the_pair_does_not_decide_it(round_):
    mara = people_of(round_)[0]
    projects.set_roles(
        project=round_.project, user=mara, roles=[Role.LEAD, Role.ANNOTATOR], actor=lead_of(round_.project), at=AT
    )

    assert adjudicable(round_, mara) == []
    with pytest.raises(Refusal, match="You judged this pair"):
        decide(round_, entries_of(round_)[0], 1, person=mara)


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"reason": "  "}, "reason_missing"),
        ({"error_type": "weather"}, "error_type_missing"),
        ({"grade": 7}, "not_an_answer"),
    ],
)
def test_a_decision_needs_a_reason_an_error_type_and_a_grade_of_the_scale(round_, wrong, code):
    with pytest.raises(Refusal) as refusal:
        decide(round_, entries_of(round_)[0], **{"grade": 1, **wrong})

    assert refusal.value.code == code
    assert not Adjudication.objects.exists()


def test_a_decision_taken_again_supersedes(round_):
    far = entries_of(round_)[0]
    first = decide(round_, far, grade=1)
    second = decide(round_, far, person=make_member(round_.project, Role.LEAD))

    assert second.supersedes == first
    assert pair_of(round_, far).resolved.grade == 2


def test_a_judge_cannot_change_a_grade_after_the_decision(round_):
    far = entries_of(round_)[0]
    mara = people_of(round_)[0]
    decide(round_, far, 1)
    seat = round_.seats.get(entry=far, annotator=mara)

    with pytest.raises(Refusal, match="decided already"):
        give(seat, mara, 2)


def test_judges_who_all_could_not_judge_agree_and_still_need_a_lead():
    round_ = make_round(make_project(), queries=1, blocks=1, overlap=1.0)
    for person in people_of(round_):
        judge_all(round_, person, lambda seat: None)

    pair = adjudicable(round_, lead_of(round_.project))[0]

    assert pair.resolved == (PairState.AGREED, Resolution.UNRESOLVED, None)
    decide(round_, entries_of(round_)[0], grade=0, error_type="unreadable")


def test_two_of_three_settle_a_pair_without_a_lead():
    round_ = make_round(queries=1, blocks=1, annotators=3, overlap=1.0, judges=3)
    for person, grade in zip(people_of(round_), (1, 1, 3), strict=True):
        judge_all(round_, person, lambda seat, g=grade: g)

    assert adjudicable(round_, lead_of(round_.project)) == []
    assert [(p.grade, p.resolution) for p in resolved_grades(round_)] == [(1, Resolution.MAJORITY)]


def test_closing_a_round_lets_pairs_resolve_on_what_they_have():
    round_ = make_round(queries=1, blocks=1, overlap=1.0)
    mara = people_of(round_)[0]
    judge_all(round_, mara)
    assert [p.state for p in resolved_grades(round_)] == [PairState.PARTLY]

    closed = close_round(round_id=round_.pk, actor=lead_of(round_.project), at=AT)

    assert [(p.grade, p.resolution) for p in resolved_grades(closed)] == [(2, Resolution.SINGLE)]


@pytest.mark.parametrize("sql", ["UPDATE judging_adjudication SET grade = 0", "DELETE FROM judging_adjudication"])
def test_the_database_refuses_to_change_a_decision(round_, sql):
    decide(round_, entries_of(round_)[0], 1)

    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql)


def test_what_a_lead_judged_is_counted_for_another_lead_once_the_round_is_closed(round_):
    mara, sef = people_of(round_)
    lead = lead_of(round_.project)

    assert left_to_another_lead(round_, mara) == 0

    closed = close_round(round_id=round_.pk, actor=lead, at=AT)

    assert left_to_another_lead(closed, mara) == 2
    assert left_to_another_lead(closed, lead) == 0
    decide(closed, entries_of(closed)[0], 1)
    assert left_to_another_lead(closed, sef) == 1
