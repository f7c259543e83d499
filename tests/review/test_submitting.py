"""Sending a revision to review, for the first time or again."""

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.review.actions.rounds import SubmitRefused
from apps.review.actions.submitting import begin_revision, submit_triple
from apps.review.enums import VerdictChoice
from apps.review.models import ReviewSeat
from apps.triples.actions.triples import copy_wording, save_draft
from apps.triples.core.checks import WARN
from apps.triples.enums import State
from apps.triples.selectors.draft_checks import BlockChoice, checks_of
from tests.factories import AT, lead_of, make_member
from tests.review.factories import (
    answer_both,
    make_disputed,
    make_in_review,
    reload,
    reviewers_of,
)
from tests.triples.factories import make_draft, make_team, version_of

C, F = VerdictChoice.CONFIRM, VerdictChoice.FLAG


def test_submit_opens_a_round_with_two_seats(project):
    triple = make_in_review(project)

    seats = list(triple.current.seats.order_by("number"))
    assert (triple.state, triple.round, triple.current.round) == (State.IN_REVIEW, 1, 1)
    assert [seat.number for seat in seats] == [1, 2]
    assert triple.current.submitted_at == AT


def test_submit_refuses_while_a_check_stops_it(project):
    triple = make_draft(project, answer="At most 9 hours.")

    with pytest.raises(SubmitRefused, match="One check blocks submission: a figure differs from the evidence"):
        submit_triple(project=project, triple_id=triple.pk, author=triple.author, at=AT)

    assert reload(triple).state == State.DRAFT


def test_submit_refuses_when_only_one_other_reviewer_exists(db):
    project = make_team(reviewers=1)
    author = make_member(project, Role.ANNOTATOR, Role.REVIEWER, name="Both")
    triple = make_draft(project, author=author)

    with pytest.raises(SubmitRefused, match="the project has one"):
        submit_triple(project=project, triple_id=triple.pk, author=author, at=AT)

    assert (reload(triple).state, ReviewSeat.objects.count()) == (State.DRAFT, 0)


def test_the_author_never_gets_a_seat(db):
    project = make_team(reviewers=2)
    author = make_member(project, Role.ANNOTATOR, Role.REVIEWER, name="Both")

    triple = make_in_review(project, author=author)

    assert author not in reviewers_of(triple)


def test_seats_go_to_those_with_the_least_load(db):
    project = make_team(reviewers=4)

    triples = [make_in_review(project) for _ in range(6)]

    load = {person: 0 for triple in triples for person in reviewers_of(triple)}
    for triple in triples:
        for person in reviewers_of(triple):
            load[person] += 1
    assert sorted(load.values()) == [3, 3, 3, 3]


def make_twin(project, **more):
    """A draft whose question is nearly that of a triple in review."""
    make_in_review(project, question="How long may an emergency session last?")
    return make_draft(project, question="How long may the emergency session last?", **more)


def test_a_warning_without_an_answer_is_refused_with_its_sentence(project):
    triple = make_twin(project)

    with pytest.raises(
        SubmitRefused, match="One warning needs your reason why it is all right: nearly the same question exists"
    ):
        submit_triple(project=project, triple_id=triple.pk, author=triple.author, at=AT)

    assert reload(triple).state == State.DRAFT


def test_warnings_are_stored_with_the_revision_and_their_answers(project):
    triple = make_twin(project)
    (warning,) = [check for check in checks_of(project, triple.author, triple.revision) if check.level == WARN]

    submit_triple(
        project=project, triple_id=triple.pk, author=triple.author, at=AT, answers={warning.key: "Another session."}
    )

    assert reload(triple).current.warnings == [
        {
            "key": warning.key,
            "code": "duplicate",
            "sentence": "Nearly the same question exists.",
            "detail": warning.detail,
            "where": "",
            "answer": "Another session.",
        }
    ]


