"""What a run returned, in one form for blocks of the snapshot and for passages of the system's own."""

import json

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from apps.common.digests import canonical_json
from apps.corpus.actions.corpora import freeze_snapshot
from apps.metrics.expected.rules import Returned
from apps.queries.models import Query
from apps.retrieval.core.ranking import as_stored, from_stored
from apps.retrieval.enums import Returns
from apps.retrieval.execution.ranking import complete_run
from apps.retrieval.execution.run_reading import add_run
from apps.retrieval.models import Ranking, Run
from apps.retrieval.selectors.runs import reach_of_run, returned_of
from tests.corpus.factories import import_text, make_corpus
from tests.factories import AT, lead_of, make_project
from tests.reading import plain_words
from tests.retrieval.factories import (
    QUESTIONS,
    import_lines,
    import_results,
    make_queries,
    make_run,
    make_snapshot,
    make_system,
    trec,
)

BLOCKS = {
    "b1": {"document_id": "handbook", "text": "A red key.", "page_start": 3, "page_end": 4},
    "b2": {"document_id": "handbook", "text": "A green window.", "page_start": 5},
    "b3": {"document_id": "rules", "text": "A zebra."},
}
OWN = [Returned("c7", "handbook", (3, 3), "A red"), Returned(text="key."), Returned(document_id="rules")]
PASSAGES = st.lists(
    st.builds(
        Returned,
        st.text(max_size=5),
        st.text(max_size=5),
        st.none() | st.tuples(st.integers(0, 99), st.integers(0, 99)),
        st.text(max_size=20),
        st.none() | st.tuples(st.integers(0, 99), st.integers(0, 99)),
    )
)


@pytest.fixture
def project(db):
    project = make_project()
    make_queries(project)
    return project


@pytest.fixture
def snapshot(project):
    corpus = make_corpus(project, {})
    lines = (json.dumps({"block_id": key, "title": "", **block}) for key, block in BLOCKS.items())
    import_text(corpus, "\n".join(lines))
    return freeze_snapshot(corpus_id=corpus.pk, actor=lead_of(project), at=AT, name="Spring")


def returning_passages(project, snapshot, passages=OWN) -> Run:
    """A complete run that returned these passages for Q01."""
    system = project.systems.first() or make_system(project)
    run = add_run(system, snapshot, 10, actor=lead_of(project), at=AT, returns=Returns.PASSAGES)
    query = Query.objects.get(project=project, outside_id="Q01")
    Ranking.objects.create(run=run, query=query, packed=b"", length=len(passages), passages=as_stored(passages))
    return complete_run(run, actor=lead_of(project), at=AT)


def keys(project, *outside_ids: str) -> list[int]:
    return [Query.objects.get(project=project, outside_id=one).pk for one in outside_ids]


def test_blocks_come_with_their_document_and_pages(project, snapshot):
    rows = [("Q01", "b2", 3.0), ("Q01", "b1", 2.0), ("Q01", "b3", 1.0), ("Q02", "b1", 1.0)]
    run = import_lines(project, snapshot, trec(rows)).run
    q01, q02, q03 = keys(project, "Q01", "Q02", "Q03")

    found = dict(returned_of(run, [q02, q01, q03]))

    one, two = Returned("b1", "handbook", (3, 4)), Returned("b2", "handbook", (5, 5))
    assert found == {q01: [two, one, Returned("b3", "rules")], q02: [one]}


def test_texts_come_when_they_are_asked_for_and_depth_cuts(project, snapshot):
    run = import_lines(project, snapshot, trec([("Q01", "b3", 3.0), ("Q01", "b1", 2.0)])).run

    ((_, top),) = returned_of(run, keys(project, "Q01"), with_text=True, depth=1)

    assert top == [Returned("b3", "rules", None, "A zebra.")]


def test_passages_of_its_own_come_as_the_system_returned_them(project, snapshot):
    run = returning_passages(project, snapshot)
    (q01,) = keys(project, "Q01")

    assert dict(returned_of(run, [q01], with_text=True)) == {q01: OWN}
    assert dict(returned_of(run, [q01], depth=2)) == {q01: [one._replace(text="") for one in OWN[:2]]}


@pytest.mark.parametrize("with_text", [False, True])
def test_it_takes_the_same_statements_however_many_queries(project, snapshot, with_text, django_assert_max_num_queries):
    run = import_lines(project, snapshot, trec([(key, "b1", 3.0) for key in ("Q01", "Q02", "Q03")])).run
    queries = keys(project, *QUESTIONS)

    with django_assert_max_num_queries(2):
        assert len(list(returned_of(run, queries, with_text=with_text))) == len(queries) == 3


@given(PASSAGES)
def test_what_is_stored_is_read_back_as_it_was(passages):
    stored = json.loads(canonical_json(as_stored(passages)))

    assert from_stored(stored) == passages


def test_the_digest_of_a_run_covers_its_passages(project, snapshot):
    run, other = (
        returning_passages(project, snapshot, passages)
        for passages in (OWN, [*OWN[:2], OWN[2]._replace(document_id="rule")])
    )

    assert run.digest != other.digest
    assert run.effective_depth == 10


