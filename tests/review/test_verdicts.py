"""Confirming and flagging, and what two verdicts add up to."""

import itertools

import pytest

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.review.actions.submitting import VerdictRefused, give_verdict, revise
from apps.review.enums import Category, Reason, VerdictChoice
from apps.review.models import Verdict
from apps.triples.enums import State
from apps.triples.models import Triple
from tests.factories import AT
from tests.review.factories import (
    answer,
    answer_both,
    make_disputed,
    make_in_review,
    reload,
    reviewers_of,
)
from tests.triples.factories import make_team, make_wording

C, F = VerdictChoice.CONFIRM, VerdictChoice.FLAG


ENDS = {
    (C, C): (State.ACCEPTED, "consensus", False),
    (C, F): (State.DISPUTED, "", True),
    (F, C): (State.DISPUTED, "", True),
    (F, F): (State.DROPPED, "", False),
}


@pytest.mark.parametrize("pair", list(itertools.product((C, F), repeat=2)))
def test_two_verdicts_close_the_round(project, pair):
    triple = answer_both(make_in_review(project), *pair)

    assert (triple.state, triple.resolution, triple.was_disputed) == ENDS[pair]


def test_one_verdict_changes_nothing_on_the_triple(project):
    triple = make_in_review(project)
    before = Triple.objects.filter(pk=triple.pk).values().get()
    events = Event.objects.count()

    answer(triple, reviewers_of(triple)[0], F)

    assert Triple.objects.filter(pk=triple.pk).values().get() == before
    assert Event.objects.count() == events


def test_a_change_of_mind_supersedes_before_the_round_closes(project):
    triple = make_in_review(project)
    one, two = reviewers_of(triple)
    first = answer(triple, one, F)

    second = answer(triple, one, C)
    answer(triple, two, C)

    assert second.supersedes == first
    assert (reload(triple).state, Verdict.objects.count()) == (State.ACCEPTED, 3)


def test_the_same_key_twice_has_one_effect_and_the_same_answer(project):
    triple = make_in_review(project)
    reviewer = reviewers_of(triple)[0]
    sent = {
        "project": project,
        "triple_id": triple.pk,
        "revision_id": triple.current_id,
        "reviewer": reviewer,
        "choice": C,
        "reasons": [],
        "idempotency_key": "once",
        "at": AT,
    }

    first, second = give_verdict(**sent), give_verdict(**sent)

    assert (first, Verdict.objects.count()) == (second, 1)

    with pytest.raises(VerdictRefused, match="another verdict"):
        give_verdict(**sent | {"choice": F, "reasons": [Reason.OTHER], "note": "No."})
    answer(triple, reviewers_of(triple)[1], C)
    assert give_verdict(**sent) == first, "also once the round is closed"
    with pytest.raises(VerdictRefused, match="The round is closed"):
        answer(triple, reviewer, F)


def test_strangers_to_the_round_and_authors_get_no_verdict(db):
    project = make_team(reviewers=3)
    triple = make_in_review(project)
    seated = reviewers_of(triple)
    unseated = next(m.user for m in project.memberships.filter(role=Role.REVIEWER) if m.user not in seated)

    with pytest.raises(VerdictRefused, match="You are not a reviewer in this round"):
        answer(triple, unseated)
    with pytest.raises(VerdictRefused, match="Authors cannot review"):
        answer(triple, triple.author)


def test_a_verdict_on_an_older_revision_is_refused(project):
    triple = make_disputed(project)
    old = triple.current_id
    revise(
        project=project,
        triple_id=triple.pk,
        author=triple.author,
        snapshot=triple.snapshot,
        wording=make_wording(triple.snapshot),
        at=AT,
    )

    with pytest.raises(VerdictRefused, match="no longer under review"):
        give_verdict(
            project=project,
            triple_id=triple.pk,
            revision_id=old,
            reviewer=reviewers_of(triple)[0],
            choice=C,
            reasons=[],
            idempotency_key="late",
            at=AT,
        )


@pytest.mark.parametrize(
    ("verdict", "sentence"),
    [
        ({"choice": "maybe"}, "A verdict is"),
        ({"choice": C, "reasons": [Reason.OTHER]}, "has no reasons"),
        ({"choice": C, "category": Category.OTHER}, "has no reasons"),
        ({"choice": F, "reasons": []}, "at least one"),
        ({"choice": F, "reasons": ["rubbish"]}, "at least one"),
        ({"choice": F, "reasons": [Reason.OVERSTATED] * 2}, "once"),
        ({"choice": F, "reasons": [Reason.OVERSTATED], "category": ""}, "choose what is wrong"),
        ({"choice": F, "reasons": [Reason.OVERSTATED], "category": "rubbish"}, "one of the four"),
        ({"choice": F, "reasons": [Reason.WRONG_BLOCK], "category": Category.NUMERIC}, "Also flag the answer"),
        ({"choice": F, "reasons": [Reason.OTHER], "category": "", "note": " "}, "explain under"),
    ],
)
def test_a_verdict_that_is_not_whole_is_refused(project, verdict, sentence):
    triple = make_in_review(project)

    with pytest.raises(VerdictRefused, match=sentence):
        answer(triple, reviewers_of(triple)[0], **verdict)