def test_of_several_blocks_the_page_names_the_one_that_a_warning_is_about(client, project):
    triple = make_draft(project, question="Who says that a session lasts at most eight hours, and since when is it so?")
    wording = copy_wording(triple, triple.revision)
    version = version_of(triple.snapshot, "backups")
    blocks = (*wording.blocks, BlockChoice(version.pk, ((0, 39),)))
    save_draft(
        project=project,
        triple_id=triple.pk,
        author=triple.author,
        seen_version=triple.edit_version,
        snapshot=triple.snapshot,
        wording=wording._replace(blocks=blocks, needs_all_blocks=True),
        at=AT,
    )
    answers = {"copied:access": "People ask like that."}
    submit_triple(project=project, triple_id=triple.pk, author=triple.author, at=AT, answers=answers)
    client.force_login(triple.author)

    page = client.get(reverse("review:triple", args=[project.slug, triple.pk])).content.decode()

    part = page.split("Warnings when it was submitted")[1].split("</section>")[0]
    assert 'Passage <span class="id">access</span>' in part


def test_an_answer_saved_in_the_draft_counts_and_is_copied_to_the_next_revision(project):
    triple = make_twin(project)
    (warning,) = [check for check in checks_of(project, triple.author, triple.revision) if check.level == WARN]
    wording = copy_wording(triple, triple.revision)._replace(answers=((warning.key, "Another session."),))
    save_draft(
        project=project,
        triple_id=triple.pk,
        author=triple.author,
        seen_version=triple.edit_version,
        snapshot=triple.snapshot,
        wording=wording,
        at=AT,
    )

    submitted = submit_triple(project=project, triple_id=triple.pk, author=triple.author, at=AT)

    assert dict(copy_wording(submitted, submitted.revision).answers) == {warning.key: "Another session."}


def test_a_warning_that_a_lead_made_blocking_stops_whatever_the_author_says(project):
    project.policies["blocking_checks"] = ["duplicate"]
    project.save()
    triple = make_twin(project)
    answers = {f"duplicate:T-{number:04d}": "All right." for number in range(5)}

    with pytest.raises(SubmitRefused, match="One check blocks submission: nearly the same question exists"):
        submit_triple(project=project, triple_id=triple.pk, author=triple.author, at=AT, answers=answers)


@pytest.mark.parametrize("closed", [False, True])
def test_reviewers_see_the_authors_answer_to_a_warning_once_the_round_has_closed(client, project, closed):
    triple = make_twin(project)
    (warning,) = [check for check in checks_of(project, triple.author, triple.revision) if check.level == WARN]
    answers = {warning.key: "It is another kind of session."}
    submit_triple(project=project, triple_id=triple.pk, author=triple.author, at=AT, answers=answers)
    people = {"author": triple.author, "lead": lead_of(project), "reviewer": reviewers_of(triple)[0]}
    if closed:
        answer_both(triple, C, F)

    page = reverse("review:triple", args=[project.slug, triple.pk])
    told = set()
    for name, person in people.items():
        client.force_login(person)
        if "another kind of session" in client.get(page).content.decode():
            told.add(name)

    assert told == ({"author", "lead", "reviewer"} if closed else {"author", "lead"})


def begun(triple):
    """The second revision of a disputed triple, as it stands when its author opens it."""
    this = {"project": triple.project, "triple_id": triple.pk, "at": AT}
    begin_revision(person=triple.author, snapshot=triple.snapshot, **this)
    return reload(triple)


def test_a_dispute_is_not_answered_with_the_flagged_wording(project):
    triple = begun(make_disputed(project))

    with pytest.raises(SubmitRefused, match=r"Nothing changed since it was flagged\. Change what was flagged, or ask"):
        submit_triple(project=project, triple_id=triple.pk, author=triple.author, at=AT)

    assert (reload(triple).state, reload(triple).round) == (State.DISPUTED, 1)


@pytest.mark.parametrize(
    "change",
    [
        {"question": "How long may a session be?"},
        {"answer": "Eight hours at most."},
        {"note": "Read both paragraphs."},
        {"blocks": "moved"},
    ],
)
def test_any_change_of_the_revision_answers_a_dispute(project, change):
    triple = begun(make_disputed(project))
    wording = copy_wording(triple, triple.revisions.get(number=2))
    if "blocks" in change:
        (block,) = wording.blocks
        change = {"blocks": (block._replace(spans=((0, 15), (16, 36))),)}

    save_draft(
        project=project,
        triple_id=triple.pk,
        author=triple.author,
        seen_version=triple.edit_version,
        snapshot=triple.snapshot,
        wording=wording._replace(**change),
        at=AT,
    )
    sent = submit_triple(project=project, triple_id=triple.pk, author=triple.author, at=AT)

    assert (sent.state, sent.round) == (State.IN_REVIEW, 2)
