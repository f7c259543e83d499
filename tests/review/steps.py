"""What people do to triples in any order, each step chosen and worded by drawn numbers."""

import hashlib
from contextlib import suppress
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from apps.accounts.actions.people import deactivate_user
from apps.accounts.actions.projects import change_project, set_roles
from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.accounts.selectors import roles_of
from apps.common.errors import Refusal
from apps.jobs.models import Notification
from apps.review.actions.candidate_blocks import note_miss
from apps.review.actions.disputes import Claim, adjudicate, drop_triple, post_message, split_triple, withdraw_flag
from apps.review.actions.seating import free_abandoned_seats, give_back_seat, pull_seat, reseat
from apps.review.actions.submitting import begin_revision, give_verdict, re_pin, revise, reword, submit_triple
from apps.review.enums import Category, Decision, NoteKind, RateSide, Reason, VerdictChoice
from apps.review.models import Verdict
from apps.review.selectors.participation import participation_of
from apps.review.selectors.queues import disputes_of_others, disputes_to_answer, review_queue, to_adjudicate
from apps.review.selectors.reviews import rounds_of
from apps.review.selectors.seats import open_load
from apps.review.selectors.tracking import tallies
from apps.triples.actions.imports import adopt_candidate, reject_candidate
from apps.triples.actions.triples import (
    copy_wording,
    refresh_staleness,
    reopen_as_draft,
    retire_triple,
    save_draft,
    start_draft,
    withdraw_draft,
)
from apps.triples.enums import RetireReason, State
from apps.triples.models import Triple
from apps.triples.selectors.imported import made_by
from tests.factories import make_member
from tests.review.elsewhere import applied, draw_from, entry, take_in
from tests.triples.factories import make_snapshot, make_wording

EVIDENCE = "A session lasts at most eight hours."
SUGGESTED = {
    State.DRAFT: ["submit", "submit", "submit", "adopt", "save", "withdraw"],
    State.IN_REVIEW: ["confirm", "flag", "confirm", "flag", "pull", "reseat", "flag", "give_back", "free"],
    State.DISPUTED: ["revise", "take_back", "talk", "begin", "split", "drop", "adjudicate", "submit", "revise"],
    State.ACCEPTED: ["pin_again", "pin_again", "retire", "begin", "submit", "doubt", "reword"],
    State.DROPPED: ["reopen"],
    State.SPLIT: ["submit"],
    State.RETIRED: ["reopen"],
    State.WITHDRAWN: ["reopen"],
}
ANYTHING = sorted({name for names in SUGGESTED.values() for name in names})
AROUND = [
    "write",
    "write",
    "write_by_machine",
    "import_again",
    "bring_in",
    "bring_in",
    "change_roles",
    "leave",
    "join",
    "pass_time",
    "reassign",
]
FEWEST_LIVE, FEWEST_PEOPLE = 5, 7


def question(number: int) -> str:
    """Words of their own for each question, so that none is nearly another."""
    digest = hashlib.sha256(str(number).encode()).hexdigest()
    return f"May {digest[:8]} {digest[8:16]} access {digest[16:24]} last?"


