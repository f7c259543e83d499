import io
from types import SimpleNamespace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from apps.common.errors import InputErrors
from apps.metrics.files import reading
from apps.metrics.files.reading import load_qrels, load_run
from apps.metrics.measures.registry import measure_run, parse_measures
from apps.metrics.vocabulary import Vocabulary

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
    assume({query for query, _ in qrels} & {query for query, _ in run})
    judgements, ranking = written(tmp_path_factory, qrels, run)

    found = []
    for blocks in (None, Vocabulary()):
        judged = load_qrels(judgements, blocks)
        file = load_run(ranking, judged, blocks)
        found.append((measure_run(MEASURES, judged, file.ranked, file.ids).tolist(), file.unjudged))

    assert repr(found[0]) == repr(found[1])


@pytest.mark.slow
@given(
    st.dictionaries(st.tuples(QUERY, BLOCK), st.integers(0, 3), min_size=1),
    st.dictionaries(st.tuples(QUERY, BLOCK), st.sampled_from([0.5, 1.0, 2.0])),
)
def test_every_row_of_a_run_is_known_by_its_id(tmp_path_factory, qrels, run):
    assume({query for query, _ in qrels} & {query for query, _ in run})
    judgements, ranking = written(tmp_path_factory, qrels, run)
    judged = load_qrels(judgements)

    file = load_run(ranking, judged)

    rows = zip(file.ranked.query.tolist(), file.ranked.block.tolist(), file.ranked.score.tolist(), strict=True)
    expected = {pair: score for pair, score in run.items() if pair[0] in judged.queries}
    assert {(judged.queries[q], file.ids[b].decode()): score for q, b, score in rows} == expected


@pytest.mark.parametrize("blocks", [None, Vocabulary()], ids=["alone", "numbered"])
def test_a_block_that_occurs_twice_is_named_with_both_lines(tmp_path, blocks):
    (tmp_path / "qrels.txt").write_text("Q1 0 a 1\nQ2 0 a 1\n")
    (tmp_path / "twice.txt").write_text("Q1 0 a 1\nQ2 0 a 1\nQ1 0 a 0\n")
    (tmp_path / "run.txt").write_text("Q1 Q0 a 1 2 t\nQ2 Q0 b 1 2 t\nQ2 Q0 b 2 1 t\n")
    judged = load_qrels(tmp_path / "qrels.txt", blocks)

    with pytest.raises(InputErrors, match="line 3, block: 'a' appears twice for query 'Q1', with grade 0 here and 1"):
        load_qrels(tmp_path / "twice.txt", blocks)
    with pytest.raises(InputErrors, match="line 3, block: 'b' appears twice for query 'Q2', first in line 2"):
        load_run(tmp_path / "run.txt", judged, blocks)


def test_doubles_are_all_named_up_to_a_number(tmp_path):
    (tmp_path / "qrels.txt").write_text("".join(f"Q1 0 b{row % 12} {row // 12}\n" for row in range(24)))

    with pytest.raises(InputErrors) as caught:
        load_qrels(tmp_path / "qrels.txt")

    assert [error.line for error in caught.value.errors] == list(range(13, 23))
    assert caught.value.unlisted == 2


def test_doubles_in_standard_input_are_named_with_their_lines(monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"Q1 0 a 1\nQ1 0 b 1\nQ1 0 a 0\nQ1 0 b 2\n")))

    with pytest.raises(InputErrors) as caught:
        load_qrels("-")

    assert [str(error) for error in caught.value.errors] == [
        "standard input, line 3, block: 'a' appears twice for query 'Q1', with grade 0 here and 1 in line 1.",
        "standard input, line 4, block: 'b' appears twice for query 'Q1', with grade 2 here and 1 in line 2.",
    ]


def test_every_mistake_of_a_run_is_named_up_to_a_number(tmp_path):
    (tmp_path / "qrels.txt").write_text("Q1 0 a 1\n")
    bad = ["Q1 Q0 b 2 abc t", "Q1 Q0 b", "Q1 Q0 c x 1.0 t", "Q1 Q0 a 2 1.0 t"]
    (tmp_path / "run.txt").write_text("\n".join(["Q1 Q0 a 1 2 t", *bad, *["Q1"] * 8]))

    with pytest.raises(InputErrors) as caught:
        load_run(tmp_path / "run.txt", load_qrels(tmp_path / "qrels.txt"))

    assert [(error.line, error.field) for error in caught.value.errors][:4] == [
        (2, "score"), (3, "line"), (4, "rank"), (5, "block"),
    ]  # fmt: skip
    assert (len(caught.value.errors), caught.value.unlisted) == (10, 2)


@pytest.mark.slow
def test_mistakes_far_apart_are_named_with_their_lines(tmp_path):
    good = "".join(f"Q{number} 0 a 1\n" for number in range(60_000))
    (tmp_path / "qrels.txt").write_text(f"Q 0 a\n{good}Q 0 b x\n{good.replace('a', 'b')}Q 0 c 1.5\n")

    with pytest.raises(InputErrors) as caught:
        load_qrels(tmp_path / "qrels.txt")

    assert [error.line for error in caught.value.errors] == [1, 60_002, 120_003]


