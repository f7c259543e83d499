"""What a version was exported as is imported through the same previews as any other file: all of it, or nothing."""

import io
import json
from copy import deepcopy

import pyarrow
import pyarrow.parquet
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.common.errors import InputError, InputErrors
from apps.common.files.faults import shown
from apps.common.files.tabular import TableFile
from apps.corpus.models import BlockVersion
from apps.corpus.selectors.import_kinds import FileToImport, kind_named
from apps.goldsets.enums import VersionState
from apps.goldsets.execution import exporting
from apps.judging.actions.rounds import close_round
from apps.judging.imports.judgements import named_choice
from apps.judging.selectors.pairs import resolved_grades
from apps.queries.models import Query
from apps.triples.models import Triple
from tests.factories import AT
from tests.goldsets.factories import make_bench, make_version

pytestmark = pytest.mark.django_db

OPTIONS = {
    "queries": {"format": "auto", "ids": "file", "source": ""},
    "triples": {"format": "auto", "corpus": "", "machine": ""},
    "judgements": {"format": "auto", "columns": "", "grades": "", "name": "", "person": "Else", "skip_unknown": False},
}


@pytest.fixture(scope="module")
def _bench(module_rows):
    bench = make_bench(queries=3)
    close_round(round_id=bench.round.pk, actor=bench.lead, at=AT)
    return bench


@pytest.fixture(scope="module")
def export(_bench, tmp_path_factory):
    """The files of a version, which the tests read and leave as they are."""
    folder = tmp_path_factory.mktemp("export")
    exporting.write(make_version(VersionState.RELEASED, _bench), folder, formats=["all"])
    return folder


@pytest.fixture
def bench(db, _bench, export):
    """Of a round that is closed, so that files of others may be read beside it."""
    return deepcopy(_bench)


def source_of(path) -> TableFile:
    return TableFile(path.name, io.BytesIO(path.read_bytes()))


def options_of(kind: str, bench) -> dict:
    options = OPTIONS[kind]
    return options | {"snapshot": str(bench.snapshot.pk)} | named_choice(options) if kind == "judgements" else options


def file_of(kind: str, path, bench) -> FileToImport:
    return FileToImport(bench.project, source_of(path), options_of(kind, bench))


def preview(kind: str, path, bench):
    return kind_named(kind).preview(file_of(kind, path, bench), lambda done: None)


def apply(kind: str, path, bench):
    return kind_named(kind).apply(file_of(kind, path, bench), actor=bench.lead, at=AT)


@pytest.mark.parametrize(
    "name",
    [
        "jsonl/queries.jsonl",
        "parquet/queries.parquet",
        "trec/topics.txt",
        "beir/queries.jsonl",
        "huggingface/queries/queries.parquet",
    ],
)
def test_queries_are_read_back_as_those_that_are_here(bench, export, name):
    before = list(Query.objects.order_by("pk").values())

    plan = preview("queries", export / name, bench)

    assert not plan.errors
    assert plan.rows == 3
    apply("queries", export / name, bench)
    texts = {row["outside_id"]: row["text"] for row in before}
    assert dict(Query.objects.values_list("outside_id", "text")) == texts


@pytest.mark.parametrize(
    "name",
    [
        "parquet/triples.parquet",
        "yaml/triples.yaml",
        "jsonl/triples.jsonl",
        "rag/{split}.jsonl",
        "ragas/{split}.jsonl",
        "huggingface/triples/{split}.parquet",
    ],
)
def test_triples_are_read_back_as_drafts_that_say_the_same(bench, export, name):
    split = next(path.stem for path in (export / "rag").iterdir())

    plan = preview("triples", export / name.format(split=split), bench)

    assert not plan.errors
    assert plan.rows == 1


@pytest.mark.parametrize(
    "name",
    [
        "jsonl/judgements.jsonl",
        "trec/qrels.txt",
        "parquet/judgements.parquet",
        "csv/judgements.csv",
        "xlsx/judgements.xlsx",
        "relevance/judgements.csv",
        "relevance/judgements.parquet",
        "notes/judgements.csv",
        "notes/judgements.xlsx",
        "beir/qrels/*.tsv",
        "huggingface/default/*.parquet",
    ],
)
def test_grades_are_read_back_as_the_same_grades(bench, export, name):
    before = {(pair.query_id, pair.version_id, pair.grade) for pair in resolved_grades(bench.round)}

    plans = [apply("judgements", path, bench) for path in sorted(export.glob(name))]

    assert plans
    assert not any(plan.errors for plan in plans)
    imported = bench.project.rounds.exclude(pk=bench.round.pk)
    read = {(pair.query_id, pair.version_id, pair.grade) for round_ in imported for pair in resolved_grades(round_)}
    assert read == before


@pytest.mark.parametrize("name", ["jsonl/corpus.jsonl", "parquet/corpus.parquet", "huggingface/corpus/corpus.parquet"])
def test_passages_are_read_back_as_passages_and_not_cut_anew(bench, export, name):
    options = {"format": "auto", "recipe": "headings", "ids": "file", "mode": "replace", "base_url": ""}
    options |= {"corpus": bench.snapshot.corpus.slug, "name": "", "also_text": ""}

    with (export / name).open("rb") as stream:
        source = TableFile(name.split("/")[-1], stream, path=export / name)
        plan = kind_named("corpus").preview(FileToImport(bench.project, source, options), lambda done: None)

    assert not plan.errors
    ids = bench.snapshot.entries.values_list("block__outside_id", flat=True)
    assert sorted(sample["id"] for sample in plan.samples) == sorted(ids)


