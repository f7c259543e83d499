"""Two real connections at once: one outcome, on PostgreSQL and on SQLite (in a file, as in earnest)."""

import itertools
from collections.abc import Callable

import pytest

from apps.accounts.actions.projects import change_project, set_roles
from apps.accounts.enums import Role
from apps.accounts.selectors import roles_of
from apps.audit.models import Event
from apps.common.errors import Refusal
from apps.review.actions.seating import assign_reviewers, give_back_seat, pull_seat, reseat
from apps.review.actions.submitting import give_verdict, submit_triple
from apps.review.enums import Decision, VerdictChoice
from apps.review.models import Resolution, ReviewSeat, Verdict
from apps.triples.actions.imports import adopt_candidate, reject_candidate
from apps.triples.actions.triples import retire_triple, save_draft, start_draft, withdraw_draft
from apps.triples.enums import RetireReason, State, Step
from apps.triples.models import Triple
from apps.triples.selectors.triples import newest_snapshot
from apps.triples.workflow import edge_for
from tests.factories import AT, lead_of, make_member
from tests.races import at_once, overlapping
from tests.review.factories import (
    answer,
    answer_both,
    decide,
    make_disputed,
    make_draft,
    make_in_review,
    reload,
    reviewers_of,
)
from tests.review.parts import Cast, perform
from tests.triples.factories import make_team, make_wording
from tests.walks import often

pytestmark = pytest.mark.django_db(transaction=True)
TIMES = often(2, 5)  # how often each pair meets: whoever is faster differs


def moves_of(triple: Triple) -> list[str]:
    events = Event.objects.filter(object_type="triples.triple", object_id=str(triple.pk)).order_by("pk")
    return [event.action.removeprefix("triple.") for event in events]


@pytest.fixture
def project():
    return make_team()


CLOSES = {0: ("accepted", "agree"), 1: ("disputed", "disagree"), 2: ("dropped", "reject")}


def test_both_reviewers_at_once_close_the_round_once(project):
    for first, second in itertools.product(VerdictChoice, VerdictChoice):
        for _ in range(TIMES):
            triple = make_in_review(project)
            one, two = reviewers_of(triple)

            at_once(
                lambda triple=triple, one=one, first=first: answer(triple, one, first),
                lambda triple=triple, two=two, second=second: answer(triple, two, second),
            )

            state, step = CLOSES[[first, second].count(VerdictChoice.FLAG)]
            assert (reload(triple).state, moves_of(triple)) == (state, ["start", "submit", step])
            assert Verdict.objects.filter(revision__triple=triple).count() == 2


def test_a_verdict_changed_while_the_other_is_given_counts_or_comes_too_late(project):
    for _ in range(TIMES):
        triple = make_in_review(project)
        one, two = reviewers_of(triple)
        answer(triple, one)

        changed, given = at_once(
            lambda triple=triple, one=one: answer(triple, one, VerdictChoice.FLAG),
            lambda triple=triple, two=two: answer(triple, two),
        )

        assert isinstance(given, Verdict)
        assert reload(triple).state == (State.ACCEPTED if isinstance(changed, Refusal) else State.DISPUTED)


def test_the_same_verdict_sent_at_once_has_one_effect(project):
    triple = make_in_review(project)
    reviewer = reviewers_of(triple)[0]

    def send() -> Verdict:
        return give_verdict(
            project=project,
            triple_id=triple.pk,
            revision_id=triple.current_id,
            reviewer=reviewer,
            choice=VerdictChoice.CONFIRM,
            reasons=[],
            idempotency_key="twice",
            at=AT,
        )

    results = at_once(*[send] * 4)

    assert Verdict.objects.count() == 1
    assert results == [Verdict.objects.get()] * 4


ENDS = {
    Step.REVISE: "author",
    Step.SPLIT: "author",
    Step.DROP: "author",
    Step.WITHDRAW_FLAG: "second",
    Step.ADJUDICATE_ACCEPT: "lead",
    Step.ADJUDICATE_RETURN: "lead",
    Step.ADJUDICATE_DROP: "lead",
}


