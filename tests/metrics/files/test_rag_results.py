"""What a system retrieved, in files that evaluate generated answers, is read as its results."""

import io
import json

import pytest

from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.metrics.files.results import read_results

LINE = {
    "user_input": "How often is a key rotated?",
    "retrieved_contexts": ["Keys are rotated every year.", "Doors are shut."],
    "reference_contexts": ["Keys are rotated every year."],
    "response": "Every year.",
    "reference": "Every year.",
}


def read(*lines: dict, errors: ErrorList | None = None) -> list[tuple]:
    content = "".join(f"{json.dumps(line)}\n" for line in lines)
    wrong = ErrorList() if errors is None else errors
    rows = list(read_results(TableFile("eval.jsonl", io.BytesIO(content.encode())), wrong))
    assert errors is not None or not wrong, list(wrong)
    return [(line, row.qid, row.rank, row.returned.id, row.returned.text) for line, row in rows]


def test_each_context_is_a_result_in_its_order():
    assert read(LINE) == [
        (1, "How often is a key rotated?", 1, "", "Keys are rotated every year."),
        (1, "How often is a key rotated?", 2, "", "Doors are shut."),
    ]


def test_contexts_have_ids_or_texts_or_both():
    ids = {"user_input": "a", "retrieved_context_ids": ["b1", 7]}
    both = {"query_id": "Q1", "question": "a", "contexts": ["Keys."], "context_ids": ["b1"]}

    assert read(ids, both) == [(1, "a", 1, "b1", ""), (1, "a", 2, "7", ""), (2, "Q1", 1, "b1", "Keys.")]


def test_a_question_for_which_nothing_was_retrieved_has_no_result():
    assert read({"user_input": "a", "retrieved_contexts": []}) == []


def test_lines_of_results_are_read_as_before():
    result = {"qid": "Q1", "rank": 1, "text": "Keys.", "contexts": "ignored"}

    assert read(result) == [(1, "Q1", 1, "", "Keys.")]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"user_input": ""}, "user_input"),
        ({"user_input": 3}, "user_input"),
        ({"retrieved_contexts": "Keys."}, "retrieved_contexts"),
        ({"retrieved_contexts": ["Keys.", None]}, "retrieved_contexts[2]"),
        ({"retrieved_context_ids": ["b1"]}, "retrieved_context_ids"),
    ],
)
def test_a_mistake_names_line_and_field_and_the_rest_is_read(changes, field):
    errors = ErrorList()

    found = read(LINE | changes, LINE | {"user_input": "b"}, errors=errors)

    assert [(error.line, error.field) for error in errors] == [(1, field)]
    assert [row[:3] for row in found] == [(2, "b", 1), (2, "b", 2)]


def test_a_question_has_one_line():
    errors = ErrorList()

    read(LINE, LINE, errors=errors)

    assert {(error.line, error.field) for error in errors} == {(2, "rank")}
