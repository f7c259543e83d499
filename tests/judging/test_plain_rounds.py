"""The short steps of a plain round beside the full ones: the same rounds, the same histories, the same rows."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from unittest.mock import patch

import pytest
from django.db import connection, transaction
from hypothesis import given
from hypothesis import strategies as st

from apps.accounts.enums import Role
from apps.accounts.models import Membership
from apps.common.errors import Refusal
from apps.judging.actions.judgements import give_judgement
from apps.judging.actions.plain_rounds import give_plainly, lease_plainly
from apps.judging.actions.rounds import close_round
from apps.judging.actions.seats import claim_seats, release_seats
from apps.judging.core.answer import Answer
from apps.judging.core.plan import Plan
from apps.judging.enums import SeatState
from apps.judging.models import Judgement, Round, RoundAnnotator, Seat
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import give, later, make_guideline, make_pool, make_round, people_of
from tests.walks import walks

pytestmark = pytest.mark.django_db
PEOPLE = 3
IN_ONE_TRIP = connection.vendor == "postgresql"

WHO = st.integers(0, PEOPLE - 1)
RARELY = st.sampled_from([False] * 11 + [True])
STEPS = st.one_of(
    st.tuples(st.just("claim"), WHO, st.integers(1, 8)),
    st.tuples(st.just("grade"), WHO, st.integers(0, 30), st.sampled_from([0, 1, 2, 3, 9, None])),
    st.tuples(st.just("grade"), WHO, st.integers(0, 30), st.sampled_from([0, 3])),
    st.tuples(st.just("grade any"), WHO, st.integers(0, 30)),
    st.tuples(st.just("send again"), WHO, st.integers(0, 30)),
    st.tuples(st.just("release"), WHO),
    st.tuples(st.just("wait"), st.sampled_from([0.5, 2, 29, 31])),
    st.tuples(st.just("work"), WHO, st.lists(st.integers(0, 3), min_size=1, max_size=6)),
    st.tuples(st.just("leave"), WHO, RARELY),
    st.tuples(st.just("close"), RARELY),
)


class Walk:
    """One history on one round: what each step answered, and the rows it left."""

    done: Counter = Counter()

    def __init__(self, round_: Round, *, is_plain: bool) -> None:
        self.round, self.is_plain = round_, is_plain
        self.people, self.now = people_of(round_), AT
        self.log: list = []
        self.sent: list[tuple] = []

    def take(self, steps: list[tuple]) -> None:
        for number, (name, *rest) in enumerate(steps):
            try:
                answer = getattr(self, name.replace(" ", "_"))(number, *rest)
            except Refusal as refusal:
                answer = (refusal.code, refusal.sentence)
            self.log.append((name, answer))

    def claim(self, _, who, n):
        seats = claim_seats(round_=self.round, annotator=self.people[who], n=n, at=self.now)
        return [seat.pk for seat in seats]

    def grade(self, number, who, place, grade):
        leased = Seat.objects.filter(round=self.round, annotator=self.people[who]).order_by("pk")
        held = list(leased.filter(state=SeatState.LEASED)) or list(leased)
        return self.give(held[place % len(held)], who, grade, f"key-{number}") if held else None

    def grade_any(self, number, who, place):
        seats = list(Seat.objects.filter(round=self.round).order_by("pk"))
        return self.give(seats[place % len(seats)], who, 1, f"key-{number}")

    def send_again(self, _, who, place):
        if not self.sent:
            return None
        seat, _, grade, key = self.sent[place % len(self.sent)]
        return self.give(seat, who, grade, key)

    def give(self, seat, who, grade, key):
        person = self.people[who]
        self.sent.append((seat, who, grade, key))
        answer = Answer(grade=grade, cant_judge="" if grade is not None else "unreadable", note=" so. ", active_ms=7)
        facts = {"answer": answer, "idempotency_key": key, "at": self.now}
        if self.is_plain:
            short = give_plainly(round_=self.round, seat_id=seat.pk, annotator_id=person.pk, **facts)
            if short is not None:
                self.done["given"] += 1
                return Judgement.objects.get(pk=short).seat_id
        self.done["given in full"] += 1
        return give_judgement(seat=seat, annotator=person, **facts).seat_id

    def release(self, _, who):
        return release_seats(round_=self.round, annotator=self.people[who])

    def wait(self, _, minutes):
        self.now += timedelta(minutes=minutes)

    def work(self, number, who, grades):
        """Pairs as they come, one after another."""
        for place, grade in enumerate(grades):
            for seat in self.claim(number, who, 1)[:1]:
                self.give(Seat.objects.get(pk=seat), who, grade, f"key-{number}-{place}")

    def leave(self, _, who, is_sure):
        if is_sure:
            live = Membership.objects.live().filter(user=self.people[who], project=self.round.project)
            live.update(ended_at=self.now)

    def close(self, _, is_sure):
        if is_sure:
            self.round = close_round(round_id=self.round.pk, actor=lead_of(self.round.project), at=self.now)

    def rows(self) -> tuple:
        """Everything that a step may have changed; a judgement's key is not the same after a rollback."""
        seats = list(Seat.objects.filter(round=self.round).order_by("pk").values())
        places = list(RoundAnnotator.objects.filter(round=self.round).order_by("pk").values())
        given = Judgement.objects.filter(round=self.round).order_by("pk")
        judgements = [
            {name: value for name, value in row.items() if name not in ("id", "supersedes_id")}
            for row in given.values()
        ]
        return seats, places, judgements, list(given.values_list("supersedes__seat", flat=True))


