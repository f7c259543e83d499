"""Pairs that come back and pairs whose grade is known: given blindly, later, and never part of any result."""

import zipfile

import pytest

from apps.accounts.enums import Role
from apps.accounts.models import Membership
from apps.agreement.selectors.agreement import grade_agreement
from apps.common.errors import Refusal
from apps.goldsets.actions.versions import freeze_version, release_version
from apps.goldsets.execution import exporting
from apps.goldsets.selectors.assembly import gather
from apps.judging.actions.rounds import close_round
from apps.judging.actions.seats import claim_seats
from apps.judging.core.plan import REPEATED_AFTER
from apps.judging.models import KnownAnswer, Seat
from apps.judging.selectors.board import Steadiness, steadiness
from apps.judging.selectors.deciding import adjudicable
from apps.judging.selectors.pairs import resolved_grades
from apps.judging.selectors.progress import stuck
from apps.judging.selectors.rejudging import KnownGrade, known_pairs
from apps.metrics.agreement.ratings import Rate
from apps.retrieval.models import PoolEntry
from tests.factories import AT, lead_of, make_member, make_project
from tests.goldsets.factories import draft, make_bench
from tests.judging.factories import give, judge_all, later, make_pool, make_round, people_of
from tests.module_rows import rows_of_module

pytestmark = pytest.mark.django_db


def known_in(pool, n=1, grade=3):
    entries = list(pool.entries.order_by("pk")[:n])
    return [KnownGrade(entry.query_id, entry.version_id, grade, "named by a lead") for entry in entries]


def one_by_one(round_, person, grade_of=lambda seat: 2):
    """Every pair as it is offered, one at a time; the seats in the order in which they came."""
    came = []
    while seats := claim_seats(round_=round_, annotator=person, n=1, at=AT):
        give(seats[0], person, grade_of(seats[0]))
        came.append(seats[0])
    return came


def test_a_pair_comes_back_to_the_same_person_after_others():
    round_ = make_round(queries=8, blocks=8, annotators=1, overlap=0.0, again=0.2)

    came = one_by_one(round_, people_of(round_)[0])

    places = {(seat.entry_id, seat.pass_number): place for place, seat in enumerate(came)}
    again = [entry for entry, number in places if number == 2]
    assert len(came) == 64 + len(again)
    assert 5 < len(again) < 25
    gaps = [places[entry, 2] - places[entry, 1] for entry in again]
    early = [gap for gap, entry in zip(gaps, again, strict=True) if places[entry, 1] < 64 - 2 * REPEATED_AFTER]
    assert min(early) > REPEATED_AFTER
    assert min(gaps) > 1


def test_at_the_end_everything_still_comes_back_and_next_to_its_first_only_when_nothing_else_is_left():
    round_ = make_round(queries=1, blocks=4, annotators=1, overlap=0.0, again=1.0)

    came = one_by_one(round_, people_of(round_)[0])

    assert [seat.pass_number for seat in came] == [1] * 4 + [2] * 4
    assert [seat.entry_id for seat in came[:4]] == [seat.entry_id for seat in came[4:]]


def test_a_second_thought_brings_no_second_duplicate():
    round_ = make_round(queries=1, blocks=2, annotators=1, overlap=0.0, again=1.0)
    mara = people_of(round_)[0]
    seat = claim_seats(round_=round_, annotator=mara, n=1, at=AT)[0]

    give(seat, mara, 1)
    give(seat, mara, 3)

    assert Seat.objects.filter(round=round_, pass_number=2).count() == 1


def test_two_judges_of_a_pair_each_get_their_own_duplicate():
    round_ = make_round(queries=1, blocks=2, annotators=2, overlap=1.0, again=1.0)
    mara, sef = people_of(round_)

    for person in (mara, sef):
        assert {seat.reserved_for_id for seat in one_by_one(round_, person)[2:]} == {person.pk}

    assert Seat.objects.filter(round=round_, pass_number=2, state="done").count() == 4


