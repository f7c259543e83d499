"""Parquet, the Hugging Face folder, RAG evaluation, YAML and single judgements."""

import csv
import io
import json
from dataclasses import replace
from itertools import chain

import pyarrow.parquet
import pytest
import yaml

from apps.common.files.csvsafe import restore_cell
from apps.common.files.tabular import TableFile
from apps.common.files.workbooks import read_sheet
from apps.goldsets.formats import huggingface, jsonl, judgements, parquet_files, triples
from apps.goldsets.formats.content import FrozenBlock, GradeRow
from tests.goldsets.content import SMALL, ListContent, written

FACTS = {"gold_set": {"name": "Doors"}, "version": "v2", "note": "First of the year.", "digest": "5d41"}


def rows(data: bytes) -> list[dict]:
    return pyarrow.parquet.read_table(io.BytesIO(data)).to_pylist()


def cells(data: bytes) -> list[dict]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def lines(data: bytes) -> list[dict]:
    return [json.loads(line) for line in data.decode().splitlines()]


def test_parquet_has_the_rows_of_the_json_lines():
    tables = {name: rows(data) for name, data in written(parquet_files.files(SMALL)).items()}
    told = {name: lines(data) for name, data in written(jsonl.files(SMALL)).items()}

    assert tables["parquet/judgements.parquet"] == told["jsonl/judgements.jsonl"]
    blocks = [{**row, "metadata": json.loads(row["metadata"])} for row in tables["parquet/corpus.parquet"]]
    assert [{key: row[key] for key in row if key != "redacted"} for row in blocks] == told["jsonl/corpus.jsonl"]
    queries = tables["parquet/queries.parquet"]
    for row in queries:
        row["metadata"] = {**json.loads(row["metadata"]), "split": row.pop("split")}
    assert queries == told["jsonl/queries.jsonl"]
    (triple,) = tables["parquet/triples.parquet"]
    assert triple["expected_blocks"] == [
        {"block_id": "b1", "document_id": "doc", "page_start": 3, "page_end": 4, "evidence": ["90 days"]}
    ]


def test_parquet_is_written_in_row_groups_and_as_the_same_bytes(monkeypatch):
    monkeypatch.setattr(parquet_files, "GROUP_ROWS", 100)
    many = replace(SMALL, grade_rows=[GradeRow("Q01", f"b{n:04}", n % 4) for n in range(1_000)])

    once, again = written(parquet_files.files(many)), written(parquet_files.files(many))

    assert once == again
    file = pyarrow.parquet.ParquetFile(io.BytesIO(once["parquet/judgements.parquet"]))
    assert [file.metadata.row_group(n).num_rows for n in range(file.metadata.num_row_groups)] == [100] * 10


def test_a_row_group_ends_before_its_texts_fill_the_memory(monkeypatch):
    monkeypatch.setattr(parquet_files, "GROUP_LETTERS", 1_000)
    content = ListContent(block_rows=[FrozenBlock(f"b{n}", "doc", "", "x" * 400) for n in range(9)])

    file = pyarrow.parquet.ParquetFile(io.BytesIO(written(parquet_files.files(content))["parquet/corpus.parquet"]))

    assert file.metadata.num_row_groups == 3


def test_the_pieces_of_a_parquet_file_come_while_rows_are_read(monkeypatch):
    monkeypatch.setattr(parquet_files, "GROUP_ROWS", 10)
    read = []
    source = ({"a": str(read.append(n) or n)} for n in range(100))

    pieces = parquet_files.parquet_file({"a": parquet_files.TEXT}, source)
    next(pieces)

    assert len(read) == 10


def test_a_version_with_nothing_in_it_still_has_columns():
    for data in written(parquet_files.files(ListContent())).values():
        assert rows(data) == []
        assert pyarrow.parquet.read_schema(io.BytesIO(data)).names


# Hugging Face


def front_of(data: bytes) -> dict:
    _, front, _ = data.decode().split("---\n", 2)
    return yaml.safe_load(front)


def test_the_data_card_names_every_file_with_its_split():
    files = written(huggingface.files(SMALL, FACTS))
    card = files.pop("huggingface/README.md")

    front = front_of(card)
    named = {f"huggingface/{one['path']}" for config in front["configs"] for one in config["data_files"]}
    assert named == set(files)
    assert front["pretty_name"] == "Doors v2"
    assert [config["config_name"] for config in front["configs"] if config.get("default")] == ["default"]
    assert "First of the year." in card.decode()


def test_grades_are_by_split_and_named_as_benchmarks_name_them():
    files = written(huggingface.files(SMALL, FACTS))

    assert rows(files["huggingface/default/dev.parquet"]) == [
        {"query-id": "Q01", "corpus-id": "b1", "score": 3},
        {"query-id": "Q01", "corpus-id": "b2", "score": 0},
    ]
    assert rows(files["huggingface/default/test.parquet"]) == [{"query-id": "Q02", "corpus-id": "b1", "score": 1}]


def test_without_grades_the_corpus_is_what_loads_without_a_name():
    files = written(huggingface.files(replace(SMALL, grade_rows=[]), FACTS))

    configs = front_of(files["huggingface/README.md"])["configs"]

    assert [(config["config_name"], config.get("default", False)) for config in configs] == [
        ("corpus", True),
        ("queries", False),
        ("triples", False),
    ]


# RAG evaluation


def test_rag_lines_have_question_contexts_and_ground_truth():
    (sample,) = lines(written(triples.rag_files(SMALL))["rag/dev.jsonl"])

    assert sample["question"] == "How long are keys kept?"
    assert sample["contexts"] == ["Keys are kept for 90 days.\nThen they go."]
    assert sample["ground_truth"] == "90 days"
    assert (sample["id"], sample["query_id"], sample["context_ids"]) == ("T-0001", "Q01", ["b1"])


