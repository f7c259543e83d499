"""Taking grades: once per key, second thoughts as new rows, nothing outside scale, text or plan."""

import pytest
from django.db import DatabaseError, connection, transaction

from apps.accounts.actions.projects import set_roles
from apps.accounts.enums import Role
from apps.common.errors import Refusal
from apps.judging.actions.judgements import give_judgement
from apps.judging.actions.rounds import close_round
from apps.judging.actions.seats import claim_seats
from apps.judging.core.resolution import Answer
from apps.judging.enums import SeatState
from apps.judging.models import Judgement, Seat
from apps.judging.selectors.pairs import live_judgements
from tests.factories import AT, lead_of, make_member
from tests.judging.factories import give, judge_all, later, make_round, people_of
from tests.module_rows import rows_of_module

pytestmark = pytest.mark.django_db


@rows_of_module
def round_():
    return make_round(queries=1, blocks=4, overlap=0.0)


@pytest.fixture
def mara(round_):
    return people_of(round_)[0]


@pytest.fixture
def seat(round_, mara):
    return claim_seats(round_=round_, annotator=mara, n=1, at=AT)[0]


def refused(code, seat, person, grade=2, **more):
    with pytest.raises(Refusal) as refusal:
        give(seat, person, grade, **more)
    return refusal.value.code == code


def test_a_grade_fills_its_seat(round_, mara, seat):
    judgement = give(seat, mara, 0, note=" Unclear. ", spans=[[0, 8]], active_ms=1200, away_ms=40)

    seat.refresh_from_db()
    assert (seat.state, seat.annotator, seat.lease_expires_at) == (SeatState.DONE, mara, None)
    assert (judgement.grade, judgement.note, judgement.spans) == (0, "Unclear.", [[0, 8]])
    assert judgement.guideline == round_.guideline


def test_cant_judge_is_a_judgement_without_a_grade(mara, seat):
    judgement = give(seat, mara, None)

    assert (judgement.grade, judgement.cant_judge) == (None, "unreadable")


def test_the_same_key_twice_is_one_judgement_and_the_same_answer(round_, mara, seat):
    first = give(seat, mara, 3, key="k")
    again = give(seat, mara, 3, key="k", at=later(90))

    assert again == first
    assert round_.judgements.count() == 1


def test_a_key_says_the_same_after_the_round_was_closed(round_, mara, seat):
    first = give(seat, mara, 3, key="k")
    close_round(round_id=round_.pk, actor=lead_of(round_.project), at=AT)

    assert give(seat, mara, 3, key="k") == first


def test_a_key_cannot_be_used_for_another_grade(mara, seat):
    give(seat, mara, 3, key="k")

    assert refused("key_reused", seat, mara, 2, key="k")


def test_two_people_may_use_the_same_key(round_, mara):
    sef = people_of(round_)[1]
    one = claim_seats(round_=round_, annotator=mara, n=1, at=AT)[0]
    two = claim_seats(round_=round_, annotator=sef, n=1, at=AT)[0]

    assert give(one, mara, key="k") != give(two, sef, key="k")


def test_a_second_thought_is_a_new_row_that_supersedes(round_, mara, seat):
    first = give(seat, mara, 3)
    second = give(seat, mara, 1)

    assert second.supersedes == first
    assert list(live_judgements(round_)) == [second]
    assert Judgement.objects.count() == 2
    assert Seat.objects.filter(state=SeatState.DONE).count() == 1


def test_a_third_thought_supersedes_the_second(round_, mara, seat):
    give(seat, mara, 3)
    second = give(seat, mara, None)
    third = give(seat, mara, 2)

    assert third.supersedes == second
    assert list(live_judgements(round_)) == [third]


@pytest.mark.parametrize("grade", [-1, 4, 99])
def test_a_grade_off_the_scale_is_refused(mara, seat, grade):
    assert refused("not_an_answer", seat, mara, grade)


@pytest.mark.parametrize("answer", [Answer(), Answer(grade=1, cant_judge="unreadable")])
def test_a_judgement_is_either_a_grade_or_a_reason(mara, seat, answer):
    with pytest.raises(Refusal, match="either a grade or a reason"):
        give_judgement(round_=seat.round, seat_id=seat.pk, annotator=mara, answer=answer, idempotency_key="k", at=AT)


@pytest.mark.parametrize("spans", [[[0, 100_000]], [[5, 2]], "all of it", [[0, 4], [2, 6]]])
def test_evidence_outside_the_pinned_text_is_refused(mara, seat, spans):
    assert refused("evidence_outside_text", seat, mara, spans=spans)


