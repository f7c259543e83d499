"""What a version was exported as is imported through the same previews as any other file: all of it, or nothing."""

import io

import pyarrow
import pyarrow.parquet
import pytest

from apps.common.errors import InputError, InputErrors
from apps.common.files.tabular import TableFile
from apps.corpus.selectors.import_kinds import kind_named
from apps.goldsets.enums import VersionState
from apps.goldsets.execution import exporting
from apps.judging.selectors import resolved_grades
from apps.queries.models import Query
from tests.factories import AT
from tests.goldsets.factories import make_bench, make_version

pytestmark = pytest.mark.django_db

OPTIONS = {
    "queries": {"format": "auto", "ids": "file", "source": ""},
    "triples": {"format": "auto", "corpus": "", "machine": ""},
    "judgements": {"format": "auto", "columns": "", "grades": "", "name": "", "skip_unknown": False},
}


@pytest.fixture
def bench():
    return make_bench(queries=3)


@pytest.fixture
def export(bench, tmp_path):
    exporting.write(make_version(VersionState.RELEASED, bench), tmp_path / "out", formats=["all"])
    return tmp_path / "out"


def source_of(path) -> TableFile:
    return TableFile(path.name, io.BytesIO(path.read_bytes()))


def options_of(kind: str, bench) -> dict:
    return OPTIONS[kind] | ({"snapshot": str(bench.snapshot.pk)} if kind == "judgements" else {})


def preview(kind: str, path, bench):
    return kind_named(kind).preview(bench.project, source_of(path), options_of(kind, bench), lambda done: None)


def apply(kind: str, path, bench):
    options = options_of(kind, bench)
    return kind_named(kind).apply(bench.project, source_of(path), options, actor=bench.lead, at=AT)


def test_queries_of_parquet_are_those_that_are_here(bench, export):
    before = list(Query.objects.order_by("pk").values())

    plan = preview("queries", export / "parquet/queries.parquet", bench)

    assert not plan.errors
    assert plan.rows == 3
    apply("queries", export / "parquet/queries.parquet", bench)
    texts = {row["outside_id"]: row["text"] for row in before}
    assert dict(Query.objects.values_list("outside_id", "text")) == texts


@pytest.mark.parametrize(
    "name", ["parquet/triples.parquet", "yaml/triples.yaml", "jsonl/triples.jsonl", "rag/{split}.jsonl"]
)
def test_triples_are_read_back_as_drafts_that_say_the_same(bench, export, name):
    split = next(path.stem for path in (export / "rag").iterdir())

    plan = preview("triples", export / name.format(split=split), bench)

    assert not plan.errors
    assert plan.rows == 1


@pytest.mark.parametrize("name", ["trec/qrels.txt", "parquet/judgements.parquet", "csv/judgements.csv"])
def test_grades_are_read_back_as_the_same_grades(bench, export, name):
    before = {(pair.query_id, pair.version_id, pair.grade) for pair in resolved_grades(bench.round)}

    plan = apply("judgements", export / name, bench)

    assert not plan.errors
    imported = bench.project.rounds.latest("pk")
    assert imported != bench.round
    assert {(pair.query_id, pair.version_id, pair.grade) for pair in resolved_grades(imported)} == before


@pytest.mark.parametrize("name", ["judgements/judgements.csv", "judgements/judgements.parquet"])
def test_single_judgements_are_read_back_as_those_of_two_people(bench, export, name):
    plan = apply("judgements", export / name, bench)

    assert not plan.errors
    imported = bench.project.rounds.latest("pk")
    assert imported.judgements.count() == bench.round.judgements.count()
    assert set(imported.judgements.values_list("annotator__name", flat=True)) == {"person 1", "person 2"}


HEADED = {
    "beir": "query-id\tcorpus-id\tscore\n{query}\taccess\t2\n",
    "trec": "query_id iteration docno relevance\n{query} 0 access 2\n",
    "blanks": "qid docid grade\n{query} access 2\n",
}


@pytest.mark.parametrize("text", HEADED.values(), ids=HEADED)
def test_qrels_may_have_a_heading(bench, tmp_path, text):
    path = tmp_path / "qrels.tsv"
    path.write_text(text.format(query=Query.objects.earliest("pk").outside_id))

    apply("judgements", path, bench)

    (pair,) = resolved_grades(bench.project.rounds.latest("pk"))
    assert pair.grade == 2


# Mistakes


def told(kind, path, bench) -> list[tuple]:
    plan = preview(kind, path, bench)
    return [(error.line, error.field, error.value) for error in plan.errors]


def test_a_mistake_below_a_heading_is_named_and_nothing_is_imported(bench, tmp_path):
    path = tmp_path / "qrels.tsv"
    path.write_text(HEADED["beir"].format(query=Query.objects.earliest("pk").outside_id) + "nowhere\taccess\thigh\n")

    assert told("judgements", path, bench) == [(3, "grade", "high")]
    rounds = bench.project.rounds.count()
    with pytest.raises(InputErrors):
        apply("judgements", path, bench)
    assert bench.project.rounds.count() == rounds


def test_a_mistake_in_parquet_is_named_with_its_row(bench, tmp_path):
    path = tmp_path / "queries.parquet"
    table = {"query_id": ["Q900", "Q901"], "text": ["one", "two"], "difficulty": ["easy", "steep"]}
    pyarrow.parquet.write_table(pyarrow.table(table), path)

    assert told("queries", path, bench) == [(2, "difficulty", "steep")]
    with pytest.raises(InputErrors):
        apply("queries", path, bench)
    assert not Query.objects.filter(outside_id="Q900").exists()


def test_contexts_without_ids_are_named(bench, tmp_path):
    path = tmp_path / "samples.jsonl"
    path.write_text('{"user_input": "How long?", "reference": "Eight hours.", "reference_contexts": ["A text."]}\n')

    assert [(line, field) for line, field, _ in told("triples", path, bench)] == [(1, "context_ids")]


@pytest.mark.parametrize("kind", ["queries", "triples", "judgements"])
def test_damaged_parquet_is_refused_in_words(bench, tmp_path, kind):
    path = tmp_path / "damaged.parquet"
    path.write_bytes(b"PAR1" + b"x" * 100 + b"PAR1")

    with pytest.raises((InputError, InputErrors), match="damaged Parquet"):
        preview(kind, path, bench)
