"""Two real connections at once: one outcome, on PostgreSQL and on SQLite."""

import threading
from collections.abc import Callable

import pytest
from django.db import close_old_connections, connection

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.common.errors import Refusal
from apps.review.actions import Decision, give_verdict, revise, submit_triple
from apps.review.enums import Choice
from apps.review.models import Resolution, ReviewSeat, Verdict
from apps.triples.actions import save_draft, start_draft
from apps.triples.enums import State
from apps.triples.models import Triple
from tests.factories import AT, lead_of, make_member
from tests.review.factories import (
    answer,
    decide,
    make_disputed,
    make_draft,
    make_in_review,
    reload,
    reviewers_of,
    take_back,
)
from tests.triples.factories import make_team, make_wording

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(*acts: Callable[[], object]) -> list[object]:
    """Run every act in a thread with a connection of its own, all let go together; results or refusals in order."""
    gate = threading.Barrier(len(acts))
    results: list[object] = [None] * len(acts)

    def run(index: int, act: Callable[[], object]) -> None:
        close_old_connections()
        try:
            gate.wait(timeout=10)
            results[index] = act()
        except Refusal as refusal:
            results[index] = refusal
        except BaseException as error:
            results[index] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(index, act)) for index, act in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    faults = [r for r in results if isinstance(r, BaseException) and not isinstance(r, Refusal)]
    assert faults == []
    return results


def moves_of(triple: Triple) -> list[str]:
    events = Event.objects.filter(object_type="triples.triple", object_id=str(triple.pk)).order_by("pk")
    return [event.action.removeprefix("triple.") for event in events]


@pytest.fixture
def project():
    return make_team()


@pytest.mark.parametrize("turn", range(4))
def test_both_reviewers_at_once_close_the_round_once(project, turn):
    triple = make_in_review(project)
    one, two = reviewers_of(triple)
    second = (Choice.CONFIRM, Choice.FLAG)[turn % 2]

    at_once(lambda: answer(triple, one), lambda: answer(triple, two, second))

    expected = {Choice.CONFIRM: ("accepted", "agree"), Choice.FLAG: ("disputed", "disagree")}[second]
    assert (reload(triple).state, moves_of(triple)) == (expected[0], ["start", "submit", expected[1]])
    assert Verdict.objects.count() == 2


def test_the_same_verdict_sent_at_once_has_one_effect(project):
    triple = make_in_review(project)
    reviewer = reviewers_of(triple)[0]

    def send() -> Verdict:
        return give_verdict(
            project=project,
            triple_id=triple.pk,
            revision_id=triple.current_id,
            reviewer=reviewer,
            choice=Choice.CONFIRM,
            reasons=[],
            idempotency_key="twice",
            at=AT,
        )

    results = at_once(*[send] * 4)

    assert Verdict.objects.count() == 1
    assert results == [Verdict.objects.get()] * 4


def test_the_flagger_withdraws_while_the_author_revises(project):
    triple = make_disputed(project)
    wording = make_wording(triple.snapshot)

    results = at_once(
        lambda: take_back(triple, reviewers_of(triple)[1]),
        lambda: revise(
            project=project,
            triple_id=triple.pk,
            author=triple.author,
            snapshot=triple.snapshot,
            wording=wording,
            at=AT,
        ),
    )

    assert sum(isinstance(result, Refusal) for result in results) == 1
    last = moves_of(triple)[-1]
    assert (reload(triple).state, last) in {(State.ACCEPTED, "withdraw_flag"), (State.IN_REVIEW, "revise")}


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


def test_two_tabs_saving_at_once_keep_one(project):
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