def test_nobody_takes_what_is_reserved_for_another():
    round_ = make_round(queries=1, blocks=2, annotators=2, overlap=1.0, again=1.0)
    mara, sef = people_of(round_)
    give(claim_seats(round_=round_, annotator=mara, n=1, at=AT)[0], mara)
    again = Seat.objects.get(round=round_, pass_number=2)

    with pytest.raises(Refusal) as refusal:
        give(again, sef)

    assert refusal.value.code == "seat_lapsed"
    assert again.pk not in {seat.pk for seat in claim_seats(round_=round_, annotator=sef, n=20, at=AT)}


def test_a_lapsed_duplicate_stays_reserved():
    round_ = make_round(queries=1, blocks=1, annotators=2, overlap=0.0, again=1.0)
    mara, sef = people_of(round_)
    give(claim_seats(round_=round_, annotator=mara, n=1, at=AT)[0], mara)
    (again,) = claim_seats(round_=round_, annotator=mara, n=1, at=AT)

    assert claim_seats(round_=round_, annotator=sef, n=1, at=later(60)) == []
    assert claim_seats(round_=round_, annotator=mara, n=1, at=later(60)) == [again]


def test_what_is_reserved_for_somebody_who_left_is_stuck():
    round_ = make_round(queries=1, blocks=3, annotators=3, overlap=0.0, again=1.0)
    mara, sef, _ = people_of(round_)
    for person in (mara, sef):
        give(claim_seats(round_=round_, annotator=person, n=1, at=AT)[0], person)
    assert stuck(round_) == 0

    Membership.objects.filter(user=mara).update(ended_at=AT)

    assert stuck(round_) == 1


@rows_of_module
def project():
    return make_project()


def test_everybody_meets_each_check_once_spread_over_their_work(project):
    pool = make_pool(project, queries=6, blocks=5)
    round_ = make_round(project, pool=pool, annotators=2, overlap=1.0, known=known_in(pool, n=3))

    for person in people_of(round_):
        came = one_by_one(round_, person)
        checks = [place for place, seat in enumerate(came) if seat.pass_number == 0]
        assert len(checks) == 3
        assert len(came) == 27 + 3
        assert checks[0] < 10 < 15 < checks[-1]


def test_a_known_pair_has_no_seat_of_the_first_pass(project):
    pool = make_pool(project, queries=2, blocks=3)
    round_ = make_round(project, pool=pool, annotators=2, overlap=1.0, known=known_in(pool))
    entry = KnownAnswer.objects.get(round=round_).entry

    assert set(Seat.objects.filter(entry=entry).values_list("pass_number", flat=True)) == {0}
    assert Seat.objects.filter(round=round_, pass_number=1).count() == 10


def test_nothing_of_a_duplicate_or_a_check_reaches_a_result():
    bench = make_bench(judge=False, triples=0)
    known = known_in(bench.pool, grade=3)
    people = [make_member(bench.project, Role.ANNOTATOR, name=name) for name in ("Mara", "Sef")]
    round_ = make_round(
        bench.project, pool=bench.pool, annotators=people, overlap=1.0, again=1.0, known=known, judge_again=True
    )
    for place, person in enumerate(people):
        judge_all(round_, person, lambda seat, n=place: seat.entry_id % 2 + 1 if seat.pass_number == 1 else 3 * n)
    pairs = bench.pool.entry_count - 1
    entry = KnownAnswer.objects.get(round=round_).entry

    resolved = resolved_grades(round_)
    assert {(pair.grade, pair.judges) for pair in resolved} == {(1, 2), (2, 2)}
    assert len(resolved) == pairs
    assert adjudicable(round_, bench.lead) == []
    agreement = grade_agreement(bench.project, [round_])
    assert [entry.query_id, entry.version_id] not in agreement.ratings.items.tolist()
    assert (agreement.ratings.shared, agreement.overall.value) == (pairs, pytest.approx(1.0))
    gathered = gather(draft(bench, rounds=[round_]))
    assert (len(gathered.pairs), {pair.judges for pair in gathered.pairs}, gathered.unresolved) == (pairs, {2}, [])


