from apps.review.enums import VerdictChoice
from apps.triples.enums import State
from apps.triples.selectors.triples import accepted_triples, expected_texts, read_accepted, states_of
from tests.review.factories import (
    answer_both,
    make_accepted,
    make_in_review,
    make_triple,
    reload,
)
from tests.triples.factories import make_snapshot


def test_states_are_counted(project):
    make_triple(project, State.ACCEPTED, stale=True)
    make_accepted(project)
    answer_both(make_in_review(project), VerdictChoice.FLAG, VerdictChoice.FLAG)

    counted = states_of(project)

    assert (counted["accepted"], counted["dropped"], counted["stale"], counted["draft"]) == (2, 1, 1, 0)
    assert set(counted) == {*State.values, "stale"}


def test_accepted_triples_come_by_number_with_their_wording(project, django_assert_num_queries):
    make_in_review(project)
    accepted = [make_accepted(project), make_triple(project, State.ACCEPTED, stale=True)]
    other_corpus = make_snapshot(project)
    snapshot = accepted[0].snapshot

    with django_assert_num_queries(2):
        found = read_accepted(accepted_triples(project, snapshot), {}, {})
        expected = expected_texts(triple.revision_id for triple in found)

    assert [(each.pk, each.label, each.question, each.answer, each.is_stale) for each in found] == [
        (triple.pk, triple.label, triple.revision.question, triple.revision.answer, triple.is_stale)
        for triple in map(reload, accepted)
    ]
    assert [text.block for triple in found for text in expected[triple.revision_id]] == ["access", "access"]
    assert read_accepted(accepted_triples(project, other_corpus), {}, {}) == []