def walked(round_: Round, steps: list[tuple], *, is_plain: bool) -> tuple[list, tuple]:
    """The answers and the rows of this history, of which nothing stays."""
    with transaction.atomic(), patch.object(Plan, "is_plain", is_plain):
        walk = Walk(round_, is_plain=is_plain)
        walk.take(steps)
        rows = walk.rows()
        transaction.set_rollback(True)
    return walk.log, rows


@walks(40)
@given(
    seed=st.integers(0, 1_000),
    overlap=st.sampled_from([0.0, 0.4, 1.0]),
    steps=st.lists(STEPS, min_size=5, max_size=40),
)
def same_rows_by_short_steps_and_by_full_ones(pool, people, seed, overlap, steps):
    with transaction.atomic():
        round_ = make_round(pool.project, pool=pool, annotators=people, overlap=overlap, seed=seed)
        short, full = (walked(round_, steps, is_plain=is_plain) for is_plain in (True, False))
        transaction.set_rollback(True)

    assert short == full


def test_a_history_leaves_the_same_rows_by_short_steps_and_by_full_ones():
    project = make_project()
    make_guideline(project)
    people = [make_member(project, Role.ANNOTATOR, name=f"Judge {n}") for n in range(PEOPLE)]

    same_rows_by_short_steps_and_by_full_ones(make_pool(project, queries=3, blocks=3), people)

    met = min(Walk.done["given"], Walk.done["given in full"])
    assert met > 50, f"the full steps were compared with themselves: {Walk.done}"


@pytest.fixture
def round_():
    return make_round(queries=2, blocks=4, overlap=1.0)


@pytest.fixture
def mara(round_):
    return people_of(round_)[0]


def leased(round_: Round, person) -> list[Seat]:
    return claim_seats(round_=round_, annotator=person, n=3, at=AT)


def given(round_: Round, person, seat: Seat, at=AT, **answer) -> int | None:
    answer = Answer(**{"grade": 2, **answer})
    facts = {"answer": answer, "idempotency_key": f"k-{seat.pk}", "at": at}
    return give_plainly(round_=round_, seat_id=seat.pk, annotator_id=person.pk, **facts)


