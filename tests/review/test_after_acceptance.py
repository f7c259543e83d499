"""What happens to a triple once it is accepted or dropped."""

import pytest

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.review.actions.rounds import SubmitRefused
from apps.review.actions.submitting import re_pin, submit_triple
from apps.review.enums import VerdictChoice
from apps.triples.actions.triples import refresh_staleness, reopen_as_draft, start_draft
from apps.triples.enums import State
from apps.triples.selectors.draft_checks import Wording
from tests.factories import AT, lead_of, make_member
from tests.review.factories import (
    CHANGED,
    answer,
    make_accepted,
    make_triple,
    reload,
    reviewers_of,
)
from tests.triples.factories import TEXTS, make_draft, make_snapshot, make_wording

C, F = VerdictChoice.CONFIRM, VerdictChoice.FLAG


def test_a_changed_block_marks_the_triple_stale_and_others_not(project):
    stale = make_accepted(project)
    fresh = make_accepted(
        project,
        key="rotation",
        evidence="A root key is rotated",
        answer="It is rotated.",
        question="What about root keys?",
    )
    newer = make_snapshot(project, CHANGED, corpus=stale.snapshot.corpus)

    marked = refresh_staleness(project=project, snapshot=newer, at=AT)

    assert marked == [stale]
    assert (reload(stale).is_stale, reload(fresh).is_stale) == (True, False)
    assert refresh_staleness(project=project, snapshot=newer, at=AT) == []


def test_re_pinning_moves_unchanged_evidence_into_a_new_round(project):
    triple = make_triple(project, State.ACCEPTED, stale=True)
    newer = triple.snapshot.corpus.snapshots.get(number=2)

    pinned = re_pin(project=project, triple_id=triple.pk, person=triple.author, snapshot=newer, at=AT)

    block = pinned.current.expected_blocks.get()
    assert (pinned.state, pinned.is_stale, pinned.snapshot, pinned.round) == (State.IN_REVIEW, False, newer, 2)
    assert [block.version.text[a:b] for a, b in block.spans] == ["A session lasts at most eight hours."]


def test_re_pinning_keeps_what_the_author_answered_to_warnings_whoever_pins(project):
    first = make_accepted(project)
    alike = make_draft(project, question=first.revision.question)
    answers = {f"duplicate:{first.label}": "It asks about another door."}
    submit_triple(project=project, triple_id=alike.pk, author=alike.author, at=AT, answers=answers)
    alike = reload(alike)
    for reviewer in reviewers_of(alike):
        answer(alike, reviewer)
    newer = make_snapshot(project, CHANGED, corpus=first.snapshot.corpus)
    refresh_staleness(project=project, snapshot=newer, at=AT)

    pinned = re_pin(project=project, triple_id=alike.pk, person=lead_of(project), snapshot=newer, at=AT)

    (kept,) = pinned.revision.warnings
    assert (kept["key"], kept["answer"]) == next(iter(answers.items()))
    assert (pinned.state, pinned.round) == (State.IN_REVIEW, 2)


def test_re_pinning_is_refused_when_the_evidence_is_gone(project):
    triple = make_accepted(project)
    newer = make_snapshot(project, TEXTS | {"access": "All is new."}, corpus=triple.snapshot.corpus)
    refresh_staleness(project=project, snapshot=newer, at=AT)

    with pytest.raises(SubmitRefused, match="does not contain the evidence word for word"):
        re_pin(project=project, triple_id=triple.pk, person=triple.author, snapshot=newer, at=AT)

    assert (reload(triple).state, reload(triple).is_stale) == (State.ACCEPTED, True)


def test_a_dropped_triple_reopens_as_a_draft_with_a_new_revision(project):
    triple = make_triple(project, State.DROPPED)

    reopened = reopen_as_draft(
        project=project, triple_id=triple.pk, author=triple.author, snapshot=triple.snapshot, at=AT
    )
    again = submit_triple(project=project, triple_id=triple.pk, author=triple.author, at=AT)

    assert (reopened.state, again.state, again.round, again.current.number) == ("draft", "in_review", 2, 2)


@pytest.mark.parametrize(
    "state",
    [*[(state, False) for state in State], (State.ACCEPTED, True)],
    ids=lambda pair: f"{pair[0]}{' stale' if pair[1] else ''}",
)
def test_every_state_is_reached_by_real_actions_and_shown_by_its_events(project, state):
    name, stale = state

    triple = make_triple(project, name, stale=stale)

    last = Event.objects.filter(object_type="triples.triple", object_id=str(triple.pk)).latest("pk")
    assert (triple.state, triple.is_stale) == (name, stale)
    assert last.after["state"] == name


def test_a_machine_written_draft_needs_somebody_who_adopts_it(project):
    snapshot = project.corpora.get().snapshots.get()
    author = make_member(project, Role.ANNOTATOR)
    triple = start_draft(
        project=project,
        author=author,
        snapshot=snapshot,
        wording=make_wording(snapshot),
        is_machine_written=True,
        at=AT,
    )

    with pytest.raises(SubmitRefused, match="A machine wrote it"):
        submit_triple(project=project, triple_id=triple.pk, author=author, at=AT)


def test_an_empty_draft_is_saved_and_not_submitted(project):
    snapshot = project.corpora.get().snapshots.get()
    author = make_member(project, Role.ANNOTATOR)

    triple = start_draft(project=project, author=author, snapshot=snapshot, wording=Wording(), at=AT)

    with pytest.raises(SubmitRefused, match="3 checks block submission; the first: no question yet"):
        submit_triple(project=project, triple_id=triple.pk, author=author, at=AT)