@pytest.mark.parametrize("one", ENDS)
def test_of_two_ways_to_end_a_dispute_at_once_one_is_taken(project, one):
    """With itself, and with each that comes later: each two meet once."""
    author = make_member(project, Role.ANNOTATOR, name="Author")
    for other in [*ENDS][[*ENDS].index(one) :]:
        triple = make_disputed(project, author=author)
        people = {"author": author, "second": reviewers_of(triple)[1], "lead": lead_of(project)}
        cast = Cast(reload(triple), people)

        results = at_once(
            lambda cast=cast: perform(cast, one, cast.people[ENDS[one]]),
            lambda cast=cast, other=other: perform(cast, other, cast.people[ENDS[other]]),
        )

        taken = [step for step, result in zip((one, other), results, strict=True) if not isinstance(result, Refusal)]
        assert len(taken) == 1
        assert reload(triple).state == edge_for(State.DISPUTED, False, taken[0]).target
        assert moves_of(triple) == ["start", "submit", "disagree", taken[0].value]


# What an author may try while a reviewer gives the verdict that closes the round, and the verdict that would open it.
MEANWHILE = {
    Step.WITHDRAW: None,
    Step.SUBMIT: None,
    Step.REVISE: VerdictChoice.FLAG,
    Step.SPLIT: VerdictChoice.FLAG,
    Step.DROP: VerdictChoice.FLAG,
}


@pytest.mark.parametrize("step", MEANWHILE)
def test_an_author_comes_before_the_last_verdict_or_after_it(project, step):
    author = make_member(project, Role.ANNOTATOR, name="Author")
    for choice in (VerdictChoice.CONFIRM, VerdictChoice.FLAG) * TIMES:
        triple = make_in_review(project, author=author)
        one, two = reviewers_of(triple)
        answer(triple, one)
        cast = Cast(reload(triple), {})

        given, done = at_once(
            lambda triple=triple, choice=choice, two=two: answer(triple, two, choice),
            lambda cast=cast: perform(cast, step, author),
        )

        closing = {VerdictChoice.CONFIRM: Step.AGREE, VerdictChoice.FLAG: Step.DISAGREE}[choice]
        assert isinstance(given, Verdict)
        refused = isinstance(done, Refusal)
        assert refused or MEANWHILE[step] == choice
        assert moves_of(triple) == ["start", "submit", closing.value, *([] if refused else [step.value])]


def test_a_lead_retires_while_the_verdict_that_accepts_is_given(project):
    lead = lead_of(project)
    for _ in range(TIMES):
        triple = make_in_review(project)
        one, two = reviewers_of(triple)
        answer(triple, one)

        given, retired = at_once(
            lambda triple=triple, two=two: answer(triple, two),
            lambda triple=triple: retire_triple(
                project=project,
                triple_id=triple.pk,
                lead=lead,
                roles=roles_of(lead, project),
                reason=RetireReason.OUT_OF_SCOPE,
                at=AT,
            ),
        )

        assert isinstance(given, Verdict)
        assert reload(triple).state == (State.ACCEPTED if isinstance(retired, Refusal) else State.RETIRED)


def test_a_draft_is_submitted_or_withdrawn(project):
    for _ in range(TIMES):
        triple = make_draft(project)
        mine = {"project": project, "triple_id": triple.pk, "author": triple.author, "at": AT}

        results = at_once(lambda mine=mine: submit_triple(**mine), lambda mine=mine: withdraw_draft(**mine))

        assert sum(isinstance(result, Refusal) for result in results) == 1
        assert moves_of(triple)[1:] in (["submit"], ["withdraw"])
        assert ReviewSeat.objects.filter(revision__triple=triple).count() == 2 * (reload(triple).state == "in_review")


def make_candidate(project) -> Triple:
    snapshot = newest_snapshot(project)
    importer = make_member(project, Role.ANNOTATOR, name="Importer")
    wording = make_wording(snapshot)
    return start_draft(
        project=project, author=importer, snapshot=snapshot, wording=wording, is_machine_written=True, at=AT
    )


