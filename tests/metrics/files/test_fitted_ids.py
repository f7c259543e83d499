"""Judged ids that nearly fit those of a run."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.metrics.files.attributes import fit_of, fit_words, fitted
from apps.metrics.files.reading import load_qrels, load_run
from apps.metrics.vocabulary import Ids, Vocabulary

NUMBERS = st.lists(st.integers(1, 400), min_size=2, max_size=20, unique=True)


def test_the_rule_is_found_from_the_judged_side_among_many_other_blocks():
    run = [f"doc_{number}" for number in range(1_000)]

    fit = fit_of(["7", "12", "elsewhere"], run)

    assert dict(fit.fits) == {"7": "doc_7", "12": "doc_12"}
    assert fit_words(fit, "blocks") == (
        "2 of 3 judged blocks nearly match: the ids differ by the prefix doc_, as 7 is doc_7 in the run."
    )


def test_ids_that_agree_or_have_nothing_in_common_have_no_rule():
    assert fit_of(["Q1", "Q2"], ["Q1", "Q2", "Q3"]) is None
    assert fit_of(["Q1", "Q2"], ["tax-1", "tax-2"]) is None


def test_an_id_that_the_run_has_exactly_is_left_alone():
    assert fit_of(["Q1"], ["Q1", "q1"]) is None
    assert fit_of(["Q1", "Q2"], ["Q1", "q2"]).fits == {"Q2": "q2"}


@given(NUMBERS, st.sampled_from([str, "{:05}".format, "doc_{}".format, "DOC_{}".format]))
def test_a_column_in_another_spelling_is_read_as_the_judged_ids(numbers, spelling):
    judged = [f"doc_{number:03}" for number in numbers]
    rows = Ids.of([spelling(number) for number in numbers for _ in range(2)])

    column, fit = fitted(rows, judged)

    assert [one.decode() for one in column] == [one for one in judged for _ in range(2)]
    assert (fit is None) == (judged == [spelling(number) for number in numbers])


@pytest.mark.parametrize("has_vocabulary", [True, False])
def test_a_fitted_run_is_the_run_that_agreed_letter_by_letter(tmp_path, has_vocabulary):
    rows = [(query, block, 9.0 - block) for query in range(1, 4) for block in range(1, 6)]
    (tmp_path / "qrels").write_text("".join(f"Q{q:02} 0 b-{b:03} {b % 3}\n" for q, b, _ in rows if b < 4))
    (tmp_path / "same").write_text("".join(f"Q{q:02} Q0 b-{b:03} 1 {score} t\n" for q, b, score in rows))
    (tmp_path / "other").write_text("".join(f"q{q} Q0 B-{b} 1 {score} t\n" for q, b, score in rows))
    runs = []
    for name, fits in (("same", False), ("same", True), ("other", True)):
        blocks = Vocabulary() if has_vocabulary else None
        judged = load_qrels(tmp_path / "qrels", blocks)
        runs.append(load_run(tmp_path / name, judged, blocks, fits_ids=fits))

    assert [len(run.fits) for run in runs] == [0, 0, 2]
    for run in runs[1:]:
        judged_blocks = run.ranked.block < len(run.ids) - len(rows)
        assert np.array_equal(run.ranked.query, runs[0].ranked.query)
        assert np.array_equal(run.ranked.block[judged_blocks], runs[0].ranked.block[judged_blocks])
        assert np.array_equal(run.ranked.score, runs[0].ranked.score)
