"""Shares of a round: what people are told, they get, and every planned judgement is given or named."""

from collections import Counter
from datetime import timedelta
from itertools import combinations

import pytest
from django.db import transaction
from hypothesis import given
from hypothesis import strategies as st

from apps.accounts.enums import Role
from apps.accounts.models import Membership
from apps.judging.actions.seats import claim_seats, release_seats
from apps.judging.core.plan import Shares
from apps.judging.enums import SeatState
from apps.judging.models import Seat
from apps.judging.selectors.progress import left_over, stuck, to_go_by_person, totals
from apps.queries.models import Query
from tests.factories import AT, make_member, make_project
from tests.judging.factories import give, judge_all, make_pool, make_round, own_progress, people_of
from tests.walks import walks


@given(
    people=st.integers(1, 7),
    queries=st.lists(st.integers(1, 25), min_size=1, max_size=12),
    number=st.integers(1, 4),
    seed=st.integers(0, 99),
)
def test_shares_are_even_and_no_pair_goes_to_one_person_twice(people, queries, number, seed):
    number = min(number, people)
    everybody = range(1, people + 1)
    shares = Shares(everybody, seed=seed, left=sum(queries) * number)

    for query, pairs in enumerate(queries, 1):
        for entry in range(pairs):
            assert len(set(shares.judges_of(query, query * 100 + entry, number, everybody))) == number

    assert sum(shares.loads.values()) == sum(queries) * number
    assert max(shares.loads.values()) - min(shares.loads.values()) <= 1


@pytest.mark.parametrize(("people", "pairs"), [(3, 118), (4, 300), (8, 1_000)])
def test_everybody_meets_everybody_on_about_as_many_pairs(people, pairs):
    everybody = range(1, people + 1)
    shares = Shares(everybody, seed=7, left=2 * pairs)

    for entry in range(pairs):
        shares.judges_of(entry // 10, entry, 2, everybody)

    met = [shares.together[pair] for pair in combinations(everybody, 2)]
    assert sum(met) == pairs
    assert max(met) - min(met) <= 0.35 * pairs / len(met)


def test_the_pairs_of_a_query_stay_together_where_that_is_even():
    shares, of_query = Shares([1, 2, 3], seed=7, left=300), {}

    for entry in range(300):
        of_query.setdefault(entry // 10, set()).update(shares.judges_of(entry // 10, entry, 1, [1, 2, 3]))

    assert sum(len(people) == 1 for people in of_query.values()) > 20


def test_too_few_people_for_a_pair_are_refused():
    with pytest.raises(ValueError, match="2 judges of a pair, and 1 people"):
        Shares([1, 2], seed=7, left=2).judges_of(1, 1, 2, [1])


@pytest.mark.django_db
def test_three_people_who_judge_every_pair_twice_all_finish_what_they_were_told():
    """As it was tried: two in haste, who stop where they are told to, and a third who comes last."""
    round_ = make_round(queries=5, blocks=6, annotators=3, overlap=1.0)
    people = people_of(round_)
    told = [own_progress(round_, person).total for person in people]

    given = []
    for person in people:
        while not (progress := own_progress(round_, person)).is_past and progress.to_go:
            assert progress.total == told[people.index(person)]
            give(claim_seats(round_=round_, annotator=person, n=8, at=AT)[0], person)
        given.append(progress.done)

    assert (told, given) == ([20, 20, 20], [20, 20, 20])
    assert totals(round_).to_go == 0
    judges: dict[int, set] = {}
    for entry, person in Seat.objects.filter(round=round_).values_list("entry", "annotator"):
        judges.setdefault(entry, set()).add(person)
    assert sorted(Counter(frozenset(both) for both in judges.values()).values()) == [10, 10, 10]


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("work"), st.integers(0, 4), st.integers(1, 12)),
        st.tuples(st.just("skip"), st.integers(0, 4), st.integers(1, 9)),
        st.tuples(st.just("leave"), st.integers(0, 4), st.just(0)),
        st.tuples(st.just("wait"), st.just(0), st.just(0)),
    ),
    max_size=25,
)