def test_a_vocabulary_is_not_forgotten(tmp_path):
    (tmp_path / "qrels.txt").write_text("Q1 0 a 1\n")
    (tmp_path / "run.txt").write_text("Q1 Q0 a 1 2 t\n")
    judged = load_qrels(tmp_path / "qrels.txt", Vocabulary())

    with pytest.raises(ValueError, match="read with a vocabulary"):
        load_run(tmp_path / "run.txt", judged)


@pytest.mark.parametrize("rows_at_once", [1, 3, 1_000])
@pytest.mark.parametrize("blocks", [None, Vocabulary()], ids=["own numbers", "vocabulary"])
@pytest.mark.parametrize("is_mixed", [False, True], ids=["by query", "mixed"])
def test_a_run_is_read_alike_piece_by_piece(tmp_path, monkeypatch, is_mixed, blocks, rows_at_once):
    long = "long" * 40
    rows = [f"Q{query} Q0 {block} 1 {query}.5 t" for query in (1, 2, 3) for block in ("a", "b", long)]
    (tmp_path / "run").write_text("\n".join(rows[::2] + rows[1::2] if is_mixed else rows))
    (tmp_path / "qrels").write_text(f"Q1 0 b 1\nQ2 0 {long} 2\nQ2 0 c 1\n")
    monkeypatch.setattr(reading, "ROWS_AT_ONCE", rows_at_once)

    judged = load_qrels(tmp_path / "qrels", blocks)
    run = load_run(tmp_path / "run", judged, blocks)

    pairs = zip(run.ranked.query.tolist(), run.ranked.block.tolist(), strict=True)
    found = {(judged.queries[query], run.ids[block].decode()) for query, block in pairs}
    assert found == {(query, block) for query in ("Q1", "Q2") for block in ("a", "b", long)}
    assert measure_run(parse_measures("P@3 Recall@3"), judged, run.ranked, run.ids).tolist() == [
        [1 / 3, 1],
        [1 / 3, 1 / 2],
    ]


@pytest.mark.parametrize("rows_at_once", [1, 3, 1_000])
@pytest.mark.parametrize("again", [1, 4, 6])
def test_a_double_is_found_piece_by_piece(tmp_path, monkeypatch, again, rows_at_once):
    """After its own query, and after others."""
    rows = [f"Q{query} Q0 b{place} 1 1 t" for query in (1, 2) for place in (1, 2, 3)]
    rows.insert(again, rows[0])
    (tmp_path / "run").write_text("\n".join(rows))
    (tmp_path / "qrels").write_text("Q1 0 b1 1\nQ2 0 b1 1\n")
    monkeypatch.setattr(reading, "ROWS_AT_ONCE", rows_at_once)

    with pytest.raises(InputErrors) as refused:
        load_run(tmp_path / "run", load_qrels(tmp_path / "qrels"))

    assert [error.line for error in refused.value.errors] == [again + 1]


RANKED = [("q1", "a", 1, 0.9), ("q1", "b", 2, 0.5), ("q2", "b", 1, 0.7)]


@pytest.fixture
def judged(tmp_path):
    (tmp_path / "qrels.txt").write_text("q1 0 a 0\nq1 0 b 2\nq2 0 b 1\n")
    return load_qrels(tmp_path / "qrels.txt")


@pytest.mark.parametrize("heading", ["query,passage,rank,score", "qid;doc_id;position;similarity"])
def test_a_table_with_a_heading_is_the_same_run_as_trecs_six_columns(tmp_path, judged, heading):
    mark = "," if "," in heading else ";"
    table, trec = tmp_path / "mine.csv", tmp_path / "mine.txt"
    lines = [mark.join(map(str, row)) for row in RANKED]
    table.write_text("\n".join([heading, *lines, ""]))
    trec.write_text("".join(f"{query} Q0 {block} {rank} {score} mine\n" for query, block, rank, score in RANKED))

    runs = [load_run(path, judged) for path in (table, trec)]

    values = [measure_run(MEASURES, judged, run.ranked, run.ids).tolist() for run in runs]
    assert repr(values[0]) == repr(values[1])
    assert [run.tag for run in runs] == ["mine", "mine"]


def test_a_mistake_in_a_table_is_told_with_file_line_field_and_value(tmp_path, judged):
    path = tmp_path / "mine.csv"
    path.write_text("query,passage,rank,score\nq1,a,1,high\nq1,,2,0.5\n")

    with pytest.raises(InputErrors) as refused:
        load_run(path, judged)

    first, second = refused.value.errors
    assert (first.line, first.field, first.value) == (2, "score", "high")
    assert (second.line, second.field) == (3, "block")
    assert "mine.csv, line 2, score" in str(refused.value)
