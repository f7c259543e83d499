"""What waits for whom: each queue is its person's own, oldest first."""

from datetime import timedelta

import pytest

from apps.accounts.enums import Role
from apps.review.actions.disputes import post_message
from apps.review.actions.submitting import begin_revision
from apps.review.selectors.queues import (
    disputes_of_others,
    disputes_to_answer,
    next_in_queue,
    review_queue,
    stale_of,
    to_adjudicate,
    waiting_for,
)
from apps.triples.actions.triples import withdraw_draft
from apps.triples.enums import State
from tests.factories import AT, lead_of, make_member
from tests.review.factories import answer, make_disputed, make_in_review, make_triple, reviewers_of
from tests.triples.factories import make_draft


def words(person, project, *roles, at=AT) -> dict[str, int]:
    return {row.word: row.count for row in waiting_for(person, project, frozenset(roles), at)}


def test_the_queue_is_ones_own_and_ends_with_ones_own_verdict(project):
    triple = make_in_review(project)
    one, two = reviewers_of(triple)

    answer(triple, one)

    assert [seat.revision.triple for seat in review_queue(one, project)] == []
    assert [seat.revision.triple for seat in review_queue(two, project)] == [triple]
    assert next_in_queue(one, project) is None


def test_skipping_the_last_one_begins_again(project):
    first, second = make_in_review(project), make_in_review(project)
    reviewer = reviewers_of(first)[0]

    assert next_in_queue(reviewer, project) == first
    assert next_in_queue(reviewer, project, after=first.pk) == second
    assert next_in_queue(reviewer, project, after=second.pk) == first
    assert next_in_queue(reviewer, project, after=10**9) == first


def test_a_dispute_waits_for_author_and_flagger_and_for_a_lead_without_a_part(project):
    triple = make_disputed(project)
    confirmer, flagger = reviewers_of(triple)
    lead = lead_of(project)

    assert [list(disputes_to_answer(p, project)) for p in (triple.author, flagger, lead)] == [[triple], [], []]
    assert [list(disputes_of_others(p, project)) for p in (flagger, confirmer, lead)] == [[triple], [triple], []]
    assert [list(to_adjudicate(p, project)) for p in (lead, confirmer, triple.author)] == [[triple], [], []]


def test_open_work_is_counted_for_each_person(project):
    author = make_member(project, Role.ANNOTATOR, name="Ann")
    make_draft(project, author=author)
    disputed = make_disputed(project, author=author)
    make_in_review(project, author=author)
    make_triple(project, State.ACCEPTED, stale=True, author=author)

    of_author = {"disputes to answer": 1, "drafts to finish": 1, "stale triples": 1}
    assert words(author, project, Role.ANNOTATOR) == of_author
    assert words(author, project, Role.REVIEWER).keys() == {"disputes to answer", "drafts to finish"}
    assert [triple.author for triple in stale_of(author, project)] == [author]
    assert words(make_member(project, Role.ANNOTATOR), project, Role.ANNOTATOR) == {}
    assert words(reviewers_of(disputed)[1], project, Role.REVIEWER) == {"triples to review": 1}
    assert words(lead_of(project), project, Role.LEAD) == {"stale triples": 1}
    later = AT + timedelta(days=3)
    assert words(lead_of(project), project, Role.LEAD, at=later) == {"disputes to adjudicate": 1, "stale triples": 1}


def test_a_dispute_is_answered_in_turns_until_a_revision_is_begun(project):
    triple = make_disputed(project)
    confirmer, flagger = reviewers_of(triple)
    people = (triple.author, flagger, confirmer)

    def turns():
        return [list(disputes_to_answer(person, project)) == [triple] for person in people]

    def others():
        return [list(disputes_of_others(person, project)) == [triple] for person in people]

    seen = [(turns(), others())]
    for author in (triple.author, flagger):
        post_message(project=project, triple_id=triple.pk, author=author, text="See 3.6.", at=AT)
        seen.append((turns(), others()))
    begin_revision(project=project, triple_id=triple.pk, person=triple.author, snapshot=triple.snapshot, at=AT)
    seen.append((turns(), others()))

    assert seen == [
        ([True, False, False], [False, True, True]),
        ([False, True, False], [True, False, True]),
        ([True, False, False], [False, True, True]),
        ([False, False, False], [False, True, True]),
    ]
    assert words(triple.author, project, Role.ANNOTATOR) == {"revisions to finish": 1}


def test_a_withdrawn_draft_is_no_revision_to_finish(project):
    draft = make_draft(project)
    assert words(draft.author, project, Role.ANNOTATOR) == {"drafts to finish": 1}

    withdraw_draft(project=project, triple_id=draft.pk, author=draft.author, at=AT)

    assert words(draft.author, project, Role.ANNOTATOR) == {}


@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.REVIEWER, Role.LEAD])
@pytest.mark.parametrize("size", [1, 3])
def test_open_work_of_every_kind_is_counted_in_one_statement(project, role, size, django_assert_num_queries):
    person = make_member(project, role)
    for _ in range(size):
        make_draft(project, author=person)
        make_disputed(project)

    with django_assert_num_queries(1):
        waiting_for(person, project, frozenset({role}), AT)
