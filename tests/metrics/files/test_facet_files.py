import pytest

from apps.common.errors import InputError, InputErrors
from apps.metrics.files.reading import load_qrels
from apps.metrics.files.trec_rows import QrelRow, parse_qrels
from apps.metrics.vocabulary import Vocabulary


def written(tmp_path, text):
    path = tmp_path / "qrels.txt"
    path.write_text(text)
    return path


def rows_of(text):
    return list(parse_qrels(text.encode().splitlines(), "qrels"))


def test_the_second_column_is_the_facet():
    assert rows_of("Q1 f1 B7 1\nQ1 f2 B7 0\n# a remark\nQ2 f1 B8 -1\n") == [
        QrelRow("Q1", "B7", 1, "f1"),
        QrelRow("Q1", "B7", 0, "f2"),
        QrelRow("Q2", "B8", -1, "f1"),
    ]


def test_a_pair_may_occur_once_for_each_facet():
    with pytest.raises(
        InputError, match="line 3, block: 'B7' appears twice for query 'Q1', with grade 2 here and 1 in line 1"
    ):
        rows_of("Q1 f1 B7 1\nQ1 f2 B7 0\nQ1 f1 B7 2\n")


def test_facets_are_numbered_and_a_pair_has_its_best_grade(tmp_path):
    blocks = Vocabulary()

    judged = load_qrels(written(tmp_path, "Q2 a B7 0\nQ1 b B8 1\nQ2 b B7 3\nQ2 b B8 -1\n"), blocks, with_facets=True)

    assert judged.queries == ("Q2", "Q1")
    rows = zip(judged.query.tolist(), judged.block.tolist(), judged.grade.tolist(), strict=True)
    assert list(rows) == [(0, 0, 3), (0, 1, -1), (1, 1, 1)]
    assert judged.facets is not None
    assert [column.tolist() for column in judged.facets] == [[0, 1, 0, 0], [0, 1, 1, 1], [0, 1, 0, 1], [0, 1, 3, -1]]


def test_a_file_with_one_value_in_the_column_has_no_facets(tmp_path):
    assert load_qrels(written(tmp_path, "Q1 0 B7 1\nQ2 0 B7 1\n"), Vocabulary(), with_facets=True).facets is None


@pytest.mark.parametrize("blocks", [None, Vocabulary()])
@pytest.mark.parametrize(
    "text",
    ["Q1 f1 B7 1\nQ1 f2 B7 0\nQ1 f1 B7 1.0\n", "qid,subtopic,docno,rel\nQ1,f1,B7,1\nQ1,f2,B7,0\nQ1,f1,B7,1\n"],
)
def test_where_facets_do_not_matter_a_pair_has_its_best_grade_and_a_judgement_counts_once(tmp_path, blocks, text):
    judged = load_qrels(written(tmp_path, text), blocks)

    assert (judged.queries, judged.grade.tolist(), judged.facets) == (("Q1",), [1], None)
    assert judged.remarks == (
        "1 row repeats a judgement; each counts once.",
        "1 row judges a pair for one more facet; the best grade counts.",
    )


def test_two_grades_of_a_pair_for_one_facet_are_refused(tmp_path):
    with pytest.raises(InputErrors, match="line 2, block: 'B7' appears twice for query 'Q1', with grade 0 here and 1"):
        load_qrels(written(tmp_path, "Q1 0 B7 1\nQ1 0 B7 0\n"))
