import gzip
import io

import pytest

from apps.common.files.linefiles import lines_in
from apps.retrieval.core.ranking import unpack
from apps.retrieval.formats import draft_from_lines, draft_from_rows
from tests.retrieval.factories import as_rows

KNOWN = {"queries": {"q1": 11, "q2": 12}, "blocks": {"a": 0, "b": 1, "c": 2}}


def read(*lines):
    return draft_from_lines([line.encode() for line in lines], "f.run", **KNOWN)


def rankings(draft):
    unpacked = {found.query: unpack(found.packed) for found in draft.rankings}
    return {query: (positions.tolist(), scores.tolist()) for query, (positions, scores) in unpacked.items()}


def mistakes(draft):
    return [str(error) for error in draft.errors]


def test_rows_become_rankings_by_score_ties_by_position_descending():
    draft = read("q1 Q0 a 1 2.5 t", "q1 Q0 b 2 2.5 t", "q2 Q0 c 1 1 t", "q1 Q0 c 3 9e0 t")

    assert rankings(draft) == {11: ([2, 1, 0], [9.0, 2.5, 2.5]), 12: ([2], [1.0])}
    assert (draft.rows, draft.results, draft.depth, draft.skipped) == (4, 4, 3, 0)
    assert (draft.ties, draft.reordered, draft.tags) == (1, 1, ["t"])
    assert not draft.errors


def test_each_unknown_id_is_named_once_with_its_first_line():
    draft = read("# comment", "q9 Q0 a 1 3 t", "q1 Q0 x 1 3 t", "q9 Q0 x 2 2 t", "q1 Q0 a 2 1 t")

    assert mistakes(draft) == [
        "f.run, line 2, query: 'q9' is not a query of this project.",
        "f.run, line 3, block: 'x' is not a passage of this snapshot.",
    ]
    assert (draft.unknown_queries, draft.unknown_blocks, draft.skipped) == ({"q9": 2}, {"x": 2}, 3)
    assert not draft.is_spoilt


def test_a_rank_may_be_any_whole_number():
    assert read(f"q1 Q0 a {10**30} 3 t", "q1 Q0 b 2 2 t").reordered == 1


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (["q1 Q0 a 1 3"], "f.run, line 1, line: 5 fields where there must be"),
        (["q1 Q0 a 1 3 t", "q1 Q0 b 2 1 8.5 t"], "f.run, line 2, line: 7 fields where there must be six"),
        (["q1 Q0 a 1 3 t\rq1 Q0 b 2 2 t\r"], "f.run, line 1, line end: the line contains a carriage return (CR)."),
        (["q1 Q0 a 1 3 t", "q1 Q0 a 2 2 t"], "f.run, line 2, block: 'a' appears twice"),
        (["q1 Q0 a one 3 t"], "f.run, line 1, rank: 'one' is not a whole number."),
        (["q1 Q0 a 1 inf t"], "f.run, line 1, score: 'inf' is not a finite number."),
        (["q1 Q0 a 1 3 t", "q1 Q0 b 1 3 u"], "f.run, line 2, tag: the file contains the tags 't' and 'u'"),
        (["q1,Q0,a,1,3,t"], "f.run, line 1, line: 1 field where there must be six"),
        (["q1, Q0, a, 1, 3, t"], "f.run, line 1, line: Columns are separated by spaces or tabs; this line has commas."),
        ([], "f.run: the file contains no rows."),
        (["# nothing"], "f.run: the file contains no rows."),
    ],
)
def test_what_spoils_a_file_is_listed_with_its_place(lines, fault):
    draft = read(*lines)

    assert draft.is_spoilt
    assert mistakes(draft)[-1].startswith(fault)


def test_every_bad_line_is_listed_in_the_order_of_the_file():
    draft = read("q1 Q0 a one 3 t", "q9 Q0 a 1 3 t", "q1 Q0 b 2 nan t", "q1 Q0", "q1 Q0 c 1 3 t", "q1 Q0 c 2 2 t")

    assert [(error.line, error.field) for error in draft.errors] == [
        (1, "rank"),
        (2, "query"),
        (3, "score"),
        (4, "line"),
        (6, "block"),
    ]
    assert draft.is_spoilt
    assert rankings(draft) == {11: ([2], [3.0])}


def test_mistakes_seen_only_at_the_end_are_listed_at_their_line():
    draft = read("q1 Q0 a 1 3 t", "q1 Q0 b 2 2 u", "q1 Q0 c nan 1 t")

    assert [(error.line, error.field) for error in draft.errors] == [(2, "tag"), (3, "rank")]


def test_a_damaged_archive_ends_the_reading_and_spoils_the_file(tmp_path):
    whole = gzip.compress(b"".join(b"q1 Q0 a%d 1 3 t\n" % number for number in range(5_000)))
    lines = lines_in(io.BytesIO(whole[: len(whole) // 2]), "f.run.gz")

    draft = draft_from_lines(lines, "f.run.gz", **KNOWN)

    assert draft.is_spoilt
    assert "cannot be read: Compressed file ended before" in mistakes(draft)[-1]


def test_rows_over_the_wire_are_read_alike():
    draft = draft_from_rows(as_rows(("q1", "a", 1.0), ("q1", "b", 2.0)), "t", "rows", **KNOWN)

    assert rankings(draft) == {11: ([1, 0], [2.0, 1.0])}
    assert draft.reordered == 0


def test_rows_over_the_wire_name_what_is_wrong_by_row_number():
    draft = draft_from_rows(
        as_rows(("q1", "a", 1.0), ("q1", "a", 2.0), ("q1", "b", float("inf"))), "t", "rows", **KNOWN
    )

    assert mistakes(draft) == [
        "rows, line 2, block: 'a' is listed twice for query 'q1'.",
        "rows, line 3, score: 'inf' is not a finite number.",
    ]


def test_rows_of_another_form_are_listed_by_row_number():
    good, worded, huge = as_rows(("q1", "a", 2.0), ("q1", "b", "x"), ("q1", "c", 10**400))
    rows = [["q1", "a", 1], {"query_id": "q1"}, good, worded, huge]

    draft = draft_from_rows(rows, "t", "rows", **KNOWN)

    assert [error.line for error in draft.errors] == [1, 2, 4, 5]
    assert (draft.is_spoilt, draft.rows) == (True, 1)
