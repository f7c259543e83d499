"""Judgement lists of learning to rank: which query and which document a line is of."""

import io

import pytest

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.judging.formats.recognition import opener_of, recognise
from apps.judging.formats.tools.letor import FEATURES, REMARKS

NAMED = (
    "# qid:1: rambo\n# qid:2: rocky one\n#\n4\tqid:1 # 7555\tRambo\n0\tqid:1 # 1370\tRambo III\n3 qid:2 # 60375 Rocky\n"
)
BEHIND = "4\tqid:1 #\t7555\trambo\n0\tqid:1 #\t1370\trambo\n3\tqid:2 #\t60375\trocky one\n"
OWN = "2 qid:1 1:0.5 2:-1.0 # q7 d1\n0 qid:1 1:0.25 2:0.0 # q7 d2\n1 qid:2 1:0.25 2:0.0 # q8 d1\n"
LETOR = (
    "2 qid:10032 1:0.05 46:0.07 #docid = GX029-35 inc = 0.01 prob = 0.5\n0 qid:10032 1:0.1 #docid = GX030-77 inc = 1\n"
)
TITLES = "4 qid:7 # d1 First Blood\n0 qid:7 # d2 Rambo III\n"


def opened(text: str, errors: ErrorList):
    source = TableFile("list.txt", io.BytesIO(text.encode()))
    return opener_of(recognise(source))(source, errors)


@pytest.mark.parametrize(
    ("text", "headings", "rows", "notes"),
    [
        (NAMED, ["query", "docno"], [("rambo", "7555", "4"), ("rambo", "1370", "0"), ("rocky one", "60375", "3")], []),
        (BEHIND, ["query", "docno"], [("rambo", "7555", "4"), ("rambo", "1370", "0"), ("rocky one", "60375", "3")], []),
        (OWN, ["query_id", "docno"], [("q7", "d1", "2"), ("q7", "d2", "0"), ("q8", "d1", "1")], [FEATURES]),
        (LETOR, ["query_id", "docno"], [("10032", "GX029-35", "2"), ("10032", "GX030-77", "0")], [FEATURES]),
        (TITLES, ["query_id", "docno"], [("7", "d1", "4"), ("7", "d2", "0")], [REMARKS]),
    ],
)
def test_lines_are_read_with_the_query_that_they_name(text, headings, rows, notes):
    table = opened(text, errors := ErrorList())

    assert (table.headings, [tuple(cells) for _, cells in table.rows]) == ([*headings, "grade"], rows)
    assert (list(table.notes), errors.total) == (notes, 0)
    assert set(table.known) == set(table.headings)


def test_a_query_without_words_leaves_none_to_the_others():
    table = opened("# qid:1: rambo\n4 qid:1 # 7555\n3 qid:2 # 60375 Rocky\n", ErrorList())

    assert [cells for _, cells in table.rows] == [["1", "7555", "4"], ["2", "60375", "3"]]


@pytest.mark.parametrize(
    ("line", "reason"),
    [("3 qid:1 1:0.5", "the document stands behind the #"), ("3 d7 qid:1", "is not of the form: grade qid:1")],
)
def test_a_line_without_a_document_is_named(line, reason):
    opened(f"4 qid:1 # 7555\n{line}\n", errors := ErrorList())

    assert [(error.line, reason in error.message) for error in errors.listed] == [(2, True)]


def test_two_words_of_queries_with_one_line_each_are_not_guessed():
    with pytest.raises(InputError, match="line 1: may be the query or the document"):
        opened("3 qid:1 1:0.5 # Q01 D01\n0 qid:2 1:0.0 # Q02 D02\n", ErrorList())


def test_features_alone_are_no_judgements():
    opened("3 qid:1 1:0.5\n", errors := ErrorList())

    assert errors.total == 1
    with pytest.raises(InputError, match="the file has no grade"):
        opener_of("letor")(TableFile("list.txt", io.BytesIO(b"# nothing\n")), ErrorList())
