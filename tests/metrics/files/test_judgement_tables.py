"""Judgements from tables whose first line names the columns, as `karat score --qrels` takes them."""

import gzip
import io
from types import SimpleNamespace

import pytest

from apps.common.errors import InputError, InputErrors
from apps.metrics.files.reading import load_qrels
from apps.metrics.vocabulary import Vocabulary

ROWS = [("Q1", "a", 2), ("Q1", "b", 0), ("Q2", "a", -1)]


def written(tmp_path, text):
    path = tmp_path / "judgements.csv"
    path.write_bytes(text.encode())
    return path


def rows_of(judged):
    pairs = zip(judged.query.tolist(), judged.block.tolist(), judged.grade.tolist(), strict=True)
    return [(judged.queries[query], judged.ids[block].decode(), grade) for query, block, grade in pairs]


@pytest.mark.parametrize(
    ("heading", "row"),
    [
        ("query_id,doc_id,grade", "{},{},{}"),
        ("query,docid,rating", "{},{},{}"),
        ("query-id\tcorpus-id\tscore", "{}\t{}\t{}"),
        ("qid;docno;relevance", "{};{};{}"),
        ("query_id,query_text,doc_id,doc_title,grade,split,notes", '{0},"a, b",{1},A title,{2},dev,'),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_the_heading_says_what_the_columns_are(tmp_path, heading, row, ending):
    lines = [heading, *(row.format(*one) for one in ROWS)]

    assert rows_of(load_qrels(written(tmp_path, "\ufeff" + ending.join(lines)))) == ROWS


def test_a_table_is_read_from_standard_input_and_unpacked(monkeypatch):
    packed = gzip.compress(b"query,block,grade\nQ1,a,2\nQ1,b,0\nQ2,a,-1\n")
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(packed)))

    assert rows_of(load_qrels("-")) == ROWS


def test_blocks_are_numbered_by_the_vocabulary(tmp_path):
    blocks = Vocabulary()

    judged = load_qrels(written(tmp_path, "query,block,grade\nQ1,a,2\nQ1,b,0\nQ2,a,-1\n"), blocks)

    assert judged.block.tolist() == [0, 1, 0]
    assert list(blocks) == [b"a", b"b"]


def test_an_empty_grade_is_not_a_judgement(tmp_path):
    assert rows_of(load_qrels(written(tmp_path, "query,docid,rating\nQ1,a,\nQ1,b,1\n"))) == [("Q1", "b", 1)]


def test_a_facet_is_a_column_too(tmp_path):
    path = written(tmp_path, "query,facet,block,grade\nQ1,f1,a,1\nQ1,f2,a,0\nQ1,f1,b,0\n")

    judged = load_qrels(path, Vocabulary(), with_facets=True)

    assert judged.grade.tolist() == [1, 0]
    assert judged.facets is not None
    assert judged.facets.facet.tolist() == [0, 1, 0]


def test_every_mistake_is_named_with_its_line(tmp_path):
    text = "query,docid,rating\nQ1,a,2\nQ1,a,1\nQ2,,1\n,c,1\nQ2,c,1.5\nQ2,c\n"

    with pytest.raises(InputErrors) as caught:
        load_qrels(written(tmp_path, text))

    assert [(error.line, error.field, error.value) for error in caught.value.errors] == [
        (3, "block", "a"), (4, "block", ""), (5, "query", ""), (6, "grade", "1.5"), (7, "", "Q2"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("query,docid,stars\nQ1,a,2\n", "line 1, grade: this column is missing; looked for grade, rating, "),
        ("query,grade\nQ1,2\n", "line 1, block: this column is missing; looked for block, block_id, "),
        ("query,docid,doc_id,grade\nQ1,a,b,2\n", "mean the same; keep one of them"),
    ],
)
def test_a_heading_that_says_too_little_or_too_much_is_refused(tmp_path, text, said):
    with pytest.raises(InputErrors, match=said):
        load_qrels(written(tmp_path, text))


def test_a_table_without_grades_has_no_judgements(tmp_path):
    with pytest.raises(InputError, match="contains no judgements"):
        load_qrels(written(tmp_path, "query,docid,rating\nQ1,a,\n"))


def test_a_qrels_file_with_tabs_is_not_a_table(tmp_path):
    assert rows_of(load_qrels(written(tmp_path, "query\t0\tb1\t1\nQ2\t0\tb1,b2;b3\t0\n"))) == [
        ("query", "b1", 1),
        ("Q2", "b1,b2;b3", 0),
    ]


def test_a_list_of_quepid_is_read_to_its_counts(shared_data):
    judged = load_qrels(shared_data / "chorus_ratings" / "Broad_Query_Set_rated.csv")

    assert (len(judged.queries), len(judged.grade)) == (135, 3668)