@pytest.mark.parametrize("other", [adopt_candidate, reject_candidate])
def test_of_two_people_at_one_candidate_one_has_it(project, other):
    ann, ben = (make_member(project, Role.ANNOTATOR, name=name) for name in ("Ann", "Ben"))
    for _ in range(TIMES):
        triple = make_candidate(project)
        this = {"project": project, "triple_id": triple.pk, "at": AT}
        more = {} if other is adopt_candidate else {"reason": "No use."}

        results = at_once(
            lambda this=this: adopt_candidate(person=ann, **this),
            lambda this=this, more=more: other(person=ben, **more, **this),
        )

        assert sum(isinstance(result, Refusal) for result in results) == 1
        now = reload(triple)
        if now.state == State.DRAFT:
            assert now.author == now.adopted_by == now.current.author
            assert now.author in (ann, ben)
        assert len(moves_of(triple)) == 2


def pulled(project) -> None:
    """Reviewers of the project take their seats from a queue."""
    change_project(
        project_id=project.pk,
        name=project.name,
        policies={"review_assignment": "pull"},
        actor=lead_of(project),
        at=AT,
    )
    project.refresh_from_db()


def test_of_four_reviewers_who_pull_at_once_two_have_the_seats(project):
    pulled(project)
    people = [make_member(project, Role.REVIEWER) for _ in range(4)]
    for _ in range(TIMES):
        triple = make_in_review(project)

        results = at_once(
            *[lambda person=person: pull_seat(project=project, reviewer=person, at=AT) for person in people]
        )

        seats = list(ReviewSeat.objects.filter(revision__triple=triple, released_at=None))
        assert sorted(seat.number for seat in seats) == [1, 2]
        assert {seat.reviewer for seat in seats} == {seat.reviewer for seat in results if seat is not None}
        assert sum(seat is None for seat in results) == 2
        answer_both(triple, VerdictChoice.CONFIRM, VerdictChoice.CONFIRM)


def test_two_reviewers_at_the_last_seat_and_one_has_it(project):
    pulled(project)
    first, one, two = (make_member(project, Role.REVIEWER) for _ in range(3))
    for _ in range(TIMES):
        triple = make_in_review(project)
        pull_seat(project=project, reviewer=first, at=AT)

        results = at_once(
            lambda: pull_seat(project=project, reviewer=one, at=AT),
            lambda: pull_seat(project=project, reviewer=two, at=AT),
        )

        assert sum(seat is None for seat in results) == 1
        assert ReviewSeat.objects.filter(revision__triple=triple, released_at=None).count() == 2
        answer_both(triple, VerdictChoice.CONFIRM, VerdictChoice.CONFIRM)


def test_a_seat_is_answered_or_given_back(project):
    pulled(project)
    for _ in range(TIMES):
        make_in_review(project)
        reviewer = make_member(project, Role.REVIEWER)
        seat = pull_seat(project=project, reviewer=reviewer, at=AT)
        triple = seat.revision.triple

        given, back = at_once(
            lambda triple=triple, reviewer=reviewer: answer(triple, reviewer),
            lambda triple=triple, reviewer=reviewer: give_back_seat(
                project=project, triple_id=triple.pk, reviewer=reviewer, at=AT
            ),
        )

        seat.refresh_from_db()
        assert isinstance(given, Refusal) != isinstance(back, Refusal)
        assert (seat.released_at is None) == isinstance(given, Verdict)


@pytest.mark.parametrize("many", [False, True])
def test_a_seat_is_answered_or_given_to_somebody_else(project, many):
    heir, lead = make_member(project, Role.REVIEWER), lead_of(project)
    for _ in range(TIMES):
        triple = make_in_review(project)
        holder = reviewers_of(triple)[0]
        this = {"project": project, "triple_id": triple.pk, "lead": lead, "reason": "Away.", "at": AT}
        chosen = None if heir in reviewers_of(triple) else heir
        among = None if chosen is None else [heir.pk]
        give_away = (
            (lambda this=this, holder=holder, among=among: assign_reviewers(replace=holder.pk, among=among, **this))
            if many
            else (lambda this=this, holder=holder, heir=chosen: reseat(reviewer=holder, successor=heir, **this))
        )

        given, moved = at_once(lambda triple=triple, holder=holder: answer(triple, holder), give_away)

        kept = isinstance(given, Verdict)
        assert kept == isinstance(moved, Refusal)
        assert (holder in reviewers_of(triple)) == kept
        assert len(reviewers_of(triple)) == 2
        assert Verdict.objects.filter(revision__triple=triple).count() == kept


