"""Subtopics in a version: frozen, counted, exported, read again, and measured."""

import csv
import io
import json

import numpy as np
import pytest

from apps.common.files.tabular import TableFile
from apps.evaluation.actions.scoring import EvaluationRefused, request_evaluation
from apps.evaluation.selectors.rankings import judged_of
from apps.goldsets.enums import VersionState
from apps.goldsets.execution import exporting
from apps.goldsets.formats.verification import verify
from apps.goldsets.models import VersionGrade
from apps.judging.actions.imports import import_judgements
from apps.judging.actions.seats import claim_seats
from apps.judging.execution.judgement_import import read_draft
from apps.judging.selectors.pairs import resolved_grades
from apps.metrics.columns import Ranked
from apps.metrics.files.reading import load_qrels
from apps.metrics.measures.registry import measure_run, parse_measures
from apps.metrics.vocabulary import Vocabulary
from apps.queries.actions.queries import create_query, edit_query
from apps.queries.models import Query
from tests.factories import AT, lead_of
from tests.goldsets.factories import make_bench, make_version
from tests.judging.factories import give, people_of
from tests.retrieval.factories import import_lines, trec
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db

NOTHING_RANKED = Ranked(*np.empty((2, 0), dtype=np.int64), np.empty(0))
FACETS = [{"id": "when", "words": "When accounts are closed"}, {"id": "who", "words": "Who closes them"}]


def faceted_bench():
    """Two queries, one of them with subtopics; what two people choose is the first of them for the first passage."""
    bench = make_bench(queries=2, triples=0, judge=False)
    first = Query.objects.filter(project=bench.project).order_by("outside_id")[0]
    edit_query(query_id=first.pk, actor=bench.lead, at=AT, facets=FACETS)
    for person in people_of(bench.round):
        while seats := claim_seats(round_=bench.round, annotator=person, n=10, at=AT):
            for seat in seats:
                grade = len(seat.entry.version.block.outside_id) % 4
                chosen = ["when"] if grade == 3 else []
                asked = {"facets": chosen} if seat.query_id == first.pk else {}
                give(seat, person, grade, **asked)
    return bench


@pytest.fixture
def version():
    return make_version(VersionState.RELEASED, faceted_bench(), test_share=0.0)


def test_a_version_freezes_subtopics_and_what_was_chosen(version):
    first, second = version.queries.order_by("outside_id")

    assert (first.fields["facets"], "facets" in second.fields) == (FACETS, False)
    assert set(map(str, VersionGrade.objects.filter(query=second).values_list("facets", flat=True))) == {"None"}
    chosen = VersionGrade.objects.filter(query=first).values_list("grade", "facets")
    assert dict(chosen) == {0: [], 2: [], 3: ["when"]}
    counts = version.manifest["counts"]
    assert (counts["queries_with_facets"], counts["grades_with_facets"]) == (1, 3)


def test_its_files_have_them_and_are_intact(version, tmp_path):
    exporting.write(version, tmp_path, formats=["all"])
    first, second = version.queries.order_by("outside_id")

    assert verify(tmp_path).is_intact
    lines = [json.loads(line) for line in (tmp_path / "jsonl/judgements.jsonl").read_text().splitlines()]
    assert {line["query_id"]: "facets" in line for line in lines} == {first.outside_id: True, second.outside_id: False}
    queries = [json.loads(line) for line in (tmp_path / "jsonl/queries.jsonl").read_text().splitlines()]
    assert [query.get("facets") for query in queries] == [FACETS, None]
    assert '<subtopic number="when"> When accounts are closed </subtopic>' in (tmp_path / "trec/topics.txt").read_text()
    rows = [line.split() for line in (tmp_path / "trec/diversity-qrels.txt").read_text().splitlines()]
    assert {(query, facet, int(grade)) for query, facet, _, grade in rows} == {
        (first.outside_id, "when", 0), (first.outside_id, "when", 3), (first.outside_id, "who", 0),
    }  # fmt: skip
    answers = list(csv.DictReader((tmp_path / "judgements/judgements.csv").open(encoding="utf-8-sig")))
    assert {(row["grade"], row["facets"]) for row in answers if row["query_id"] == first.outside_id} == {
        ("0", ""), ("2", ""), ("3", "when"),
    }  # fmt: skip
    judged = load_qrels(tmp_path / "trec/diversity-qrels.txt", Vocabulary(), with_facets=True)
    assert judged.facets is not None
    assert len(rows) == len(judged.facets.grade) == 6


