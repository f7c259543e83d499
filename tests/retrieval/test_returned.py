"""What a run returned, in one form for blocks of the snapshot and for passages of the system's own."""

import json

import pytest
from django.db import IntegrityError, transaction
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
from apps.retrieval.selectors.runs import returned_of
from tests.corpus.factories import import_text, make_corpus
from tests.factories import AT, lead_of, make_project
from tests.retrieval.factories import QUESTIONS, import_lines, make_queries, make_snapshot, make_system, trec

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
    run = add_run(system, snapshot, 10, "", "", "", lead_of(project), AT, returns=Returns.PASSAGES)
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
    run = add_run(make_system(project), snapshot, 10, "", "", "", lead_of(project), AT, returns=returns)
    query = Query.objects.get(project=project, outside_id="Q01")

    with pytest.raises(IntegrityError, match="blocks, packed, or passages"), transaction.atomic():
        Ranking.objects.create(run=run, query=query, packed=packed, length=0, passages=passages)


def test_what_a_run_returns_is_one_of_two_and_fixed(project):
    snapshot = make_snapshot(project)
    run = add_run(make_system(project), snapshot, 10, "", "", "", lead_of(project), AT)

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
