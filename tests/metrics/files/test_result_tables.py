"""Results in a table are those of the same lines of JSON, in text, workbooks and Parquet."""

import io
import json

import pytest

from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.metrics.expected.rules import Returned
from apps.metrics.files.result_tables import are_results
from apps.metrics.files.results import best_first, read_results
from tests.common.workbooks import workbook
from tests.judging.archives import parquet_of

HEADING = ["query_id", "rank", "id", "document_id", "pages", "text", "start", "end"]
ROWS = [
    ["Q1", "2", "", "rules", "3-4", "Keys, and doors.", "", ""],
    ["Q1", "1", "b1", "", "", "", "4", "12"],
    ["Q2", "1", "", "rules", "5", "Doors.", "", ""],
]
WANTED = {
    "Q1": [Returned("b1", span=(4, 12)), Returned("", "rules", (3, 4), "Keys, and doors.")],
    "Q2": [Returned("", "rules", (5, 5), "Doors.")],
}


def separated(mark: str) -> bytes:
    return "\n".join(mark.join(f'"{cell}"' for cell in row) for row in [HEADING, *ROWS]).encode()


def packed() -> bytes:
    lines = [
        {"query_id": "Q1", "rank": 2, "document_id": "rules", "pages": [3, 4], "text": "Keys, and doors."},
        {"query_id": "Q1", "rank": 1, "id": "b1", "start": 4.0, "end": 12.0},
        {"query_id": "Q2", "rank": 1, "document_id": "rules", "pages": [5, 5], "text": "Doors."},
    ]
    fields = dict.fromkeys(["query_id", "rank", "id", "document_id", "pages", "text", "start", "end"])
    return parquet_of([fields | line for line in lines])


def as_lines() -> bytes:
    lines = [
        {"qid": "Q1", "rank": 2, "document_id": "rules", "pages": [3, 4], "text": "Keys, and doors."},
        {"query": "Q1", "rank": 1, "id": "b1", "start": 4, "end": 12},
        {"query_id": "Q2", "rank": 1, "document_id": "rules", "pages": [5, 5], "text": "Doors."},
    ]
    return "\n".join(map(json.dumps, lines)).encode()


def read(content: bytes, name: str = "results") -> tuple[dict, list]:
    errors = ErrorList()
    rows = [row for _, row in read_results(TableFile(name, io.BytesIO(content)), errors)]
    return best_first(rows), list(errors)


@pytest.mark.parametrize(
    "content",
    [
        as_lines(),
        separated(","),
        separated("\t"),
        separated(";"),
        workbook({"Results": [HEADING, *ROWS]}),
        packed(),
    ],
    ids=["jsonl", "csv", "tsv", "semicolons", "xlsx", "parquet"],
)
def test_every_form_gives_the_same_passages(content):
    source = TableFile("results.xlsx", io.BytesIO(content))
    assert are_results(source, source.head(4_096))

    assert read(content) == (WANTED, [])


@pytest.mark.parametrize(
    ("heading", "is_one"),
    [
        ("query,text", True),
        ("qid,start,end,id", True),
        ("qid,rank,id,pages", True),
        ("query,text,docno", False),
        ("query,id", False),
        ("rank,text", False),
        ("a b c", False),
    ],
)
def test_a_table_is_known_by_its_heading(heading, is_one):
    content = f"{heading}\n1\n".encode()

    assert are_results(TableFile("a.csv", io.BytesIO(content)), content) is is_one


@pytest.mark.parametrize(
    ("content", "line", "field", "says"),
    [
        ("rank,text\n1,Keys.\n", 1, "qid", "no column qid or query_id or query"),
        ("qid,rank\nQ1,1\n", 1, "text", "no column text, id or document_id"),
        ("qid,rank,text\nQ1,1.5,Keys.\n", 2, "rank", "a whole number"),
        ("qid,rank,text\nQ1,,Keys.\n", 2, "rank", "a whole number"),
        ("qid,rank,text\nQ1,-1,Keys.\n", 2, "rank", "a whole number"),
        ("qid,rank,text\n,1,Keys.\n", 2, "qid", "needs a qid"),
        ("qid,score,text\nQ1,high,Keys.\n", 2, "score", "must be a number"),
        ("qid,score,text\nQ1,,Keys.\n", 2, "score", "must be a number"),
        ("qid,score,text\nQ1,nan,Keys.\n", 2, "score", "must be a number"),
        ("qid,rank,text,start,end,id\nQ1,1,,3,,b\n", 2, "end", "give both, or none"),
        ("qid,rank,text,start,end,id\nQ1,1,,-3,4,b\n", 2, "start", "a whole number from 0"),
        ("qid,rank,text\nQ1,1,\n", 2, "", "says nothing of the passage"),
    ],
)
def test_a_bad_table_or_row_is_named(content, line, field, says):
    errors = ErrorList()
    try:
        assert list(read_results(TableFile("results.csv", io.BytesIO(content.encode())), errors)) == []
        (error,) = errors
    except Exception as raised:
        error = raised

    assert (error.file, error.line, error.field) == ("results.csv", line, field)
    assert says in error.message