@pytest.mark.parametrize("name", ["jsonl/judgements.jsonl", "trec/diversity-qrels.txt"])
def test_what_was_exported_is_read_with_its_subtopics(version, tmp_path, name):
    exporting.write(version, tmp_path, formats=["all"])
    data = (tmp_path / name).read_bytes()
    other = make_bench(queries=1, triples=0, judge=False)
    wanted = {query.outside_id: query.fields.get("facets", []) for query in version.queries.all()}
    for outside_id, facets in wanted.items():
        create_query(
            project=other.project, outside_id=outside_id, text=outside_id, facets=facets, actor=other.lead, at=AT
        )
    form = "jsonl" if name.endswith("jsonl") else "qrels"
    source = TableFile(name, io.BytesIO(data))

    read = read_draft(source, project=other.project, snapshot=other.snapshot, format=form)
    done = import_judgements(project=other.project, snapshot=other.snapshot, draft=read, actor=other.lead, at=AT)

    found = {pair.grade: pair.facets for pair in resolved_grades(done.round) if pair.facets is not None}
    assert found == ({0: [], 2: [], 3: ["when"]} if form == "jsonl" else {0: [], 3: ["when"]})
    locked = Query.objects.filter(project=other.project, facets_locked_at__isnull=False)
    assert [query.outside_id for query in locked] == [outside_id for outside_id, facets in wanted.items() if facets]


def test_rows_by_subtopics_that_no_query_has_here_keep_the_best_grade_and_say_so():
    bench = make_bench(queries=1, triples=0, judge=False)
    query = Query.objects.get(project=bench.project).outside_id
    block = bench.snapshot.entries.first().block.outside_id
    source = TableFile("web.qrels", io.BytesIO(f"{query} 1 {block} 1\n{query} 2 {block} 3\n".encode()))

    read = read_draft(source, project=bench.project, snapshot=bench.snapshot, format="qrels")

    assert [row.facets for row in read.rows] == [None]
    assert [warning.message for warning in read.errors.warnings] == [
        "1 row judges a pair for one more facet; the best grade counts, and no query has these subtopics here"
    ]


def test_measures_of_subtopics_are_scored_where_there_are_some(version):
    project = version.gold_set.project
    first, second = version.queries.order_by("outside_id")
    blocks = list(VersionGrade.objects.filter(query=first).order_by("-grade").values_list("block_id", flat=True))
    rows = [(query.outside_id, block, 9.0 - rank) for query in (first, second) for rank, block in enumerate(blocks)]
    run = import_lines(project, version.snapshot, trec(rows, "tag")).run

    made = request_evaluation(
        project=project, run_id=run.pk, version_id=version.pk, measures="alpha_nDCG@10 STREC@1 nDCG@10",
        actor=lead_of(project), at=AT,
    )  # fmt: skip
    run_jobs()
    made.refresh_from_db()

    assert made.is_scored, made.job.error
    found = {score.measure: (score.mean, score.n) for score in made.scores.all()}
    assert found["alpha_nDCG@10"] == (1.0, 1), "of the query that has subtopics"
    assert found["STREC@1"] == (1.0, 1)
    assert found["nDCG@10"][1] == 2


def test_queries_without_subtopics_have_no_value_by_them_and_the_other_measures_go_on(version):
    """As on a split, or in a slice, of which no query has any."""
    plain = version.queries.order_by("outside_id").last()
    ground = judged_of(version, "dev", {plain.outside_id})

    values = measure_run(parse_measures("STREC@5 alpha_nDCG@5 nDCG@5"), ground.judged, NOTHING_RANKED, range(9))

    assert np.isnan(values[:, :2]).all()
    assert values[:, 2].tolist() == [0.0]


def test_a_version_without_subtopics_is_not_measured_by_them(bench):
    version = make_version(VersionState.RELEASED, bench, test_share=0.0)
    run = import_lines(bench.project, bench.snapshot, trec(_any(version), "tag")).run

    with pytest.raises(EvaluationRefused, match="counts subtopics, and no grade of v1 names one"):
        request_evaluation(
            project=bench.project, run_id=run.pk, version_id=version.pk, measures="alpha_nDCG@10", actor=bench.lead,
            at=AT,
        )  # fmt: skip


def _any(version) -> list[tuple[str, str, float]]:
    grade = VersionGrade.objects.filter(version=version).select_related("query").first()
    return [(grade.query.outside_id, grade.block_id, 1.0)]