class Steps:
    """Needs the world that the machine of `test_machine` starts in. Whatever is refused changes nothing."""

    @rule(act=st.integers(0, 99), pick=st.integers(0, 99), who=st.integers(0, 99), how=st.integers(0, 99))
    def somebody_does_something(self, act: int, pick: int, who: int, how: int) -> None:
        self.turn += 1
        type(self).taken += 1
        self.touched.clear()
        ended = [State.SPLIT, State.RETIRED, State.WITHDRAWN]
        triples = Triple.objects.filter(project=self.project)
        live = list(triples.exclude(state__in=ended).order_by("number").values_list("pk", flat=True))
        if len(live) < FEWEST_LIVE or act >= 92:
            name = AROUND[0] if len(live) < FEWEST_LIVE else AROUND[how % len(AROUND)]
            return self.count(name, getattr(self, name)(pick, who))
        whole = triples.select_related("project", "author", "current")
        triple = whole.get(pk=live[pick % len(live)]) if pick < 90 else whole.order_by("-number")[pick % 5 % len(live)]
        names = SUGGESTED[State(triple.state)] if act < 80 else ANYTHING
        name = names[how % len(names)]
        return self.count(name, getattr(self, name)(triple, who))

    def count(self, name: str, done: object) -> None:
        if done:
            type(self).did[name] = self.did.get(name, 0) + 1

    def person(self, who: int, triple: Triple | None = None) -> User:
        """Somebody; with a triple, mostly one of those who have a part in it."""
        if triple is None or who % 4 == 0:
            return self.people[who // 4 % len(self.people)]
        seats = triple.current.seats.filter(released_at=None).select_related("reviewer").order_by("number")
        seated = [seat.reviewer for seat in seats if seat.reviewer in self.people]
        near = [*seated, *seated, self.lead, *([triple.author] * 2 if triple.author in self.people else [])]
        return near[who // 4 % len(near)]

    def attempt(self, act: Any, triple: Triple, **more: Any) -> bool:
        """Do it, or be refused and find the triple as it was."""
        self.touched.add(triple.pk)
        before = Triple.objects.filter(pk=triple.pk).values_list().get()
        try:
            act(project=self.project, triple_id=triple.pk, at=self.now, **more)
        except Refusal:
            assert Triple.objects.filter(pk=triple.pk).values_list().get() == before
            return False
        return True

    def write(self, pick: int, who: int) -> bool:
        return self._start(self.person(who), is_machine_written=False)

    def write_by_machine(self, pick: int, who: int) -> bool:
        return self._start(self.person(who), is_machine_written=True)

    def _start(self, author: User, *, is_machine_written: bool) -> bool:
        if EVIDENCE not in self.texts["access"]:
            return False
        wording = make_wording(self.snapshot, question=question(next(self.number)))
        more = {"snapshot": self.snapshot, "wording": wording, "is_machine_written": is_machine_written}
        self.touched.add(start_draft(project=self.project, author=author, at=self.now, **more).pk)
        return True

    def adopt(self, triple: Triple, who: int) -> bool:
        if who % 5 == 0:
            return self.attempt(reject_candidate, triple, person=self.person(who), reason="Not of use.")
        return self.attempt(adopt_candidate, triple, person=self.person(who))

    def save(self, triple: Triple, who: int) -> bool:
        revision = triple.revisions.order_by("-number").first()
        author = revision.author if who % 3 else self.person(who)
        more = {"snapshot": revision.snapshot, "wording": copy_wording(triple, revision)}
        return self.attempt(save_draft, triple, author=author, seen_version=triple.edit_version - (who == 7), **more)

    def submit(self, triple: Triple, who: int) -> bool:
        writing = triple.revisions.filter(submitted_at=None).select_related("author").first()
        author = writing.author if writing and who % 4 and writing.author in self.people else self.person(who, triple)
        return self.attempt(submit_triple, triple, author=author)

    def confirm(self, triple: Triple, who: int) -> bool:
        return self.verdict(triple, who, choice=VerdictChoice.CONFIRM, reasons=[])

    def flag(self, triple: Triple, who: int) -> bool:
        said = {"choice": VerdictChoice.FLAG, "reasons": [Reason.OVERSTATED], "category": Category.NUMERIC}
        return self.verdict(triple, who, **said)

    def verdict(self, triple: Triple, who: int, **said: Any) -> bool:
        """Whoever looks on sees the same before and after, as long as the round stays open."""
        waiting = triple.current.seats.filter(released_at=None, answered_at=None, reviewer__in=self.people)
        reviewer = (waiting.first().reviewer if waiting and who % 3 else None) or self.person(who, triple)
        onlooker = self.people[self.turn % len(self.people)]
        looks = self.turn % 4 == 0
        face = self.face(onlooker, triple) if looks else ()
        key = f"m{next(self.number)}"
        done = self.attempt(
            give_verdict, triple, reviewer=reviewer, revision_id=triple.current_id, idempotency_key=key, **said
        )
        if done:
            given = Verdict.objects.get(reviewer=reviewer, idempotency_key=key)
            self.verdicts[given.pk] = self._row(given)
            if looks and onlooker != reviewer and Triple.objects.filter(pk=triple.pk, state=State.IN_REVIEW).exists():
                assert self.face(onlooker, triple) == face
        return done

    def face(self, person: User, triple: Triple) -> tuple:
        """What of the reviews shows itself to `person`, in lists, counts and the page of one triple."""
        roles = roles_of(person, self.project)
        rounds = rounds_of(triple, participation_of(triple, person, roles))
        return (
            [
                (view.phase, [(v.choice, v.who.pk) for v in view.verdicts], [r.pk for r in view.reviewers])
                for view in rounds
            ],
            list(review_queue(person, self.project).values_list("pk", flat=True)),
            list(disputes_to_answer(person, self.project).values_list("pk", flat=True)),
            list(disputes_of_others(person, self.project).values_list("pk", flat=True)),
            list(to_adjudicate(person, self.project).values_list("pk", flat=True)),
            list(Notification.objects.filter(person=person).order_by("pk").values_list("pk", "sentence", "read_at")),
            open_load(self.project),
            tallies(self.project, RateSide.REVIEWER) if self.turn % 8 == 0 else (),
        )

    def talk(self, triple: Triple, who: int) -> bool:
        return self.attempt(post_message, triple, author=self.person(who, triple), text="Well.")

    def revise(self, triple: Triple, who: int) -> bool:
        if EVIDENCE not in self.texts["access"]:
            return False
        wording = make_wording(self.snapshot, question=question(next(self.number)))
        return self.attempt(revise, triple, author=self.person(who, triple), snapshot=self.snapshot, wording=wording)

    def begin(self, triple: Triple, who: int) -> bool:
        return self.attempt(begin_revision, triple, person=self.person(who, triple), snapshot=self.snapshot)

    def doubt(self, triple: Triple, who: int) -> bool:
        return self.attempt(note_miss, triple, kind=NoteKind.UNCLEAR, person=self.person(who))

    def reword(self, triple: Triple, who: int) -> bool:
        """Mostly on a question that somebody has just found unclear."""
        if EVIDENCE not in self.texts["access"]:
            return False
        if who % 4:
            self.doubt(triple, who + 1)
        wording = make_wording(self.snapshot, question=question(next(self.number)))
        return self.attempt(reword, triple, person=self.person(who, triple), snapshot=self.snapshot, wording=wording)

    def take_back(self, triple: Triple, who: int) -> bool:
        return self.attempt(withdraw_flag, triple, reviewer=self.person(who, triple), policy=Category.SYNONYM)

    def split(self, triple: Triple, who: int) -> bool:
        blocks = copy_wording(triple, triple.current).blocks
        claims = [Claim(question(next(self.number)), "At most eight hours.", blocks) for _ in range(2)]
        return self.attempt(split_triple, triple, author=self.person(who, triple), claims=claims)

    def drop(self, triple: Triple, who: int) -> bool:
        return self.attempt(drop_triple, triple, author=self.person(who, triple), reason="No use.")

    def adjudicate(self, triple: Triple, who: int) -> bool:
        decision = list(Decision)[who % 3]
        person = self.person(who) if who % 4 == 0 else self.lead
        return self.attempt(adjudicate, triple, lead=person, decision=decision, reason="Read it.")

    def withdraw(self, triple: Triple, who: int) -> bool:
        return self.attempt(withdraw_draft, triple, author=self.person(who, triple))

    def reopen(self, triple: Triple, who: int) -> bool:
        return self.attempt(reopen_as_draft, triple, author=self.person(who, triple), snapshot=self.snapshot)

    def retire(self, triple: Triple, who: int) -> bool:
        person = self.person(who)
        roles = roles_of(person, self.project)
        return self.attempt(retire_triple, triple, lead=person, roles=roles, reason=RetireReason.OUT_OF_SCOPE)

    def pin_again(self, triple: Triple, who: int) -> bool:
        return self.attempt(re_pin, triple, person=self.person(who, triple), snapshot=self.snapshot)

    # Seats --------------------------------------------------------------------------------------------------------

    def pull(self, triple: Triple, who: int) -> bool:
        """Somebody asks for the next seat, whichever triple that is in."""
        seat = pull_seat(project=self.project, reviewer=self.person(who), at=self.now)
        if seat is not None:
            self.touched.add(seat.revision.triple_id)
        return seat is not None

    def give_back(self, triple: Triple, who: int) -> bool:
        return self.attempt(give_back_seat, triple, reviewer=self.person(who, triple))

    def reseat(self, triple: Triple, who: int) -> bool:
        seat = triple.current.seats.filter(released_at=None).order_by("number")[who % 2 : who % 2 + 1].first()
        successor = self.people[who % len(self.people)] if who % 3 == 0 else None
        holder, lead = seat.reviewer if seat else None, self.people[0 if who % 5 else who % len(self.people)]
        return self.attempt(reseat, triple, reviewer=holder, successor=successor, lead=lead, reason="Away.")

    def free(self, triple: Triple, who: int) -> bool:
        return self.attempt(free_abandoned_seats, triple)

    # Around -------------------------------------------------------------------------------------------------------

    def import_again(self, pick: int, who: int) -> bool:
        kept = EVIDENCE if who % 5 else "Sessions end."
        self.texts["access"] = f"{kept} Edition {next(self.number)}."
        self.snapshot = make_snapshot(self.project, self.texts, corpus=self.corpus, at=self.now)
        marked = refresh_staleness(project=self.project, snapshot=self.snapshot, at=self.now)
        self.touched |= {triple.pk for triple in marked}
        return True

    def bring_in(self, pick: int, who: int) -> bool:
        """Three that were reviewed elsewhere, written here or outside; taken as accepted, and some of them drawn."""
        if EVIDENCE not in self.texts["access"]:
            return False
        self.now += timedelta(seconds=1)  # an import is known by its time
        author = self.person(who).email if who % 3 else "Somebody outside"
        entries = [entry(added_by=author, question=question(next(self.number))) for _ in range(3)]
        item = applied(self.project, *entries, lead=self.lead, at=self.now)
        if pick % 4:
            take_in(item, lead=self.lead, at=self.now)
        with suppress(Refusal):
            draw_from(item, 1 + pick % 3, lead=self.lead, at=self.now)
        self.touched |= set(made_by(item).values_list("pk", flat=True))
        return True

    def change_roles(self, pick: int, who: int) -> bool:
        """Anybody but the first lead gets other roles, or none at all; who left may come back the same way."""
        person = self.people[1 + who % (len(self.people) - 1)]
        roles = [role for bit, role in enumerate((Role.ANNOTATOR, Role.REVIEWER, Role.LEAD)) if pick >> bit & 1]
        set_roles(project=self.project, user=person, roles=roles, actor=self.operator, at=self.now)
        return True

    def leave(self, pick: int, who: int) -> bool:
        """For good: the account is closed. Seats and drafts stay behind."""
        if len(self.people) <= FEWEST_PEOPLE:
            return False
        person = self.people.pop(1 + who % (len(self.people) - 1))
        deactivate_user(user_id=person.pk, actor=self.operator, at=self.now)
        return True

    def join(self, pick: int, who: int) -> bool:
        if len(self.people) >= 2 * FEWEST_PEOPLE:
            return False
        roles = [(Role.REVIEWER,), (Role.ANNOTATOR,), (Role.REVIEWER, Role.ANNOTATOR)][pick % 3]
        self.people.append(make_member(self.project, *roles))
        return True

    def pass_time(self, pick: int, who: int) -> bool:
        """Mostly forwards; now and then a clock is set back."""
        self.now += timedelta(hours=12 * (who % 10) - 24)
        return True

    def reassign(self, pick: int, who: int) -> bool:
        """The project changes how it gives seats, while rounds are open."""
        policies = {"review_assignment": ("load", "pull")[pick % 2], "review_lease_hours": 24 * (1 + who % 3)}
        self.project = change_project(
            project_id=self.project.pk, name=self.project.name, policies=policies, actor=self.lead, at=self.now
        )
        return True
