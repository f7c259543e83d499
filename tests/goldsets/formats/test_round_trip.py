"""What the writers write, the importers read back as it was, and what was read back is written as the same bytes."""

import io
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from hypothesis import assume, example, given, settings

from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.corpus.formats import read_blocks
from apps.corpus.formats.documents import SourceFile
from apps.corpus.formats.documents.json_records import read_parquet
from apps.corpus.formats.rows import BlockRow
from apps.goldsets.formats import huggingface, jsonl, judgements, parquet_files, qrels, triples
from apps.goldsets.formats.content import ExpectedBlock, FrozenBlock, FrozenQuery, GradeRow, TripleRow
from apps.judging.formats.judgements import columns_of, read_judgements
from apps.judging.formats.recognition import recognise as recognise_grades
from apps.queries.formats import read_queries
from apps.queries.formats import recognise as recognise_queries
from apps.triples.formats import read_entries
from apps.triples.formats.reading import recognise as recognise_triples
from tests.goldsets.content import SMALL, ListContent, written
from tests.goldsets.formats.contents import versions

pytestmark = pytest.mark.slow


def rows_of(data: bytes, recognise: Callable[[TableFile], str], reader: Callable[..., Iterator]) -> list:
    """The rows of a file whose form is recognised."""
    source, errors = TableFile("a file", io.BytesIO(data)), ErrorList()
    rows = list(reader(source, errors, format=recognise(source)))
    assert list(errors) == []
    return rows


def blocks_read(data: bytes) -> list[FrozenBlock]:
    return blocks_from(rows_of(data, lambda source: "beir" if b'{"_id"' in data[:9] else "jsonl", read_blocks))


def packed_blocks_read(data: bytes) -> list[FrozenBlock]:
    read = read_parquet(SourceFile("corpus.parquet", io.BytesIO(data), len(data)))
    return blocks_from([row for row in read if isinstance(row, BlockRow)])


def blocks_from(rows: list[BlockRow]) -> list[FrozenBlock]:
    names = {"section": "section_path"}
    return [
        FrozenBlock(**{name: getattr(row, names.get(name, name)) for name in FrozenBlock._fields if name != "redacted"})
        for row in rows
    ]


def queries_read(data: bytes) -> list[FrozenQuery]:
    queries = []
    for row in rows_of(data, recognise_queries, read_queries):
        fields = {name: value for name, value in row._asdict().items() if value is not None and name != "line"}
        metadata = dict(fields.pop("metadata", {}))
        split = metadata.pop("split", "")
        fields["facets"] = tuple(facet._asdict() for facet in fields.get("facets", ()))
        queries.append(FrozenQuery(group=fields.pop("group_key", ""), metadata=metadata, split=split, **fields))
    return queries


def grades_read(*files: bytes, queries: list[FrozenQuery]) -> list[GradeRow]:
    """The grades of these files, each in the split of its query."""
    rows = [row for data in files if data for row in rows_of(data, recognise_grades, read_judgements)]
    splits = {query.query_id: query.split for query in queries}
    return sorted(GradeRow(row.query_id, row.doc_id, row.grade, splits.get(row.query_id, "")) for row in rows)


def triples_read(data: bytes) -> list[TripleRow]:
    return [_triple(read.entry) for read in rows_of(data, recognise_triples, read_entries)]


def _triple(entry) -> TripleRow:
    own = {name: getattr(entry, name) for name in TripleRow._fields if name not in ("triple_id", "blocks")}
    blocks = tuple(
        ExpectedBlock(
            block.block_id,
            block.document_id,
            *(block.pages or (None, None)),
            tuple(span.text for span in block.evidence),
        )
        for block in entry.blocks
    )
    return TripleRow(triple_id=entry.id, blocks=blocks, **own)


@settings(max_examples=25)
@given(versions())
@example(SMALL)
def test_jsonl_read_back_is_written_as_the_same_bytes(version):
    once = written(jsonl.files(version))

    again = replace(
        version,
        block_rows=blocks_read(once["jsonl/corpus.jsonl"]),
        query_rows=queries_read(once["jsonl/queries.jsonl"]),
        triple_rows=triples_read(once["jsonl/triples.jsonl"]) if version.triple_rows else [],
    )

    assert written(jsonl.files(again)) == once


@settings(max_examples=25)
@given(versions())
@example(SMALL)
def test_yaml_read_back_is_written_as_the_same_bytes(version):
    once = written(triples.yaml_files(version))
    if not version.triple_rows:
        return

    again = replace(version, triple_rows=triples_read(once["yaml/triples.yaml"]))

    assert written(triples.yaml_files(again)) == once


@settings(max_examples=25)
@given(versions())
@example(SMALL)
def test_beir_read_back_is_written_as_the_same_bytes(version):
    once = written(qrels.beir_files(version))

    queries = queries_read(once["beir/queries.jsonl"])
    grades = grades_read(*(data for path, data in once.items() if "qrels" in path), queries=queries)
    again = ListContent(queries, blocks_read(once["beir/corpus.jsonl"]), grades)

    assert written(qrels.beir_files(again)) == once