class Game:
    """A round to its end, whoever works, skips, comes back late or leaves on the way."""

    ends: Counter = Counter()

    def __init__(self, people: int, overlap: float, judges: int, again: float, seed: int, *, narrow: bool) -> None:
        project = make_project()
        pool = make_pool(project, queries=4, blocks=5)
        first, *_ = Query.objects.filter(project=project)
        Query.objects.filter(pk=first.pk).update(domain="law")
        self.people = [make_member(project, Role.ANNOTATOR, name=f"Judge {n}") for n in range(people)]
        remits = {self.people[-1].pk: {"domain": ["law"]}} if narrow and people > judges else None
        self.round = make_round(
            project, pool=pool, annotators=self.people, overlap=overlap, judges=judges, again=again, seed=seed,
            remits=remits,
        )  # fmt: skip
        self.now, self.gone, self.helped = AT, set(), False
        self.told = {person: self.progress(person).total for person in self.people}

    def progress(self, person):
        return own_progress(self.round, person)

    def work(self, who, n):
        """Pairs as they come, one after another, until the page says that the share is done."""
        person = self.people[who % len(self.people)]
        for _ in range(n if person not in self.gone else 0):
            seats = claim_seats(round_=self.round, annotator=person, n=8, at=self.now)
            if not seats or not self.progress(person).to_go:
                release_seats(round_=self.round, annotator=person)
                return
            give(seats[0], person, None if seats[0].pk % 7 == 0 else seats[0].pk % 4, at=self.now)

    def skip(self, who, n):
        """Somebody looks at pairs and gives them back, or just goes away."""
        person = self.people[who % len(self.people)]
        claim_seats(round_=self.round, annotator=person, n=n, at=self.now)
        if n % 2:
            release_seats(round_=self.round, annotator=person)

    def wait(self, *_):
        self.now += timedelta(minutes=31)

    def leave(self, who, _):
        person = self.people[who % len(self.people)]
        if len(self.gone) < len(self.people) - 1:
            self.gone.add(person)
            Membership.objects.live().filter(user=person, project=self.round.project).update(ended_at=self.now)

    def finish(self):
        """Those who stayed do their shares, and then what is offered to them beyond."""
        stayed = [person for person in self.people if person not in self.gone]
        self.wait()
        for person in stayed:
            self.work(self.people.index(person), 500)
        rest = Seat.objects.filter(round=self.round).exclude(state=SeatState.DONE)
        if not self.gone:
            assert not rest.filter(reserved_for=None).exists(), "everybody has done their share, and a pair is left"
        for person in stayed:
            release_seats(round_=self.round, annotator=person)
        named = left_over(self.round)
        free = rest.filter(reserved_for=None).count()
        assert named.number == free, "what is left is of those who left"
        assert bool(named.may) == (named.number > stuck_of_shares(self.round))
        for person in stayed:
            judge_all(self.round, person, at=self.now)
            assert not rest.filter(reserved_for=person).exists()

    def check(self):
        rest = Seat.objects.filter(round=self.round).exclude(state=SeatState.DONE)
        self.ends["gone" if self.gone else "all stayed"] += 1
        self.ends["stuck" if rest.exists() else "complete"] += 1
        assert rest.count() == stuck(self.round)
        assert sum(to_go_by_person(self.round).values()) == rest.count()
        assert self.gone or not rest.exists()


def stuck_of_shares(round_):
    able = set(Membership.objects.live().filter(project=round_.project).values_list("user", flat=True))
    reserved = Seat.objects.filter(round=round_, state=SeatState.OPEN, reserved_for__isnull=False)
    return stuck(round_) - reserved.exclude(reserved_for__in=able).count()


@walks(30)
@given(
    people=st.integers(1, 5),
    overlap=st.sampled_from([0.0, 0.4, 1.0]),
    judges=st.integers(2, 3),
    again=st.sampled_from([0.0, 0.0, 0.3]),
    seed=st.integers(0, 99),
    narrow=st.booleans(),
    steps=STEPS,
)
def every_judgement_is_given_or_named(people, overlap, judges, again, seed, narrow, steps):
    with transaction.atomic():
        judges = min(judges, people)
        game = Game(people, overlap, judges, again, seed, narrow=narrow)
        for name, *rest in steps:
            getattr(game, name)(*rest)
        game.finish()
        game.check()
        transaction.set_rollback(True)


@pytest.mark.slow
@pytest.mark.django_db
def test_every_planned_judgement_is_given_or_named_with_who_may():
    Game.ends = Counter()

    every_judgement_is_given_or_named()

    assert set(Game.ends) == {"gone", "all stayed", "stuck", "complete"}
