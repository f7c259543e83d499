"""Authors, reviewers and leads doing anything in any order; what is always true stays true."""

import itertools
import random

import pytest
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from apps.accounts.actions import set_roles
from apps.accounts.enums import Role
from apps.accounts.selectors import roles_of
from apps.audit.models import Event
from apps.common.errors import Refusal
from apps.review.actions import (
    Claim,
    Decision,
    adjudicate,
    begin_revision,
    drop_triple,
    give_verdict,
    post_message,
    re_pin,
    revise,
    split_triple,
    submit_triple,
    withdraw_flag,
)
from apps.review.enums import Category, Choice, Reason
from apps.review.models import ReviewSeat, Verdict
from apps.review.selectors import rounds_of
from apps.review.standing import live_verdicts, standing_of
from apps.review.visibility import Phase
from apps.triples.actions import refresh_staleness, reopen_as_draft, retire_triple, withdraw_draft
from apps.triples.enums import RetireReason, State
from apps.triples.models import Revision, Triple
from apps.triples.selectors import authors_of, newest_snapshot
from apps.triples.workflow import EDGES
from tests.factories import AT, lead_of, make_member
from tests.review.factories import make_triple
from tests.triples.factories import TEXTS, make_draft, make_snapshot, make_team, make_wording

REACHED = {(edge.source.value, edge.target.value) for edge in EDGES}
_keys = itertools.count(1)
EVIDENCE = "A session lasts at most eight hours."
SUGGESTED = {
    State.DRAFT: ["submit", "submit", "submit", "withdraw"],
    State.IN_REVIEW: ["confirm", "flag", "confirm", "flag", "begin"],
    State.DISPUTED: ["talk", "revise", "begin", "take_back", "split", "drop", "adjudicate", "submit"],
    State.ACCEPTED: ["pin_again", "retire", "begin"],
    State.DROPPED: ["reopen"],
    State.SPLIT: ["submit"],
    State.RETIRED: ["reopen"],
    State.WITHDRAWN: ["reopen"],
}
ANYTHING = sorted({name for names in SUGGESTED.values() for name in names})


