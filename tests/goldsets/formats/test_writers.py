import csv
import io
import json
from dataclasses import replace

import pytest
from sklearn.datasets import load_svmlight_file

from apps.common.files.csvsafe import BYTE_ORDER_MARK, restore_cell
from apps.goldsets.formats import jsonl, judgements, qrels
from apps.goldsets.formats.content import GradeRow, Unwritable, in_order
from apps.metrics.files.trec_rows import read_qrel_rows
from tests.goldsets.content import SMALL, ListContent, with_query, written


def texts(files) -> dict[str, str]:
    return {path: data.decode() for path, data in written(files).items()}


def test_trec_qrels_contain_the_grades_of_judged_pairs_and_nothing_else(tmp_path):
    files = texts(qrels.trec_files(SMALL))
    (tmp_path / "qrels.txt").write_text(files["trec/qrels.txt"])

    assert files["trec/qrels.txt"] == "Q01 0 b1 3\nQ01 0 b2 0\nQ02 0 b1 1\n"
    assert [tuple(row)[:3] for row in read_qrel_rows(tmp_path / "qrels.txt")] == [
        ("Q01", "b1", 3),
        ("Q01", "b2", 0),
        ("Q02", "b1", 1),
    ]


class CountedReads(ListContent):
    """Content that counts how often its grades are read."""

    reads = 0

    def grades(self, split=None):
        self.reads += 1
        return super().grades(split)


def test_trec_reads_the_grades_once_for_all_its_files():
    content = CountedReads(**vars(SMALL))

    files = texts(qrels.trec_files(content))
    assert files == texts(qrels.trec_files(SMALL))
    assert content.reads == 1


def test_a_split_without_a_grade_has_an_empty_qrels_file():
    files = texts(qrels.trec_files(replace(SMALL, grade_rows=[row for row in SMALL.grade_rows if row.split == "dev"])))
    assert (files["trec/qrels.dev.txt"], files["trec/qrels.test.txt"]) == ("Q01 0 b1 3\nQ01 0 b2 0\n", "")


def test_trec_topics_have_number_title_and_description():
    first = texts(qrels.trec_files(replace(SMALL, query_rows=SMALL.query_rows[:1])))["trec/topics.txt"]
    assert first == (
        "<top>\n\n<num> Number: Q01\n\n<title> How long are keys kept?\n\n"
        "<desc> Description:\n\nRetention\n\n</top>\n\n"
    )


@pytest.mark.parametrize("query_id", ["Q 01", "Q\t01", "Q\u00a001"])
def test_trec_refuses_ids_with_white_space_in_a_sentence(query_id):
    with pytest.raises(Unwritable, match="contains white space, which separates the columns of a TREC or LETOR file"):
        texts(qrels.trec_files(with_query(query_id=query_id)))


def test_trec_refuses_an_id_that_reads_as_a_comment():
    with pytest.raises(Unwritable, match="would be read as a comment"):
        texts(qrels.trec_files(with_query(query_id="#1")))


def test_trec_refuses_a_query_that_would_end_its_topic():
    with pytest.raises(Unwritable, match="parse as a tag"):
        texts(qrels.trec_files(with_query(text="what does </top> do")))


def test_flat_csv_has_the_fixed_columns_and_safe_cells():
    text = texts(judgements.csv_files(SMALL))["csv/judgements.csv"].removeprefix(BYTE_ORDER_MARK)
    rows = list(csv.reader(io.StringIO(text)))

    assert rows[0] == ["query_id", "query_text", "doc_id", "doc_title", "grade", "split", "notes"]
    assert rows[2] == ["Q01", "How long are keys kept?", "b2", "Größe", "0", "dev", "single, 1 judge"]
    assert rows[3][1] == '\'=SUM("a")'
    assert restore_cell(rows[3][1]) == '=SUM("a")'
    assert "\r" not in text


def test_jsonl_is_never_altered():
    files = texts(jsonl.files(SMALL))

    assert json.loads(files["jsonl/queries.jsonl"].splitlines()[1])["text"] == '=SUM("a")'
    assert '"„Anführung“ 数据"' in files["jsonl/corpus.jsonl"]
    assert '"metadata": {"a": 2, "z": 1}' in files["jsonl/corpus.jsonl"]


