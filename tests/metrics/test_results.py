"""Results: a line is read as it is, or refused with its line, field, value and a sentence."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.metrics.expected.rules import Returned
from apps.metrics.files.results import ResultRow, best_first, read_results

WHOLE = {"qid": "T-0001", "rank": 1, "id": "c7", "document_id": "rules", "pages": [3, 4], "text": "A red key."}


def read(*lines: dict | str) -> tuple[list[tuple[int, ResultRow]], list[InputError]]:
    """The rows with their lines, and the mistakes."""
    written = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    errors = ErrorList()
    rows = list(read_results(TableFile("RESULTS.jsonl", io.BytesIO(written.encode())), errors))
    return rows, list(errors)


def test_a_line_tells_what_was_returned_for_a_question_at_a_rank():
    rows, errors = read(
        WHOLE, "", {"qid": "Q01", "rank": 0, "text": "key"}, {"qid": "Q01", "rank": 7, "id": "b1", "x": 1}
    )

    assert rows == [
        (1, ResultRow("T-0001", 1, Returned("c7", "rules", (3, 4), "A red key."))),
        (3, ResultRow("Q01", 0, Returned(text="key"))),
        (4, ResultRow("Q01", 7, Returned("b1"))),
    ]
    assert errors == []


def test_a_line_of_what_the_run_used_is_no_result_and_comes_once():
    usage = {"usage": {"requests": 3, "errors": 1}}

    rows, errors = read(usage, WHOLE, usage, {"usage": 3})

    assert [line for line, _ in rows] == [2]
    assert [(one.line, one.field) for one in errors] == [(3, "usage"), (4, "usage")]
    assert "an earlier line has the usage already" in errors[0].message


@pytest.mark.parametrize("field", ["id", "document_id", "pages", "text"])
@pytest.mark.parametrize("nothing", [None, "left out"])
def test_what_a_system_does_not_tell_is_left_out_or_null(field, nothing):
    line = {key: value for key, value in WHOLE.items() if key != field} | ({field: None} if nothing is None else {})

    ((_, row),), errors = read(line)

    assert getattr(row.returned, field) in ("", None)
    assert errors == []


@pytest.mark.parametrize(
    ("line", "field", "value", "says"),
    [
        (WHOLE | {"qid": ""}, "qid", "", "needs a qid"),
        (WHOLE | {"qid": 7}, "qid", "7", "needs a qid"),
        (WHOLE | {"rank": "1"}, "rank", "1", "a whole number"),
        (WHOLE | {"rank": 1.5}, "rank", "1.5", "a whole number"),
        (WHOLE | {"rank": True}, "rank", "True", "a whole number"),
        (WHOLE | {"rank": -1}, "rank", "-1", "a whole number"),
        (WHOLE | {"rank": 10**9}, "rank", "1000000000", "at most nine digits"),
        ({"qid": "T-0001", "id": "b1"}, "rank", "", "needs a rank, as the lines before have one"),
        (WHOLE | {"id": 7}, "id", "7", "must be a text"),
        (WHOLE | {"id": "b" * 301}, "id", "b" * 77 + "…", "more than 300 letters"),
        (WHOLE | {"text": ["A"]}, "text", "['A']", "must be a text"),
        (WHOLE | {"pages": 3}, "pages", "3", "first and the last page"),
        (WHOLE | {"pages": [4, 3]}, "pages", "[4, 3]", "first and the last page"),
        (WHOLE | {"start": 3}, "end", "", "the line has start and no end"),
        (WHOLE | {"end": 3}, "start", "", "the line has end and no start"),
        (WHOLE | {"start": 3, "end": 3}, "end", "3", "above the start, 3"),
        (WHOLE | {"start": -1, "end": 3}, "start", "-1", "a whole number from 0"),
        (WHOLE | {"start": 0, "end": 3.0}, "end", "3.0", "a whole number from 0"),
        ({"qid": "T-0001", "rank": 1, "text": "Key", "start": 0, "end": 3}, "id", "", "give its id"),
        (WHOLE | {"pages": [3]}, "pages", "[3]", "first and the last page"),
        ({"qid": "T-0001", "rank": 1, "pages": [3, 4]}, "", "", "give its id, its document_id or its text"),
        ({"qid": "T-0001", "rank": 1, "text": " "}, "text", " ", "the text is empty"),
        ("[1]", "", "[1]", "one JSON object"),
        ('{"qid": "a\\u0000b"}', "", '{"qid": "a\\u0000b"}', "NUL"),
    ],
)
def test_a_line_that_says_too_little_is_named(line, field, value, says):
    rows, (error,) = read({"qid": "Q01", "rank": 1, "id": "b1"}, line)

    assert len(rows) == 1
    assert (error.file, error.line, error.field) == ("RESULTS.jsonl", 2, field)
    assert error.value == value or error.value[:77] == value[:77]
    assert says in error.message


def test_a_rank_that_a_question_has_already_is_named():
    rows, (error,) = read(WHOLE, WHOLE | {"id": "c8"}, WHOLE | {"qid": "Q01"})

    assert [line for line, _ in rows] == [1, 3]
    assert (error.line, error.field, error.value) == (2, "rank", "1")
    assert error.message == "the question 'T-0001' has a result of rank 1 already."


def test_a_line_may_name_the_place_in_a_passage_of_the_corpus():
    ((_, row),), errors = read({"query": "Q01", "rank": 1, "id": "b1", "start": 4, "end": 12})

    assert (row, errors) == (ResultRow("Q01", 1, Returned("b1", span=(4, 12))), [])


def ordered(*lines: dict) -> tuple[list[str], list[InputError]]:
    """The ids of the passages of one question, best first, and the mistakes."""
    rows, errors = read(*lines)
    return [one.id for one in best_first(row for _, row in rows).get("Q01", [])], errors


def test_without_ranks_the_scores_order_and_equal_ones_stay_as_in_the_file():
    lines = [{"qid": "Q01", "id": name, "score": score} for name, score in [("a", 0.5), ("b", 2), ("c", 0.5)]]

    assert ordered(*lines) == (["b", "a", "c"], [])


def test_without_ranks_and_scores_the_file_is_in_order():
    lines = [{"qid": qid, "id": name} for qid, name in [("Q01", "b"), ("Q02", "x"), ("Q01", "a"), ("Q01", "b")]]

    assert ordered(*lines) == (["b", "a", "b"], [])


def test_ranks_decide_where_there_are_scores_too():
    lines = [{"qid": "Q01", "rank": rank, "id": f"r{rank}", "score": "0.9"} for rank in (3, 1, 2)]

    assert ordered(*lines) == (["r1", "r2", "r3"], [])


@pytest.mark.parametrize(
    ("first", "second", "field", "value", "says"),
    [
        ({"rank": 1}, {}, "rank", "", "needs a rank, as the lines before have one"),
        ({}, {"rank": 1}, "rank", "1", "the lines before have no rank"),
        ({"score": 1}, {}, "score", "", "needs a score, as the lines before have one"),
        ({}, {"score": 1}, "score", "1", "the lines before have no score"),
        ({"score": 1}, {"score": "2"}, "score", "2", "must be a number"),
        ({"score": 1}, {"score": 10**400}, "score", "1" + "0" * 78 + "…", "must be a number"),
    ],
)
def test_one_order_holds_for_a_whole_file(first, second, field, value, says):
    _, (error,) = read({"qid": "Q01", "id": "a", **first}, {"qid": "Q01", "id": "b", **second})

    assert (error.line, error.field, error.value) == (2, field, value)
    assert says in error.message


@given(
    st.dictionaries(st.sampled_from([*WHOLE, "other"]), st.none() | st.integers() | st.text() | st.lists(st.integers()))
)
def test_whatever_an_object_holds_is_read_or_refused(line):
    rows, errors = read(line)

    assert len(rows) + len(errors) == 1