@pytest.mark.parametrize(
    ("returns", "packed", "passages"),
    [
        (Returns.BLOCKS, b"", []),
        (Returns.PASSAGES, b"", None),
        (Returns.PASSAGES, b"\0" * 12, []),
    ],
)
def test_a_ranking_that_does_not_fit_its_run_is_refused(project, returns, packed, passages):
    snapshot = make_snapshot(project)
    run = add_run(make_system(project), snapshot, 10, actor=lead_of(project), at=AT, returns=returns)
    query = Query.objects.get(project=project, outside_id="Q01")

    with pytest.raises(IntegrityError, match="blocks, packed, or passages"), transaction.atomic():
        Ranking.objects.create(run=run, query=query, packed=packed, length=0, passages=passages)


def test_what_a_run_returns_is_one_of_two_and_fixed(project):
    snapshot = make_snapshot(project)
    run = add_run(make_system(project), snapshot, 10, actor=lead_of(project), at=AT)

    with pytest.raises(IntegrityError, match="fixed from the start"), transaction.atomic():
        Run.objects.update(returns=Returns.PASSAGES)
    with pytest.raises(IntegrityError, match="blocks or passages"), transaction.atomic():
        Run.objects.create(
            project=project,
            system=run.system,
            snapshot=snapshot,
            tag="other",
            depth=1,
            returns="pages",
            created_by=lead_of(project),
            created_at=AT,
        )


DOCUMENTS = {"a": "rules", "b": "rules", "c": "guide", "d": "map", "e": "map"}
WORDS = {"a": "red key", "b": "red door", "c": "green window", "d": "blue", "e": "blue sea"}


def test_the_reach_of_a_run_is_what_a_hand_counts(client, project):
    """Q01 has two blocks of rules that share one of three words; Q02 has rules and guide, which share none."""
    make_queries(project)
    snapshot = make_snapshot(project, WORDS, documents=DOCUMENTS)
    rows = [("Q01", "a", 2.0), ("Q01", "b", 1.0), ("Q02", "a", 2.0), ("Q02", "c", 1.0), ("Q03", "a", 1.0)]
    run = import_lines(project, snapshot, trec(rows)).run

    found = reach_of_run(run)

    assert (found.depth, found.queries) == (10, 3)
    assert (found.documents.reached, found.documents.documents) == (2, 3)
    assert [(one.outside_id, one.passages) for one in found.documents.missed] == [("map", 2)]
    assert (found.sources.value, found.sources.n) == (pytest.approx((0.5 + 1 + 1) / 3), 3)
    assert (found.distance.value, found.distance.n) == (pytest.approx((2 / 3 + 1) / 2), 2)
    assert found.distance.low < found.distance.value < found.distance.high
    assert reach_of_run(run, depth=1).documents.reached == 1

    client.force_login(lead_of(project))
    page = plain_words(client.get(reverse("retrieval:reach", args=[project.slug, run.pk])))
    answer = client.get(f"/api/v1/projects/{project.slug}/runs/{run.pk}/reach/").json()
    assert "<b>2 of 3 documents</b> (67 %) are in the first 10 results of at least one query." in page
    assert "<b>0.833</b>" in page
    assert answer["documents"]["missed"] == [{"outside_id": "map", "title": "", "passages": 2}]
    assert (answer["sources"]["n"], answer["documents"]["share"]) == (3, 2 / 3)


def test_the_reach_of_passages_of_its_own_is_of_the_documents_that_the_system_names(project):
    make_queries(project)
    snapshot = make_snapshot(project, WORDS, documents=DOCUMENTS)
    rows = [
        {"qid": "Q01", "rank": 1, "document_id": "rules", "text": "red key"},
        {"qid": "Q01", "rank": 2, "document_id": "elsewhere", "text": "key"},
        {"qid": "Q02", "rank": 1, "id": "c7"},
    ]

    found = reach_of_run(import_results(project, snapshot, *rows).run)

    assert (found.documents.reached, [one.outside_id for one in found.documents.missed]) == (1, ["map", "guide"])
    assert (found.sources.value, found.sources.n) == (1.0, 1)
    assert (found.distance.value, found.distance.n) == (0.5, 1)


@pytest.mark.django_db
def test_a_run_without_results_reaches_nothing_and_defines_nothing(client):
    project = make_project()
    make_queries(project, {"Q01": "xylophone"})
    run = make_run(project, make_snapshot(project, WORDS, documents=DOCUMENTS))

    found = reach_of_run(run)

    assert (found.queries, found.documents.reached, found.sources.value, found.distance.value) == (0, 0, None, None)
    client.force_login(lead_of(project))
    page = plain_words(client.get(reverse("retrieval:reach", args=[project.slug, run.pk])))
    assert "Not defined. No query has two results with texts." in page


def test_the_reach_of_a_run_takes_as_many_statements_for_few_as_for_many(project):
    make_queries(project, {f"Q{at:02}": "red" for at in range(40)})
    snapshot = make_snapshot(project, WORDS, documents=DOCUMENTS)
    few = import_lines(project, snapshot, trec([("Q01", "a", 2.0), ("Q01", "b", 1.0)], "few")).run
    rows = [
        (f"Q{at:02}", block, score) for at in range(40) for block, score in zip("abc", (3.0, 2.0, 1.0), strict=True)
    ]
    many = import_lines(project, snapshot, trec(rows, "many")).run

    counts = []
    for run in (few, many):
        with CaptureQueriesContext(connection) as asked:
            reach_of_run(run)
        counts.append(len(asked))

    assert counts[0] == counts[1] <= 6
