import collections
import io

import pytest

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile, open_source
from apps.judging.formats.judgements import JudgementRow, parse_columns, parse_grade_map, read_judgements


def read(text: str, **options) -> tuple[list[JudgementRow], ErrorList]:
    errors = ErrorList()
    rows = list(read_judgements(TableFile("f", io.BytesIO(text.encode())), errors, **options))
    return rows, errors


def messages(errors: ErrorList) -> list[tuple]:
    return [(error.line, error.field, error.message) for error in errors]


def test_qrels_have_four_columns():
    rows, errors = read("q1 0 d1 2\n# note\n\nq1\t0\td2 -1\n", format="qrels")

    assert rows == [JudgementRow(1, "q1", "d1", 2), JudgementRow(4, "q1", "d2", -1)]
    assert not errors


def test_three_columns_are_read_only_when_named():
    _, refused = read("1 184 2\n", format="qrels")
    rows, _ = read("1 184 2 \n", format="qrels", columns=parse_columns("query_id doc_id grade"))

    assert messages(refused) == [(1, "", "3 columns where there must be 4: query_id iteration doc_id grade")]
    assert rows == [JudgementRow(1, "1", "184", 2)]


def test_lines_may_all_end_in_cr_alone():
    rows, errors = read("q 0 a 1\rq 0 b 0\r", format="qrels")

    assert rows == [JudgementRow(1, "q", "a", 1), JudgementRow(2, "q", "b", 0)]
    assert not errors


def test_cr_alone_among_other_ends_of_lines_is_refused():
    with pytest.raises(InputError, match="a carriage return") as caught:
        read("q 0 c 1\nq 0 a 1\rq 0 b 0\r", format="qrels")

    assert (caught.value.line, caught.value.field) == (2, "line end")


def test_a_no_break_space_divides_no_columns():
    """Read as a blank it would make three columns four, and a piece of the id the grade."""
    rows, errors = read("q 0 d\u00a07\nq 0 d 1\n", format="qrels")

    assert messages(errors) == [(1, "", "3 columns where there must be 4: query_id iteration doc_id grade")]
    assert rows == [JudgementRow(2, "q", "d", 1)]


def test_a_grade_map_regrades_and_skips():
    rows, _ = read("q 0 a 1\nq 0 b 4\nq 0 c -1\n", format="qrels", grades=parse_grade_map("1=3,4=0,-1=skip"))

    assert [(row.doc_id, row.grade) for row in rows] == [("a", 3), ("b", 0), ("c", None)]


def test_a_grade_the_map_does_not_name_is_an_error():
    _, errors = read("q 0 a 5\n", format="qrels", grades=parse_grade_map("1=3"))

    assert messages(errors) == [(1, "grade", "the grade map has no entry for 5")]


@pytest.mark.parametrize("grade", ["1.5", "high", "1,000", "99999"])
def test_a_grade_that_is_not_a_whole_number_needs_a_map(grade):
    _, errors = read(f"q 0 a {grade}\n", format="qrels")
    rows, _ = read(f"q 0 a {grade}\n", format="qrels", grades={grade: 1})

    assert messages(errors)[0][:2] == (1, "grade")
    assert rows[0].grade == 1


def test_a_pair_counts_once():
    rows, errors = read("q 0 a 1\nq 0 a 1.0\nq 0 a 2\nq 1 a 3\n", format="qrels")

    assert [(row.line, row.grade, row.is_facet) for row in rows] == [(1, 1, False), (4, 3, True)]
    assert [(one.line, one.message) for one in errors.warnings] == [
        (2, "the pair is listed twice for query q, first in line 1; it counts once")
    ]
    assert messages(errors) == [
        (3, "doc_id", "the pair is listed twice for query q, first in line 1, with another grade")
    ]


@pytest.mark.parametrize("written", ["3", "3.0", "3,0", "3e0", "+3"])
def test_a_whole_grade_is_one_in_any_spelling(written):
    rows, errors = read(f"q 0 a {written}\nq 0 b {written}\n", format="qrels")
    mapped, _ = read(f"q 0 a {written}\n", format="qrels", grades=parse_grade_map("3.00=1"))

    assert ([row.grade for row in rows], [row.grade for row in mapped], errors.total) == ([3, 3], [1], 0)


def test_a_pair_without_a_grade_is_not_judged():
    text = "query_id,doc_id,grade\nq,a,\nq,b,NaN\nq,c,0\n"

    rows, errors = read(text, format="csv")
    lines, _ = read('{"query_id": "q", "block_id": "a", "grade": null}\n', format="jsonl")

    assert ([row.doc_id for row in rows], lines, errors.total) == (["c"], [], 0)
    assert {one.message for one in errors.warnings} == {"is empty: the pair is not judged"}


def test_a_grade_map_may_have_decimal_commas():
    assert parse_grade_map("0,5=0, 1,0=1,2=skip,very good=3") == {"0.5": 0, "1": 1, "2": None, "very good": 3}


def test_the_flat_layout():
    text = "query_id,query_text,doc_id,doc_title,grade,split,notes\nq,what,a,T,2,dev,'=sure\n"

    rows, errors = read(text, format="csv")

    assert rows == [JudgementRow(2, "q", "a", 2, "=sure")]
    assert not errors


def test_the_flat_layout_needs_its_columns():
    with pytest.raises(InputError) as caught:
        read("query,docid,rating\nq,a,1\n", format="csv")

    assert (caught.value.line, caught.value.field) == (1, "query_id, grade")


@pytest.mark.parametrize("text", ["1", "1=x", "=3", "1=2,1=3", "1=skip,", "1=2.5"])
def test_a_grade_map_of_another_form_is_refused(text):
    with pytest.raises(ValueError):
        parse_grade_map(text)


@pytest.mark.parametrize("text", ["", "query_id grade", "query_id doc_id grade grade", "query_id doc_id mark"])
def test_columns_that_do_not_name_all_three_are_refused(text):
    with pytest.raises(ValueError):
        parse_columns(text)


def test_cranfield_codes_turned_round(shared_data):
    errors = ErrorList()

    with open_source(shared_data / "cranfield" / "cranqrel") as source:
        rows = list(
            read_judgements(
                source,
                errors,
                format="qrels",
                columns=parse_columns("query_id doc_id grade"),
                grades=parse_grade_map("1=4,2=3,3=2,4=1,-1=skip"),
            )
        )

    assert not errors
    assert collections.Counter(row.grade for row in rows) == {4: 128, 3: 387, 2: 734, 1: 363, None: 225}


@pytest.mark.parametrize("name", ["block_id", "block", "doc_id", "doc", "docno", "docid"])
def test_a_flat_file_calls_the_block_as_people_do(name):
    rows, errors = read(f"query_id,{name},grade\nq,a,1\nq,a,2\n", format="csv")

    assert [(row.doc_id, row.grade, row.doc_column) for row in rows] == [("a", 1, name)]
    assert [error.field for error in errors] == [name]


def test_a_flat_file_without_a_block_says_which_names_were_looked_for():
    with pytest.raises(InputError) as caught:
        read("query_id,passage\nq,a\n", format="csv")

    assert caught.value.field == "block_id, grade"
    assert (
        "looked for block_id, block, doc_id, doc, docno, docid; the file has query_id, passage" in caught.value.message
    )


def test_columns_divided_by_blanks_may_call_the_block_as_people_do():
    assert parse_columns("query_id block grade") == ("query_id", "doc_id", "grade")