def test_jsonl_triple_has_the_fields_of_a_published_entry():
    entry = json.loads(texts(jsonl.files(SMALL))["jsonl/triples.jsonl"])

    assert entry["question"] == "How long are keys kept?"
    assert entry["expected_block"] == {"block_id": "b1", "document_id": "doc", "page_range": [3, 4]}
    assert entry["expected_answer"] == "90 days"
    assert entry["metadata"] == {
        "domain": "security",
        "difficulty": "easy",
        "added_by": "Mara",
        "added_at": "2026-11-01T08:00:00Z",
        "reviewed_by": ["Ines", "Tobias"],
        "resolution": "consensus",
        "machine_written": False,
        "split": "dev",
    }


def test_beir_folder_has_corpus_queries_and_qrels_by_split():
    files = texts(qrels.beir_files(SMALL))

    assert set(files) == {
        "beir/corpus.jsonl",
        "beir/queries.jsonl",
        "beir/qrels/dev.tsv",
        "beir/qrels/test.tsv",
    }
    assert files["beir/qrels/dev.tsv"] == "query-id\tcorpus-id\tscore\nQ01\tb1\t3\nQ01\tb2\t0\n"
    assert json.loads(files["beir/corpus.jsonl"].splitlines()[0])["_id"] == "b1"


def test_beir_keeps_ids_with_spaces_and_refuses_tabs():
    assert "Q 01\tb1\t3\n" in texts(qrels.beir_files(with_query(query_id="Q 01")))["beir/qrels/dev.tsv"]
    with pytest.raises(Unwritable, match="contains a tab"):
        texts(qrels.beir_files(with_query(query_id="Q\t01")))


def test_rows_out_of_bytewise_order_are_refused():
    rows = [GradeRow("Q01", "b", 1), GradeRow("Q01", "B", 1)]

    with pytest.raises(Unwritable, match="out of order"):
        list(in_order(rows, lambda row: (row.query_id, row.block_id)))


@pytest.mark.parametrize("files", [jsonl.files, judgements.csv_files, qrels.trec_files, qrels.beir_files])
def test_a_version_with_nothing_in_it_writes_files_without_rows(files):
    found = texts(files(ListContent()))

    assert all(text == "" or text.count("\n") == 1 for text in found.values())


# Learning to rank


def test_letor_has_the_grade_the_number_of_the_query_and_the_score_of_each_run():
    files = texts(qrels.letor_files(SMALL))

    assert files["letor/dev.txt"] == "3 qid:1 1:2.5 2:0.25 # Q01 b1\n0 qid:1 1:1e-05 2:-3.0 # Q01 b2\n"
    assert files["letor/test.txt"] == "1 qid:2 1:0.0 2:0.5 # Q02 b1\n"
    assert json.loads(files["letor/features.json"])["features"] == [
        {"feature": 1, "run": "bm25 of May", "system": "BM25", "digest": "5d41"},
        {"feature": 2, "run": "dense", "system": "Dense", "digest": "9a0c"},
    ]


def test_scikit_learn_reads_grades_queries_and_scores():
    files = written(qrels.letor_files(SMALL))

    (x, y, qid), (_, _, later) = (
        load_svmlight_file(io.BytesIO(files[f"letor/{split}.txt"]), query_id=True) for split in ("dev", "test")
    )

    assert (y.tolist(), qid.tolist(), later.tolist()) == ([3.0, 0.0], [1, 1], [2])
    assert x.toarray().tolist() == [[2.5, 0.25], [1e-05, -3.0]]


def test_the_file_of_a_split_is_the_same_without_the_other_split_behind_it():
    dev = replace(
        SMALL, query_rows=SMALL.query_rows[:1], grade_rows=[row for row in SMALL.grade_rows if row.split == "dev"]
    )

    assert texts(qrels.letor_files(dev))["letor/dev.txt"] == texts(qrels.letor_files(SMALL))["letor/dev.txt"]


def test_letor_without_runs_has_no_file():
    assert written(qrels.letor_files(replace(SMALL, run_scores=None))) == {}


def test_letor_refuses_ids_that_would_not_be_read():
    blank = with_query(query_id="Q 01")
    scores = SMALL.run_scores._replace(of_pairs={(row.query_id, row.block_id): [0.0] for row in blank.grade_rows})

    with pytest.raises(Unwritable, match="contains white space"):
        written(qrels.letor_files(replace(blank, run_scores=scores)))
