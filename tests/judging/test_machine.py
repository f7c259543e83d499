"""A round as a machine: claims, grades, releases, lapses, people leaving, a pilot, extra judges, the end."""

from collections import Counter
from datetime import timedelta

import pytest
from django.db import transaction
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, get_state_machine_test, initialize, invariant, rule

from apps.accounts.enums import Role
from apps.accounts.models import Membership
from apps.accounts.selectors import members_of
from apps.common.errors import Refusal
from apps.judging.actions.rounds import close_round, open_after_pilot
from apps.judging.actions.seats import claim_seats, release_seats
from apps.judging.enums import RoundState, SeatState
from apps.judging.models import Judgement, PilotDecision, Seat
from apps.judging.selectors.pairs import live_judgements
from apps.judging.selectors.plans import pilot_queries, plan_of, undecided_pilot_queries
from apps.judging.selectors.rejudging import KnownGrade
from apps.metrics.agreement.counting import ordinal_alpha
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import give, make_pool, make_round, people_of
from tests.judging.undecided import undecided_as_kept, undecided_by_hand
from tests.walks import walks

PEOPLE, QUERIES, BLOCKS, SHARE = 4, 2, 3, 1.0
WHO = st.integers(0, PEOPLE - 1)


class RoundMachine(RuleBasedStateMachine):
    """Four people on six pairs, one a check, one query a pilot or none, all others for two people."""

    did: Counter = Counter()  # what happened over all examples, to prove that it did

    @initialize(seed=st.integers(0, 50), pilot=st.integers(0, 1), alike=st.booleans())
    def open(self, seed, pilot, alike):
        self.atomic = transaction.atomic()
        self.atomic.__enter__()
        self.alike = alike  # whether people tend to agree
        project = make_project()
        pool = make_pool(project, queries=QUERIES, blocks=BLOCKS)
        entry = pool.entries.first()
        known = [KnownGrade(entry.query_id, entry.version_id, 2, "named")]
        people = [make_member(project, Role.ANNOTATOR, name=f"Judge {n}") for n in range(PEOPLE)]
        self.round = make_round(
            project, pool=pool, annotators=people, seed=seed, overlap=SHARE, again=0.3, pilot=pilot, pilot_bar=0.5,
            extra_bar=0.9, most_judges=3, known=known,
        )  # fmt: skip
        self.people, self.now = people_of(self.round), AT
        self.planned = dict(self.first_seats())
        self.grown: Counter = Counter()
        self.gone: set = set()
        pilot = Seat.objects.filter(round=self.round, query__in=pilot_queries(self.round)).values("entry").distinct()
        in_pilot = pilot.filter(pass_number=1).count()
        plan = plan_of(self.round)
        asked = plan.preview(len(self.planned), pilot_pairs=in_pilot, pilot_seats=PEOPLE * in_pilot)
        assert sum(self.planned.values()) == asked.judgements - asked.again - asked.checks

    def teardown(self):
        if hasattr(self, "atomic"):
            transaction.set_rollback(True)
            self.atomic.__exit__(None, None, None)

    def first_seats(self):
        rows = Seat.objects.filter(round=self.round, pass_number=1).values_list("entry", flat=True)
        return Counter(rows)

    @rule(who=WHO, n=st.integers(1, 6))
    def claim(self, who, n):
        person = self.people[who]
        try:
            seats = claim_seats(round_=self.round, annotator=person, n=n, at=self.now)
        except Refusal:
            assert self.round.state == RoundState.CLOSED
            return
        assert len({(seat.entry_id, seat.pass_number) for seat in seats}) == len(seats)
        assert all(seat.reserved_for_id in (None, person.pk) for seat in seats)

    @rule(who=WHO, grade=st.sampled_from([0, 0, 1, 2, 3, 3, None]), place=st.integers(0, 20))
    def grade(self, who, grade, place):
        """A grade for a pair that is held, but perhaps not any more."""
        person = self.people[who]
        held = list(Seat.objects.filter(round=self.round, annotator=person, state=SeatState.LEASED).order_by("pk"))
        if held:
            self.give(held[place % len(held)], person, grade)

    @rule(who=WHO, grades=st.lists(st.integers(0, 3), min_size=4, max_size=9))
    def work(self, who, grades):
        """Pairs as they come, one after another."""
        person = self.people[who]
        for grade in grades if self.round.state == RoundState.OPEN and person not in self.gone else []:
            if seats := claim_seats(round_=self.round, annotator=person, n=2, at=self.now):
                self.check_order(seats, person)
                self.give(seats[0], person, seats[0].entry_id % 4 if self.alike else grade)

    @rule(grades=st.lists(st.integers(0, 3), min_size=3, max_size=5))
    def work_together(self, grades):
        """Everybody goes as far as they can, one after another."""
        here = [person for person in self.people if person not in self.gone]
        for person in here if self.round.state == RoundState.OPEN else []:
            while seats := claim_seats(round_=self.round, annotator=person, n=3, at=self.now):
                self.check_order(seats, person)
                drawn = grades[(seats[0].entry_id + person.pk) % len(grades)]
                self.give(seats[0], person, seats[0].entry_id % 4 if self.alike else drawn)

    def check_order(self, seats, person):
        """The pair a person has just graded does not come back at once while there is another for them."""
        last = live_judgements(self.round).filter(annotator=person).order_by("-pk").first()
        others = {seat.entry_id for seat in seats} - {last.entry_id if last else None}
        assert not last or seats[0].entry_id != last.entry_id or not others

    def give(self, seat, person, grade):
        if person in self.gone:
            with pytest.raises(Refusal, match="no longer an annotator"):
                give(seat, person, grade, at=self.now)
            return
        given = give(seat, person, grade, at=self.now)
        self.did[f"pass {given.pass_number}"] += 1
        self.note_growth()

    @rule(who=WHO, grade=st.integers(0, 3), place=st.integers(0, 20))
    def think_again(self, who, grade, place):
        person = self.people[who]
        done = list(Seat.objects.filter(round=self.round, annotator=person, state=SeatState.DONE).order_by("pk"))
        if done and self.round.state == RoundState.OPEN:
            self.give(done[place % len(done)], person, grade)

    @rule(who=WHO, place=st.integers(0, 60))
    def grade_whatever_seat(self, who, place):
        """A grade for a seat nobody gave this person: taken only where it may be."""
        seats = list(Seat.objects.filter(round=self.round).order_by("pk"))
        try:
            given = give(seats[place % len(seats)], self.people[who], 1, at=self.now)
        except Refusal:
            return
        assert given.seat.reserved_for_id in (None, self.people[who].pk)
        self.note_growth()

    @rule(who=WHO)
    def release(self, who):
        release_seats(round_=self.round, annotator=self.people[who])

    @rule()
    def wait(self):
        self.now += timedelta(minutes=31)

    @rule(who=WHO, sure=st.integers(0, 11))
    def leave(self, who, sure):
        if sure:
            return
        self.gone.add(self.people[who])
        Membership.objects.live().filter(user=self.people[who], project=self.round.project).update(ended_at=self.now)

    @rule(is_sure=st.booleans())
    def open_the_rest(self, is_sure):
        if is_sure and undecided_pilot_queries(self.round) is not None and self.round.state == RoundState.OPEN:
            open_after_pilot(round_id=self.round.pk, actor=lead_of(self.round.project), reason="On.", at=self.now)

    @rule(sure=st.integers(0, 5))
    def close(self, sure):
        if sure == 0 and self.round.state == RoundState.OPEN and live_judgements(self.round).count() > 20:
            self.round = close_round(round_id=self.round.pk, actor=lead_of(self.round.project), at=self.now)

    def note_growth(self):
        """Seats of the first pass may only grow by one a pair, after a full query of low α, where people are left."""
        now = self.first_seats()
        left = members_of(self.round.project, Role.ANNOTATOR).count()
        for entry, seats in now.items():
            before = self.planned[entry] + self.grown[entry]
            if seats == before:
                continue
            assert (seats, before > 1, before < 3, before < left) == (before + 1, True, True, True)
            query = Seat.objects.filter(entry=entry).first().query_id
            given = live_judgements(self.round).filter(pass_number=1, seat__query=query)
            answers: dict[int, list] = {}
            for pair, grade in given.values_list("entry", "grade"):
                answers.setdefault(pair, []).append(grade)
            assert ordinal_alpha(answers.values()) < 0.9
            self.grown[entry] += 1
            self.did["one more judge"] += 1

    @invariant()
    def the_pairs_that_need_a_lead_are_kept(self):
        assert undecided_as_kept(self.round) == undecided_by_hand(self.round)

    @invariant()
    def the_first_pass_has_the_seats_of_the_plan(self):
        assert dict(self.first_seats()) == {entry: n + self.grown[entry] for entry, n in self.planned.items()}

    @invariant()
    def no_pair_has_more_answers_than_seats_and_nobody_answers_twice(self):
        seats = Counter(Seat.objects.filter(round=self.round).values_list("entry", "pass_number"))
        given = list(live_judgements(self.round).values_list("entry", "pass_number", "annotator"))
        assert not Counter((entry, number) for entry, number, _ in given) - seats
        assert len(set(given)) == len(given)
        done = Seat.objects.filter(round=self.round, state=SeatState.DONE)
        assert sorted(given) == sorted(done.values_list("entry", "pass_number", "annotator"))

    @invariant()
    def a_pair_comes_back_to_whom_the_plan_says_and_only_once(self):
        plan = plan_of(self.round)
        first = live_judgements(self.round).filter(pass_number=1).values_list("annotator", "entry")
        wanted = sorted((person, entry) for person, entry in first if plan.is_repeated(person, entry))
        again = Seat.objects.filter(round=self.round, pass_number=2)
        assert sorted(again.values_list("reserved_for", "entry")) == wanted

    @invariant()
    def everybody_has_each_check_once(self):
        checks = Seat.objects.filter(round=self.round, pass_number=0)
        assert sorted(checks.values_list("reserved_for", flat=True)) == sorted(person.pk for person in self.people)
        assert not set(checks.values_list("entry", flat=True)) & set(self.planned)

    @invariant()
    def reserved_seats_are_held_by_nobody_else(self):
        reserved = Seat.objects.filter(round=self.round, reserved_for__isnull=False).exclude(annotator=None)
        assert all(person == holder for person, holder in reserved.values_list("reserved_for", "annotator"))

    @invariant()
    def nothing_outside_the_pilot_is_given_before_it_is_decided(self):
        if not pilot_queries(self.round):
            return
        decision = PilotDecision.objects.filter(round=self.round).first()
        if decision:
            self.did["opened by a lead" if decision.decided_by else "opened by agreement"] += 1
            return
        used = Seat.objects.filter(round=self.round).exclude(state=SeatState.OPEN)
        assert not used.exclude(query__in=pilot_queries(self.round)).exists()
        given = Judgement.objects.filter(round=self.round)
        assert not given.exclude(seat__query__in=pilot_queries(self.round)).exists()


@pytest.mark.once
@pytest.mark.slow
@pytest.mark.django_db
def test_whatever_people_do_the_round_follows_its_plan():
    RoundMachine.did = Counter()
    few = walks(30, steps=25, database=None)

    get_state_machine_test(RoundMachine, settings=few)()

    happened = {"pass 0", "pass 1", "pass 2", "one more judge", "opened by a lead", "opened by agreement"}
    assert happened - set(RoundMachine.did) == set()