def test_a_refused_grade_leaves_nothing_behind(mara, seat):
    refused("not_an_answer", seat, mara, 9)

    seat.refresh_from_db()
    assert seat.state == SeatState.LEASED
    assert not Judgement.objects.exists()


def test_somebody_elses_seat_is_not_mine_to_fill(round_, mara, seat):
    sef = people_of(round_)[1]

    assert refused("seat_lapsed", seat, sef)


def test_a_person_outside_the_round_cannot_grade(round_, seat):
    stranger = make_member(round_.project, Role.ANNOTATOR)

    assert refused("not_in_round", seat, stranger)


def test_a_removed_person_cannot_grade_but_a_repeated_request_returns_their_grade(round_, mara, seat):
    given = give(seat, mara, 3, key="sent twice")
    set_roles(project=round_.project, user=mara, roles=[], actor=lead_of(round_.project), at=AT)

    assert refused("no_longer_annotator", seat, mara, 1)
    assert give(seat, mara, 3, key="sent twice") == given


def test_a_grade_after_the_lease_still_counts_while_the_seat_is_free(round_, mara, seat):
    assert give(seat, mara, at=later(120)).annotator == mara


def test_a_grade_after_the_seat_went_to_somebody_else_is_refused(round_, mara, seat):
    sef = people_of(round_)[1]
    judge_all(round_, sef, at=later(31))

    assert refused("seat_lapsed", seat, mara, at=later(32))
    assert round_.judgements.filter(entry=seat.entry).count() == 1


def test_a_late_grade_takes_another_free_seat_of_the_pair():
    round_ = make_round(queries=1, blocks=1, overlap=1.0)
    mara, sef = people_of(round_)
    seat = claim_seats(round_=round_, annotator=mara, n=1, at=AT)[0]
    taken = claim_seats(round_=round_, annotator=sef, n=1, at=later(31))[0]
    if taken.pk != seat.pk:
        give(taken, sef, at=later(31))

    assert give(seat, mara, at=later(32)).entry == seat.entry
    assert Seat.objects.filter(round=round_, state=SeatState.DONE, annotator=mara).count() == 1


def test_a_closed_round_takes_no_new_grade_and_no_second_thought(round_, mara):
    one, two = claim_seats(round_=round_, annotator=mara, n=2, at=AT)
    give(one, mara)
    close_round(round_id=round_.pk, actor=lead_of(round_.project), at=AT)

    assert refused("grade_not_possible", two, mara)
    assert refused("grade_not_possible", one, mara, 0)


def raw(sql, *params):
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql, params)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE judging_judgement SET grade = 0",
        "DELETE FROM judging_judgement",
        "UPDATE judging_seat SET state = 'open', annotator_id = NULL",
        "DELETE FROM judging_seat",
        "UPDATE judging_round SET judges = 5",
        "UPDATE judging_guideline SET markdown = 'other'",
        "DELETE FROM judging_guideline",
    ],
)
def test_the_database_itself_refuses_to_rewrite_history(mara, seat, sql):
    give(seat, mara, 3)

    with pytest.raises(DatabaseError):
        raw(sql)


def test_a_seat_never_gets_two_judgements_even_by_raw_sql(round_, mara, seat):
    first = give(seat, mara, 3)
    sef = people_of(round_)[1]
    columns = [f.column for f in Judgement._meta.concrete_fields if f.column not in ("id", "annotator_id")]
    listed = ", ".join(columns)

    with pytest.raises(DatabaseError):
        raw(
            f"INSERT INTO judging_judgement (annotator_id, {listed})"
            f" SELECT %s, {listed} FROM judging_judgement WHERE id = %s",
            sef.pk,
            first.pk,
        )


def test_a_first_word_is_refused_where_the_person_spoke_already():
    round_ = make_round()
    mara = people_of(round_)[0]
    seat = claim_seats(round_=round_, annotator=mara, n=1, at=AT)[0]
    give(seat, mara, 3, key="one", is_again=False)

    with pytest.raises(Refusal) as refused:
        give(seat, mara, 1, key="two", is_again=False)

    assert refused.value.code == "graded_elsewhere"
    assert "You already answered grade 3" in refused.value.sentence
    assert give(seat, mara, 3, key="one", is_again=False).grade == 3
    assert give(seat, mara, 1, key="two").supersedes.grade == 3