@settings(max_examples=25)
@given(versions())
@example(SMALL)
def test_trec_read_back_is_written_as_the_same_bytes(version):
    """The split of a query is in the names of the qrels alone. A text with what looks like a broken tag is refused."""
    assume(not any("<" in query.text for query in version.query_rows))
    once = written(qrels.trec_files(version))

    splits = {query.query_id: query.split for query in version.query_rows}
    queries = [row._replace(split=splits[row.query_id]) for row in queries_read(once["trec/topics.txt"])]
    again = ListContent(queries, grade_rows=grades_read(once["trec/qrels.txt"], queries=queries))

    assert written(qrels.trec_files(again)) == once


@pytest.mark.parametrize(
    ("writer", "has_grades"),
    [
        (jsonl.files, "judgements.jsonl"),
        (judgements.csv_files, "judgements.csv"),
        (judgements.noted_files, "judgements.csv"),
        (qrels.trec_files, "qrels.txt"),
        (qrels.beir_files, ".tsv"),
    ],
)
@settings(max_examples=25)
@given(version=versions())
def test_grades_read_back_are_those_that_were_written(writer, has_grades, version):
    files = [data for path, data in written(writer(version)).items() if path.endswith(has_grades) and data]

    read = [row for data in files for row in rows_of(data, recognise_grades, read_judgements)]

    assert sorted((row.query_id, row.doc_id, row.grade) for row in read) == sorted(
        (row.query_id, row.block_id, row.grade) for row in version.grade_rows
    )


@settings(max_examples=25)
@given(versions())
def test_first_answers_read_back_are_those_of_the_single_judgements(version):
    file = written(judgements.files(version))["judgements/judgements.csv"]
    source, errors = TableFile("judgements.csv", io.BytesIO(file)), ErrorList()
    form = recognise_grades(source)

    read = list(read_judgements(source, errors, format=form, columns=columns_of(form, "")))

    assert list(errors) == []
    assert [(row.query_id, row.doc_id, row.rater, row.grade, row.notes) for row in read] == [
        (row.query_id, row.block_id, row.annotator, row.grade, row.note)
        for row in version.judgement_rows
        if row.grade is not None
    ]


@settings(max_examples=25)
@given(versions())
def test_rag_lines_read_back_are_written_as_the_same_bytes(version):
    once = written(triples.rag_files(version))

    for path, data in once.items():
        again = replace(version, triple_rows=triples_read(data))
        assert written(triples.rag_files(again))[path] == data


@settings(max_examples=25)
@given(versions())
def test_ragas_lines_read_back_have_question_answer_and_blocks(version):
    for path, data in written(triples.ragas_files(version)).items():
        split = path.removeprefix("ragas/").removesuffix(".jsonl")
        read = triples_read(data)
        assert [(row.question, row.expected_answer, [b.block_id for b in row.blocks]) for row in read] == [
            (row.question, row.expected_answer, [b.block_id for b in row.blocks])
            for row in version.triple_rows
            if row.split == split
        ]


MANY = replace(
    SMALL,
    query_rows=[SMALL.query_rows[0]._replace(query_id=f"Q{n:03}", metadata={"n": n}) for n in range(300)],
    triple_rows=[
        SMALL.triple_rows[0]._replace(triple_id=f"T-{n:04}", match="all", is_machine_written=n % 2 == 0, query_id="")
        for n in range(300)
    ],
)


@pytest.mark.parametrize("place", range(3))
def test_parquet_read_back_is_written_as_the_same_bytes(place):
    """A process for each file: a few versions, not hundreds."""
    version = [SMALL, replace(SMALL, query_rows=SMALL.query_rows[:1]), MANY][place]
    once = written(parquet_files.files(version))

    again = replace(
        version,
        block_rows=packed_blocks_read(once["parquet/corpus.parquet"]),
        query_rows=queries_read(once["parquet/queries.parquet"]),
        triple_rows=triples_read(once["parquet/triples.parquet"]),
    )

    assert written(parquet_files.files(again)) == once


@pytest.mark.parametrize("place", range(2))
def test_a_folder_for_hugging_face_read_back_is_written_as_the_same_bytes(place):
    graded = [row._replace(query_id="Q001") for row in SMALL.grade_rows if row.split == "dev"]
    version = [SMALL, replace(MANY, grade_rows=graded)][place]
    facts = {"gold_set": {"name": "Handbook"}, "version": "v1"}
    once = written(huggingface.files(version, facts))

    queries = queries_read(once["huggingface/queries/queries.parquet"])
    grades = [data for path, data in once.items() if path.startswith("huggingface/default/")]
    again = ListContent(
        queries,
        packed_blocks_read(once["huggingface/corpus/corpus.parquet"]),
        grades_read(*grades, queries=queries),
        [row for path in once if "/triples/" in path for row in triples_read(once[path])],
    )

    assert written(huggingface.files(again, facts)) == once