def statements(work: Callable[[], object]) -> list[str]:
    """The first words of the statements of this work, which succeeds."""
    words: list[str] = []

    def note(execute, sql, *rest):
        words.append(sql.split()[0])
        return execute(sql, *rest)

    with connection.execute_wrapper(note):
        assert work()
    return [word for word in words if word not in ("SAVEPOINT", "RELEASE")]


def test_a_grade_takes_one_statement_to_fill_its_seat_and_one_to_store_it(round_, mara):
    seat = leased(round_, mara)[0]

    assert statements(lambda: given(round_, mara, seat)) == (["SELECT"] if IN_ONE_TRIP else ["UPDATE", "INSERT"])


def test_a_pair_is_leased_in_one_statement(round_, mara):
    words = statements(lambda: lease_plainly(round_=round_, annotator_id=mara.pk, n=1, at=AT) is not None)

    assert words == (["SELECT"] if IN_ONE_TRIP else ["SELECT", "WITH"])


@pytest.mark.postgres
@pytest.mark.parametrize(("step", "waits"), [("lease", "off"), ("grade", "on")])
def test_on_postgresql_a_grade_waits_for_the_disk_and_a_lease_does_not(round_, mara, step, waits):
    seat = leased(round_, mara)[0]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit = on")
        if step == "lease":
            lease_plainly(round_=round_, annotator_id=mara.pk, n=1, at=AT)
        else:
            given(round_, mara, seat)
        cursor.execute("SHOW synchronous_commit")
        assert cursor.fetchone() == (waits,)


@pytest.mark.parametrize(
    "answer", [{"grade": 9}, {"grade": None}, {"spans": [[0, 3]]}, {"cant_judge": "unreadable"}], ids=str
)
def test_an_answer_that_needs_a_closer_look_is_left_to_the_full_step(round_, mara, answer):
    seat = leased(round_, mara)[0]

    assert given(round_, mara, seat, **answer) is None
    assert not Judgement.objects.exists()


def test_a_removed_members_next_grade_is_left_to_the_full_step_which_refuses_it(round_, mara):
    seat = leased(round_, mara)[0]
    Membership.objects.filter(user=mara, role=Role.ANNOTATOR).update(ended_at=AT)

    assert given(round_, mara, seat) is None
    with pytest.raises(Refusal, match="no longer an annotator"):
        give(seat, mara)


def test_a_used_key_changes_nothing(round_, mara):
    first, second, _ = leased(round_, mara)
    assert given(round_, mara, first)

    answer = Answer(grade=1)
    facts = {"answer": answer, "idempotency_key": f"k-{first.pk}", "at": AT}
    assert give_plainly(round_=round_, seat_id=second.pk, annotator_id=mara.pk, **facts) is None
    second.refresh_from_db()
    assert second.state == SeatState.LEASED


def test_leases_are_renewed_when_they_are_a_minute_old(round_, mara):
    (seat,) = claim_seats(round_=round_, annotator=mara, n=1, at=AT)
    ends = []
    for seconds in (30, 61):
        claim_seats(round_=round_, annotator=mara, n=1, at=AT + timedelta(seconds=seconds))
        seat.refresh_from_db()
        ends.append(seat.lease_expires_at - AT)

    assert ends == [timedelta(minutes=30), timedelta(minutes=30, seconds=61)]


def test_a_round_with_reserved_pairs_or_a_remit_is_leased_by_the_full_step():
    project = make_project()
    pool = make_pool(project, queries=2, blocks=2)
    people = [make_member(project, Role.ANNOTATOR, name=f"Judge {n}") for n in range(2)]
    round_ = make_round(project, pool=pool, annotators=people, remits={people[0].pk: {"domains": ["law"]}}, overlap=0)

    assert lease_plainly(round_=round_, annotator_id=people[0].pk, n=1, at=AT) is None
    assert lease_plainly(round_=round_, annotator_id=people[1].pk, n=1, at=later(1)) is not None
