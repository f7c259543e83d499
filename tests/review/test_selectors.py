import pytest

from apps.accounts.enums import Role
from apps.review.enums import Choice
from apps.review.selectors import (
    disputed_with,
    disputes_to_settle,
    next_in_queue,
    resolutions_of,
    review_queue,
    to_adjudicate,
    waiting_for,
)
from apps.triples.enums import State
from apps.triples.selectors import accepted_triples, changed_blocks, states_of
from tests.factories import lead_of, make_member
from tests.review.factories import (
    CHANGED,
    answer,
    answer_both,
    make_accepted,
    make_disputed,
    make_in_review,
    make_triple,
    reviewers_of,
)
from tests.triples.factories import make_draft, make_snapshot, make_team


@pytest.fixture
def project(db):
    return make_team()


def words(person, project, *roles) -> dict[str, int]:
    return {row.word: row.count for row in waiting_for(person, project, frozenset(roles))}


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

    assert [list(disputes_to_settle(p, project)) for p in (triple.author, flagger, confirmer, lead)] == [
        [triple],
        [triple],
        [],
        [],
    ]
    assert list(disputed_with(confirmer, project)) == [triple]
    assert [list(to_adjudicate(p, project)) for p in (lead, confirmer, triple.author)] == [[triple], [], []]


def test_what_waits_is_counted_for_each_person(project):
    author = make_member(project, Role.ANNOTATOR, name="Ann")
    make_draft(project, author=author)
    disputed = make_disputed(project, author=author)
    make_in_review(project, author=author)
    make_triple(project, State.ACCEPTED, stale=True, author=author)

    assert words(author, project, Role.ANNOTATOR) == {"disputes to settle": 1, "drafts to finish": 1}
    assert words(reviewers_of(disputed)[1], project, Role.REVIEWER) == {
        "triples to review": 1,
        "disputes to settle": 1,
    }
    assert words(lead_of(project), project, Role.LEAD) == {"disputes to adjudicate": 1, "stale triples": 1}


def test_states_and_resolutions_are_counted(project):
    make_triple(project, State.ACCEPTED, stale=True)
    make_accepted(project)
    answer_both(make_in_review(project), Choice.FLAG, Choice.FLAG)

    counted = states_of(project)

    assert (counted["accepted"], counted["dropped"], counted["stale"], counted["draft"]) == (2, 1, 1, 0)
    assert set(counted) == {*State.values, "stale"}
    assert resolutions_of(project) == {"consensus": 2}


def test_accepted_triples_come_by_number_with_their_wording(project, django_assert_num_queries):
    make_in_review(project)
    accepted = [make_accepted(project), make_triple(project, State.ACCEPTED, stale=True)]
    other_corpus = make_snapshot(project)
    snapshot = accepted[0].snapshot

    with django_assert_num_queries(2):
        found = list(accepted_triples(project, snapshot))
        texts = [block.version.block.outside_id for t in found for block in t.current.expected_blocks.all()]

    assert (found, texts) == (accepted, ["access", "access"])
    assert list(accepted_triples(project, other_corpus)) == []


def test_only_changed_texts_count_as_changed(project):
    triple = make_accepted(project)
    moved = make_snapshot(project, {k: v for k, v in CHANGED.items() if k != "access"}, corpus=triple.snapshot.corpus)

    block = triple.current.expected_blocks.get().version.block
    assert changed_blocks(project, moved) == [(triple.pk, block.pk)]
    assert changed_blocks(project, triple.snapshot) == []