def test_an_export_contains_neither_duplicates_nor_checks():
    bench = make_bench(judge=False)
    known = known_in(bench.pool, grade=3)
    people = [make_member(bench.project, Role.ANNOTATOR, name=name) for name in ("Mara", "Sef")]
    round_ = make_round(
        bench.project, pool=bench.pool, annotators=people, overlap=1.0, again=1.0, known=known, judge_again=True
    )
    for person in people:
        judge_all(round_, person, lambda seat: 1 if seat.pass_number == 1 else 3)
    version = freeze_version(version_id=draft(bench, rounds=[round_]).pk, actor=bench.lead, at=AT)
    version = release_version(version_id=version.pk, actor=bench.lead, at=AT)

    with exporting.zipped(version, formats=["csv", "trec"]) as stream, zipfile.ZipFile(stream) as archive:
        rows = archive.read("csv/judgements.csv").decode().splitlines()[1:]
        qrels = archive.read("trec/qrels.txt").decode().splitlines()

    assert len(rows) == len(qrels) == bench.pool.entry_count - 1
    assert {line.split()[-1] for line in qrels} == {"1"}


def test_consistency_is_read_from_the_two_passes_of_one_person():
    round_ = make_round(queries=1, blocks=3, annotators=1, overlap=0.0, again=1.0)
    mara = people_of(round_)[0]
    entries = list(round_.pool.entries.values_list("pk", flat=True))
    one_by_one(round_, mara, lambda seat: 2 if seat.pass_number == 1 else 2 + seat.entry_id % 2)

    assert steadiness(round_) == {mara.pk: Steadiness(repeats=Rate(sum(pk % 2 == 0 for pk in entries), 3))}


def test_answers_to_checks_are_compared_with_the_known_grades(project):
    pool = make_pool(project, queries=1, blocks=3)
    round_ = make_round(project, pool=pool, annotators=2, overlap=0.0, known=known_in(pool, grade=2))
    mara, sef = people_of(round_)
    judge_all(round_, mara, lambda seat: 2)
    judge_all(round_, sef, lambda seat: None)

    assert steadiness(round_) == {mara.pk: Steadiness(checks=Rate(1, 1)), sef.pk: Steadiness(checks=Rate(0, 1))}


def test_checks_come_from_what_closed_rounds_decided_or_judged_alike(project):
    pool = make_pool(project, queries=2, blocks=4)
    first = make_round(project, pool=pool, annotators=2, overlap=1.0)
    mara, sef = people_of(first)
    judge_all(first, mara, lambda seat: 2)
    judge_all(first, sef, lambda seat: 2 if seat.query_id % 2 else 3)
    assert known_pairs(pool.snapshot, 50, seed=1) == []
    close_round(round_id=first.pk, actor=lead_of(project), at=AT)

    known = known_pairs(pool.snapshot, 50, seed=1)
    assert {(pair.query_id % 2, pair.grade) for pair in known} == {(1, 2)}
    assert len(known) == 4
    assert known_pairs(pool.snapshot, 2, seed=1) == known[:2]

    other = make_pool(project, queries=1, snapshot=pool.snapshot)
    second = make_round(project, pool=other, annotators=[mara, sef], overlap=0.0, checks=2, judge_again=True)

    entries = PoolEntry.objects.filter(pk__in=second.known_answers.values("entry"))
    assert [entry.sampled for entry in entries] == [{"how": "check"}] * 2
    assert {entry.pool_id for entry in entries} == {other.pk}
    other.refresh_from_db()
    assert other.entry_count == other.entries.count() == 6
    third = make_round(project, pool=other, annotators=[mara, sef], overlap=0.0, judge_again=True)
    assert Seat.objects.filter(round=third).count() == 4


def test_more_checks_than_are_known_are_refused(project):
    pool = make_pool(project)

    with pytest.raises(Refusal, match="asks for 3 checks, and there are no pairs"):
        make_round(project, pool=pool, checks=3)
    with pytest.raises(Refusal, match="serves as a check"):
        make_round(project, pool=pool, known=known_in(pool, n=8))


@pytest.mark.parametrize("field", ["grade", "origin"])
def test_a_known_answer_never_changes(project, field):
    pool = make_pool(project)
    round_ = make_round(project, pool=pool, overlap=0.0, known=known_in(pool))

    with pytest.raises(Exception, match="a known answer is never changed"):
        KnownAnswer.objects.filter(round=round_).update(**{field: "1"})