def test_ragas_lines_have_the_fields_of_a_sample_and_no_other():
    assert lines(written(triples.ragas_files(SMALL))["ragas/dev.jsonl"]) == [
        {
            "user_input": "How long are keys kept?",
            "reference": "90 days",
            "reference_contexts": ["Keys are kept for 90 days.\nThen they go."],
            "reference_context_ids": ["b1"],
        }
    ]


def test_yaml_has_the_entries_of_the_json_lines():
    entry = yaml.safe_load(written(triples.yaml_files(SMALL))["yaml/triples.yaml"])

    assert entry == lines(written(jsonl.files(SMALL))["jsonl/triples.jsonl"])


# Single judgements


def test_every_judgement_is_a_row_in_csv_and_in_parquet():
    files = written(judgements.files(SMALL))

    table = cells(files["judgements/judgements.csv"])
    packed = rows(files["judgements/judgements.parquet"])

    assert len(table) == len(packed) == 6
    assert table[0] == {
        "query_id": "Q01", "block_id": "b1", "annotator": "person 1", "grade": "3", "pass": "1", "cant_judge": "",
        "note": "names the days", "given_at": "2026-11-01T08:00:00Z", "active_ms": "900", "away_ms": "0", "round": "1",
        "guideline": "1", "split": "dev",
    }  # fmt: skip
    as_cells = [{name: "" if value is None else str(value) for name, value in row.items()} for row in packed]
    assert as_cells == [{name: restore_cell(cell) for name, cell in row.items()} for row in table]


def test_a_note_that_a_spreadsheet_would_run_is_made_safe():
    table = cells(written(judgements.files(SMALL))["judgements/judgements.csv"])

    assert [row["note"] for row in table][1] == "'-90 days,\nnot more"


def test_who_may_not_see_answers_gets_no_file_of_them_and_no_note():
    hidden = replace(SMALL, judgement_rows=None)

    assert written(judgements.files(hidden)) == {}
    assert "names the days" not in written(judgements.csv_files(hidden))["csv/judgements.csv"].decode()


def test_the_flat_csv_has_the_notes_of_each_pair():
    table = cells(written(judgements.csv_files(SMALL))["csv/judgements.csv"])

    assert [row["notes"] for row in table] == [
        "unanimous, 2 judges; names the days; -90 days, not more",
        "single, 1 judge",
        "majority, 3 judges",
    ]


@pytest.mark.parametrize("first", ["Q00", "Q01"])
def test_notes_stay_with_their_pair_when_others_have_no_grade(first):
    """A judged pair without a grade in the version, before or between graded ones, shifts nothing."""
    stranger = SMALL.judgement_rows[0]._replace(query_id=first, block_id="a0", note="of no grade")
    content = replace(SMALL, judgement_rows=[stranger, *SMALL.judgement_rows])

    text = written(judgements.csv_files(content))["csv/judgements.csv"].decode()

    assert "of no grade" not in text
    assert "unanimous, 2 judges; names the days" in text


# Layouts that others ask for


def test_relevance_has_exactly_five_columns_as_csv_and_as_parquet():
    files = written(judgements.relevance_files(SMALL))

    table, packed = cells(files["relevance/judgements.csv"]), rows(files["relevance/judgements.parquet"])
    assert list(packed[0]) == list(table[0]) == ["query_id", "query_text", "doc_id", "relevance", "split"]
    assert packed[2] == {"query_id": "Q02", "query_text": '=SUM("a")', "doc_id": "b1", "relevance": 1, "split": "test"}
    assert [{name: str(value) for name, value in row.items()} for row in packed] == [
        {name: restore_cell(cell) for name, cell in row.items()} for row in table
    ]


def noted(content) -> list[str]:
    table = cells(written(judgements.noted_files(content))["notes/judgements.csv"])
    assert {tuple(row) for row in table} == {("query_id", "query_text", "doc_id", "doc_title", "grade", "notes")}
    return [restore_cell(row["notes"]) for row in table]


def test_a_note_comes_as_it_was_written():
    (note,) = [row for row in SMALL.judgement_rows if row.note == "-90 days,\nnot more"]

    assert noted(replace(SMALL, judgement_rows=[note])) == ["-90 days,\nnot more", "", ""]


def test_the_same_note_of_two_comes_once_and_different_ones_with_who_wrote_them():
    first, second, *others = SMALL.judgement_rows
    alike = replace(SMALL, judgement_rows=[first, second._replace(note=first.note), *others])

    assert noted(alike)[0] == "names the days"
    assert noted(SMALL)[0] == "person 1: names the days\nperson 2: -90 days,\nnot more"


def test_the_layout_with_notes_has_none_for_who_may_not_see_answers():
    assert noted(replace(SMALL, judgement_rows=None)) == ["", "", ""]


@pytest.mark.parametrize(
    "writers", [[judgements.noted_files], [judgements.csv_files, judgements.xlsx_files]], ids=["notes", "flat"]
)
def test_a_workbook_has_the_rows_of_the_csv(writers):
    files = written(chain.from_iterable(writer(SMALL) for writer in writers))
    table, sheet = (next(data for path, data in files.items() if path.endswith(end)) for end in (".csv", ".xlsx"))

    heading, *below = (row for _, row in read_sheet(TableFile("a.xlsx", io.BytesIO(sheet))).rows)
    assert [dict(zip(heading, row, strict=True)) for row in below] == [
        {key: restore_cell(cell) for key, cell in row.items()} for row in cells(table)
    ]
