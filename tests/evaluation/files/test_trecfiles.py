import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.common.errors import InputError
from apps.evaluation.files.trecfiles import load_qrels, load_run
from apps.evaluation.files.vocabulary import Vocabulary
from apps.evaluation.measures import measure_run, parse_measures

MEASURES = parse_measures("nDCG@3 AP RR P@2 Bpref Judged@3")
QUERY = st.sampled_from(["q1", "q2", "q10"])
BLOCK = st.sampled_from(["a", "b", "ab", "block-0000001", "block-0000002", "x" * 200, "é"])


def written(tmp_path_factory, qrels, run):
    folder = tmp_path_factory.mktemp("files")
    (folder / "qrels.txt").write_text("".join(f"{q} 0 {b} {grade}\n" for (q, b), grade in qrels.items()))
    (folder / "run.txt").write_text("".join(f"{q} Q0 {b} 1 {score} t\n" for (q, b), score in run.items()))
    return folder / "qrels.txt", folder / "run.txt"


@given(
    st.dictionaries(st.tuples(QUERY, BLOCK), st.integers(0, 3), min_size=1),
    st.dictionaries(st.tuples(st.sampled_from(["q1", "q2", "other"]), BLOCK), st.sampled_from([0.5, 1.0, 2.0])),
)
def test_values_do_not_depend_on_how_blocks_are_numbered(tmp_path_factory, qrels, run):
    judgements, ranking = written(tmp_path_factory, qrels, run)

    found = []
    for blocks in (None, Vocabulary()):
        judged = load_qrels(judgements, blocks)
        file = load_run(ranking, judged, blocks)
        found.append((measure_run(MEASURES, judged, file.ranked, file.ids).tolist(), file.unjudged))

    assert repr(found[0]) == repr(found[1])


@given(
    st.dictionaries(st.tuples(QUERY, BLOCK), st.integers(0, 3), min_size=1),
    st.dictionaries(st.tuples(QUERY, BLOCK), st.sampled_from([0.5, 1.0, 2.0])),
)
def test_every_row_of_a_run_is_known_by_its_id(tmp_path_factory, qrels, run):
    judgements, ranking = written(tmp_path_factory, qrels, run)
    judged = load_qrels(judgements)

    file = load_run(ranking, judged)

    rows = zip(file.ranked.query.tolist(), file.ranked.block.tolist(), file.ranked.score.tolist(), strict=True)
    expected = {pair: score for pair, score in run.items() if pair[0] in judged.queries}
    assert {(judged.queries[q], file.ids[b].decode()): score for q, b, score in rows} == expected


@pytest.mark.parametrize("blocks", [None, Vocabulary()], ids=["alone", "numbered"])
def test_a_block_that_stands_twice_is_named_with_both_lines(tmp_path, blocks):
    (tmp_path / "qrels.txt").write_text("Q1 0 a 1\nQ2 0 a 1\n")
    (tmp_path / "twice.txt").write_text("Q1 0 a 1\nQ2 0 a 1\nQ1 0 a 0\n")
    (tmp_path / "run.txt").write_text("Q1 Q0 a 1 2 t\nQ2 Q0 b 1 2 t\nQ2 Q0 b 2 1 t\n")
    judged = load_qrels(tmp_path / "qrels.txt", blocks)

    with pytest.raises(InputError, match="line 3, block: 'a' stands twice for query 'Q1', first in line 1"):
        load_qrels(tmp_path / "twice.txt", blocks)
    with pytest.raises(InputError, match="line 3, block: 'b' stands twice for query 'Q2', first in line 2"):
        load_run(tmp_path / "run.txt", judged, blocks)


def test_a_vocabulary_is_not_forgotten(tmp_path):
    (tmp_path / "qrels.txt").write_text("Q1 0 a 1\n")
    (tmp_path / "run.txt").write_text("Q1 Q0 a 1 2 t\n")
    judged = load_qrels(tmp_path / "qrels.txt", Vocabulary())

    with pytest.raises(ValueError, match="read with a vocabulary"):
        load_run(tmp_path / "run.txt", judged)