def test_two_leads_give_the_same_seat_away_once(project):
    heirs = [make_member(project, Role.REVIEWER) for _ in range(2)]
    leads = [lead_of(project), make_member(project, Role.LEAD, name="Second")]
    for _ in range(TIMES):
        triple = make_in_review(project)
        holder = reviewers_of(triple)[0]
        free = [heir for heir in heirs if heir not in reviewers_of(triple)] or [None]

        results = at_once(
            *[
                lambda triple=triple, lead=lead, heir=heir, holder=holder: reseat(
                    project=project,
                    triple_id=triple.pk,
                    reviewer=holder,
                    successor=heir,
                    lead=lead,
                    reason="Away.",
                    at=AT,
                )
                for lead, heir in zip(leads, itertools.cycle(free), strict=False)
            ]
        )

        assert sum(isinstance(result, Refusal) for result in results) == 1
        assert len(reviewers_of(triple)) == 2


def test_two_leads_adjudicate_at_once(project):
    triple = make_disputed(project)
    other = make_member(project, Role.LEAD, name="Second")

    results = at_once(
        lambda: decide(triple, lead_of(project), Decision.ACCEPT), lambda: decide(triple, other, Decision.DROP)
    )

    assert sum(isinstance(result, Refusal) for result in results) == 1
    assert Resolution.objects.filter(triple=triple).count() == 1
    assert reload(triple).state in {State.ACCEPTED, State.DROPPED}


def test_submitting_twice_at_once_opens_one_round(project):
    triple = make_draft(project)

    def submit() -> Triple:
        return submit_triple(project=project, triple_id=triple.pk, author=triple.author, at=AT)

    results = at_once(submit, submit)

    assert sum(isinstance(result, Refusal) for result in results) == 1
    assert (reload(triple).round, ReviewSeat.objects.count()) == (1, 2)


def test_of_two_tabs_saving_at_once_one_succeeds(project):
    triple = make_draft(project)
    seen = reload(triple).edit_version

    def save(answer: str) -> Callable[[], Triple]:
        return lambda: save_draft(
            project=project,
            triple_id=triple.pk,
            author=triple.author,
            seen_version=seen,
            snapshot=triple.snapshot,
            wording=make_wording(triple.snapshot, answer=answer),
            at=AT,
        )

    results = at_once(save("One."), save("Two."))

    assert sum(isinstance(result, Refusal) for result in results) == 1
    assert reload(triple).edit_version == seen + 1


def test_drafts_started_at_once_have_numbers_of_their_own(project):
    author = make_member(project, Role.ANNOTATOR)
    snapshot = project.corpora.get().snapshots.get()

    at_once(*[lambda: start_draft(project=project, author=author, snapshot=snapshot, at=AT)] * 6)

    assert sorted(Triple.objects.values_list("number", flat=True)) == [1, 2, 3, 4, 5, 6]


@pytest.mark.postgres
def test_a_verdict_of_somebody_who_is_just_removed_is_rejected():
    project = make_team()
    triple = make_in_review(project)
    reviewer = reviewers_of(triple)[0]

    _, verdict = overlapping(
        lambda: set_roles(project=project, user=reviewer, roles=[], actor=lead_of(project), at=AT),
        lambda: answer(triple, reviewer),
    )

    assert isinstance(verdict, Refusal)
    assert "no longer a reviewer" in verdict.sentence
    assert not Verdict.objects.exists()


@pytest.mark.postgres
def test_somebody_is_removed_after_the_verdict_they_are_giving():
    project = make_team()
    triple = make_in_review(project)
    reviewer = reviewers_of(triple)[0]

    def let_go():
        set_roles(project=project, user=reviewer, roles=[], actor=lead_of(project), at=AT)
        return Verdict.objects.count()

    verdict, given = overlapping(lambda: answer(triple, reviewer), let_go)

    assert (verdict.choice, given) == (VerdictChoice.CONFIRM, 1)