@pytest.mark.parametrize("name", ["judgements/judgements.csv", "judgements/judgements.parquet"])
def test_single_judgements_are_read_back_as_those_of_two_people(bench, export, name):
    plan = apply("judgements", export / name, bench)

    assert not plan.errors
    imported = bench.project.rounds.latest("pk")
    theirs = imported.judgements.filter(annotator__name__in=["person 1", "person 2"])
    assert theirs.count() == bench.round.judgements.count() == imported.judgements.count() - theirs.count()


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


# Contexts that are texts


@pytest.fixture
def samples(tmp_path):
    """A file of RAG evaluation with one question for each list of contexts."""

    def write(*contexts: list[str], **more):
        path = tmp_path / "samples.jsonl"
        rows = [
            {"user_input": f"How long does session {n} last?", "reference": "Eight hours.", "reference_contexts": texts}
            | more
            for n, texts in enumerate(contexts, start=1)
        ]
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return path

    return write


def text_of(block_id: str) -> str:
    return BlockVersion.objects.filter(block__outside_id=block_id).latest("pk").text


def drafted_blocks() -> list[list[str]]:
    drafts = Triple.objects.filter(current__question__startswith="How long does session").order_by("number")
    return [[block.version.block.outside_id for block in draft.revision.expected_blocks.all()] for draft in drafts]


def test_a_context_is_the_passage_with_the_same_words(bench, samples):
    reflowed = "  ".join(text_of("access").upper().split())
    path = samples([text_of("access"), text_of("rotation")], [reflowed])

    plan = apply("triples", path, bench)

    assert not plan.errors
    assert drafted_blocks() == [["access", "rotation"], ["access"]]


def test_the_preview_says_how_many_contexts_were_matched_how(bench, samples):
    near = f"{text_of('rotation')} And so on."
    path = samples([text_of("access")], [near], ["Nobody wrote this here."])

    plan = preview("triples", path, bench)

    (note,) = plan.notes
    assert note.endswith(": 1 by text, 1 nearly, 1 not at all.")
    assert [fix.name for fix in plan.fixes] == ["near-contexts"]
    assert "at least 80 % of its runs of three words: rotation has " in plan.fixes[0].words


def test_a_near_match_counts_once_somebody_takes_it(bench, samples):
    path = samples([f"{text_of('rotation')} And so on."])
    (fix,) = preview("triples", path, bench).fixes
    assert told("triples", path, bench) == [(1, "reference_contexts[1]", shown(f"{text_of('rotation')} And so on."))]

    options = options_of("triples", bench) | fix.options
    plan = kind_named("triples").apply(FileToImport(bench.project, source_of(path), options), actor=bench.lead, at=AT)

    assert not plan.errors
    assert drafted_blocks() == [["rotation"]]
    again = kind_named("triples").preview(FileToImport(bench.project, source_of(path), options), lambda done: None)
    assert [fix.name for fix in again.fixes] == ["near-contexts-undo"]


def test_a_context_that_is_nowhere_is_named_with_file_line_field_and_its_beginning(bench, samples):
    path = samples([text_of("access")], [text_of("access"), "Nobody wrote this here. " * 30])

    (error,) = preview("triples", path, bench).errors

    assert (error.file, error.line, error.field) == ("samples.jsonl", 2, "reference_contexts[2]")
    assert error.value.startswith("Nobody wrote this here.")
    assert error.message.startswith("no passage of ")
    with pytest.raises(InputErrors):
        apply("triples", path, bench)
    assert drafted_blocks() == []


def test_ids_are_used_where_there_are_some_and_texts_are_then_not_looked_for(bench, samples):
    path = samples(["Nobody wrote this here."], reference_context_ids=["access"])

    plan = apply("triples", path, bench)

    assert (plan.notes, drafted_blocks()) == ([], [["access"]])


def test_a_sample_without_contexts_is_named(bench, samples):
    assert told("triples", samples([]), bench) == [(1, "reference_contexts", "[]")]


def test_contexts_of_any_number_take_the_same_number_of_queries(bench, samples, django_assert_num_queries):
    access = [text_of("access")]
    few = samples(access, ["Nobody wrote this here."])
    with CaptureQueriesContext(connection) as asked:
        preview("triples", few, bench)

    many = samples(*[access] * 40, *[[f"Nobody wrote number {n}."] for n in range(40)])
    with django_assert_num_queries(len(asked)):
        preview("triples", many, bench)


@pytest.mark.parametrize("kind", ["queries", "triples", "judgements"])
def test_damaged_parquet_is_refused_in_words(bench, tmp_path, kind):
    path = tmp_path / "damaged.parquet"
    path.write_bytes(b"PAR1" + b"x" * 100 + b"PAR1")

    with pytest.raises((InputError, InputErrors), match="damaged Parquet"):
        preview(kind, path, bench)