class Reviews(RuleBasedStateMachine):
    """People pick triples and steps at random. Whatever is refused changes nothing."""

    @initialize()
    def start(self) -> None:
        self.atomic = transaction.atomic()
        self.atomic.__enter__()
        self.project = make_team(reviewers=3)
        self.lead = lead_of(self.project)
        self.people = [
            self.lead,
            make_member(self.project, Role.ANNOTATOR, name="Ann"),
            make_member(self.project, Role.ANNOTATOR, Role.REVIEWER, name="Both"),
            make_member(self.project, Role.LEAD, Role.REVIEWER, name="Chief"),
            *[m.user for m in self.project.memberships.filter(role=Role.REVIEWER).order_by("pk")[:3]],
        ]
        self.texts, self.turn = dict(TEXTS), 0
        for state in (State.DRAFT, State.IN_REVIEW, State.DISPUTED, State.DISPUTED, State.ACCEPTED, State.DROPPED):
            make_triple(self.project, state, author=self.people[1 + len(state) % 3])

    def teardown(self) -> None:
        if hasattr(self, "atomic"):
            transaction.set_rollback(True)
            self.atomic.__exit__(None, None, None)

    def person(self, index: int, triple: Triple | None = None):
        """Somebody; with a triple, every second time one of those who have a part in it."""
        if triple is None or index % 2:
            return self.people[index // 2 % len(self.people)]
        seated = [seat.reviewer for seat in triple.current.seats.filter(released_at=None)]
        near = [triple.author, *seated, self.lead]
        return near[index // 2 % len(near)]

    def attempt(self, act, triple: Triple, **more) -> None:
        """Do it, or be refused and find everything as it was. A state that moved, moved along an edge."""
        before = Triple.objects.filter(pk=triple.pk).values().get()
        verdicts = Verdict.objects.count()
        try:
            with transaction.atomic():
                act(project=self.project, triple_id=triple.pk, at=AT, **more)
        except Refusal:
            assert Triple.objects.filter(pk=triple.pk).values().get() == before
            assert Verdict.objects.count() == verdicts
            return
        after = Triple.objects.get(pk=triple.pk)
        moves = Event.objects.filter(object_id=str(triple.pk), object_type="triples.triple").order_by("-pk")
        if after.state != before["state"]:
            assert (before["state"], after.state) in REACHED
            assert moves[0].before["state"] == before["state"]

    @rule(seed=st.integers(0, 10**6))
    def somebody_does_something(self, seed) -> None:
        """Mostly a step that the state of some triple suggests; now and then any other thing."""
        self.turn += 1
        chance = random.Random(f"{seed}:{self.turn}")
        if chance.random() < 0.1:
            return chance.choice([self.write, self.import_again, self.change_roles])(chance)
        triple = chance.choice(list(Triple.objects.filter(project=self.project).order_by("number")))
        names = SUGGESTED[State(triple.state)] if chance.random() < 0.8 else ANYTHING
        return getattr(self, chance.choice(names))(triple, chance.randrange(100))

    def write(self, chance) -> None:
        if EVIDENCE in self.texts["access"]:
            author = self.person(chance.randrange(100))
            make_draft(self.project, author=author, snapshot=newest_snapshot(self.project))

    def submit(self, triple, who) -> None:
        self.attempt(submit_triple, triple, author=self.person(who, triple))

    def confirm(self, triple, who) -> None:
        self.verdict(triple, who, choice=Choice.CONFIRM, reasons=[])

    def flag(self, triple, who) -> None:
        said = {"choice": Choice.FLAG, "reasons": [Reason.OVERSTATED], "category": Category.NUMERIC}
        self.verdict(triple, who, **said)

    def verdict(self, triple, who, **said) -> None:
        key, revision = f"m{next(_keys)}", triple.current_id
        person = self.person(who, triple)
        self.attempt(give_verdict, triple, reviewer=person, revision_id=revision, idempotency_key=key, **said)

    def talk(self, triple, who) -> None:
        self.attempt(post_message, triple, author=self.person(who, triple), text="Well.")

    def revise(self, triple, who) -> None:
        if EVIDENCE in self.texts["access"]:
            snapshot = newest_snapshot(self.project)
            wording = make_wording(snapshot)
            self.attempt(revise, triple, author=self.person(who, triple), snapshot=snapshot, wording=wording)

    def begin(self, triple, who) -> None:
        snapshot = newest_snapshot(self.project)
        self.attempt(begin_revision, triple, person=self.person(who, triple), snapshot=snapshot)

    def take_back(self, triple, who) -> None:
        self.attempt(withdraw_flag, triple, reviewer=self.person(who, triple), policy=Category.SYNONYM)

    def split(self, triple, who) -> None:
        claims = [Claim("First?", "One."), Claim("Second?", "Other.")]
        self.attempt(split_triple, triple, author=self.person(who, triple), claims=claims)

    def drop(self, triple, who) -> None:
        self.attempt(drop_triple, triple, author=self.person(who, triple), reason="No use.")

    def adjudicate(self, triple, who) -> None:
        decision = list(Decision)[who % 3]
        self.attempt(adjudicate, triple, lead=self.person(who, triple), decision=decision, reason="Read it.")

    def withdraw(self, triple, who) -> None:
        self.attempt(withdraw_draft, triple, author=self.person(who, triple))

    def reopen(self, triple, who) -> None:
        snapshot = newest_snapshot(self.project)
        self.attempt(reopen_as_draft, triple, author=self.person(who, triple), snapshot=snapshot)

    def retire(self, triple, who) -> None:
        person = self.person(who, triple)
        roles = roles_of(person, self.project)
        self.attempt(retire_triple, triple, lead=person, roles=roles, reason=RetireReason.OUT_OF_SCOPE)

    def pin_again(self, triple, who) -> None:
        snapshot = newest_snapshot(self.project)
        self.attempt(re_pin, triple, person=self.person(who, triple), snapshot=snapshot)

    def import_again(self, chance) -> None:
        number = next(_keys)
        kept = EVIDENCE if chance.random() < 0.8 else "Sessions end."
        self.texts["access"] = f"{kept} Edition {number}."
        snapshot = make_snapshot(self.project, self.texts, corpus=self.project.corpora.get())
        refresh_staleness(project=self.project, snapshot=snapshot, at=AT)

    def change_roles(self, chance) -> None:
        person = chance.choice(self.people[1:])
        roles = chance.sample([Role.ANNOTATOR, Role.REVIEWER, Role.LEAD], k=2)
        set_roles(project=self.project, user=person, roles=roles, actor=self.lead, at=AT)

    @invariant()
    def the_state_is_what_the_events_tell(self) -> None:
        for triple in Triple.objects.filter(project=getattr(self, "project", None)):
            told = Event.objects.filter(object_type="triples.triple", object_id=str(triple.pk)).latest("pk").after
            assert (told["state"], told.get("is_stale", False)) == (triple.state, triple.is_stale)

    @invariant()
    def seats_are_two_distinct_and_no_author_sits(self) -> None:
        revisions = Revision.objects.filter(triple__project=getattr(self, "project", None))
        for revision in revisions.select_related("triple").order_by("-pk")[:2]:
            seats = list(ReviewSeat.objects.filter(revision=revision, released_at=None))
            assert len(seats) == len({seat.reviewer_id for seat in seats}) == (2 if revision.submitted_at else 0)
            assert not {seat.reviewer_id for seat in seats} & authors_of(revision.triple)

    @invariant()
    def an_open_round_shows_nobody_anothers_verdict(self) -> None:
        in_review = Triple.objects.filter(project=getattr(self, "project", None), state=State.IN_REVIEW)
        for triple in in_review.order_by("-changed_at", "-pk")[:1]:
            assert len(live_verdicts(triple.current)) < 2
            for person in self.people:
                for round_ in rounds_of(triple, standing_of(triple, person, frozenset(Role.values))):
                    if round_.phase is Phase.OPEN:
                        assert all(verdict.is_own for verdict in round_.verdicts)

    @invariant()
    def a_round_is_counted_by_its_submitted_revisions(self) -> None:
        for triple in Triple.objects.filter(project=getattr(self, "project", None)):
            assert triple.revisions.exclude(submitted_at=None).count() == triple.round


@pytest.mark.slow
@pytest.mark.django_db
def test_whatever_people_do_what_is_always_true_stays_true():
    steps = settings(
        max_examples=4,
        stateful_step_count=60,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        derandomize=True,
        database=None,
    )
    run_state_machine_as_test(Reviews, settings=steps)
