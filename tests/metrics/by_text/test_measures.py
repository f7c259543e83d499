"""Every measure of grades, of what returned passages cover."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.metrics.columns import LOST, NOTHING, UNJUDGED, Ranked
from apps.metrics.measures.entries import GRADES_ALONE, REGISTRY
from apps.metrics.measures.notation import MeasureError
from apps.metrics.measures.registry import measure_run, parse_measures
from apps.metrics.scoring import if_judged, precision_at_recall, score_run
from tests.metrics.by_text.corpora import covered, graded, made_up

BY_GRADES = [entry.example for entry in REGISTRY.values() if entry.needs == GRADES_ALONE]
FORMS = parse_measures(
    "nDCG nDCG(judged_only=True)@5 nDCG(dcg='exp-log2')@5 nDCG(gains={1:1,2:3,3:9})@10 P(rel=2)@3 "
    "Recall(capped=True)@3 AP AP(capped=True)@3 RR(rel=2) Success@3 F1(rel=2)@5"
)
DOCUMENTS = made_up(11, 8, 5, 40)
TEXTS = [text for document in DOCUMENTS for text in document]
RUN_OF_A_QUERY = st.lists(st.integers(0, len(TEXTS) - 1), unique=True, max_size=12)
GRADES_OF_A_QUERY = st.dictionaries(st.integers(0, len(TEXTS) - 1), st.integers(-1, 3), min_size=1, max_size=15)


def values(measures, judged, ranked):
    return measure_run(measures, judged, ranked, [str(number) for number in range(len(TEXTS))])


def measured(text, documents, returned, grades, share=0.8):
    """The values of one measure, by query."""
    return measure_run(parse_measures(text), graded(grades), covered(documents, returned, share), [])[:, 0].tolist()


def by_id(runs):
    rows = [(query, block, -float(rank)) for query, run in enumerate(runs) for rank, block in enumerate(run)]
    query, block, score = np.array(rows).reshape(-1, 3).T
    return Ranked(query.astype(np.int64), block.astype(np.int64), score)


@given(st.lists(st.tuples(GRADES_OF_A_QUERY, RUN_OF_A_QUERY), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_a_system_that_returns_exactly_the_blocks_has_exactly_its_scores_by_id(queries):
    """Every measure, also over blocks of one to three words, and with marks of the pool that are no judgements."""
    grades, runs = zip(*queries, strict=True)
    judged, measures = graded(grades), [*BY_GRADES, *FORMS]

    by_text = covered(DOCUMENTS, [[TEXTS[block] for block in run] for run in runs])

    assert np.array_equal(values(measures, judged, by_id(runs)), values(measures, judged, by_text), equal_nan=True)
    ids = [str(number) for number in range(len(TEXTS))]
    assert precision_at_recall(judged, by_text, ids) == precision_at_recall(judged, by_id(runs), ids)


@given(GRADES_OF_A_QUERY, RUN_OF_A_QUERY)
@settings(max_examples=60, deadline=None)
def test_blocks_cut_in_two_are_found_within_twice_the_depth_and_never_earlier(grades, run):
    halves = []
    for block in run:
        words = TEXTS[block].split()
        middle = len(words) // 2
        halves += [" ".join(words[:middle]), " ".join(words[middle:])] if middle >= 4 else [TEXTS[block], ""]
    judged, whole, cut = graded([grades]), by_id([run]), covered(DOCUMENTS, [halves])

    def value(text, ranked):
        return values(parse_measures(text), judged, ranked)[0, 0]

    assert value("Recall@10", cut) == pytest.approx(value("Recall@5", whole))
    assert value("Success@10", cut) == value("Success@5", whole)
    assert value("RR", whole) / 2 <= value("RR", cut) <= value("RR", whole)
    assert value("nDCG", whole) / 2 - 1e-9 <= value("nDCG", cut) <= value("nDCG", whole) + 1e-9


@given(GRADES_OF_A_QUERY, RUN_OF_A_QUERY)
@settings(max_examples=60, deadline=None)
def test_neighbours_returned_as_one_are_found_no_later(grades, run):
    """Each block with the next one of its document."""

    def neighbour(block):
        return block + 1 if (block + 1) % 5 else block

    pairs = [
        TEXTS[block] if neighbour(block) == block else f"{TEXTS[block]} {TEXTS[neighbour(block)]}" for block in run
    ]
    long = [block for block in run if len(TEXTS[block].split()) >= 4]
    judged = graded([grades])
    whole, merged = (
        by_id([long]),
        covered(DOCUMENTS, [[pair for block, pair in zip(run, pairs, strict=True) if block in long]]),
    )
    for text in ("Recall@3", "Recall@10", "Success@1", "Success@5", "RR", "nDCG(gains={1:1,2:1,3:1})@1"):
        measures = parse_measures(text)
        assert values(measures, judged, merged)[0, 0] >= values(measures, judged, whole)[0, 0] - 1e-9


@given(GRADES_OF_A_QUERY)
@settings(max_examples=30, deadline=None)
def test_windows_shifted_by_half_earn_nothing_alone_and_all_together(grades):
    """Twenty words of each block, and windows that begin in the middle of one and end in the middle of the next."""
    blocks = [[f"w{place}" for place in range(20 * number, 20 * number + 20)] for number in range(len(TEXTS))]
    flat = [word for block in blocks for word in block]
    shifted = [" ".join(flat[start : start + 20]) for start in range(10, len(flat) - 10, 20)]
    documents, judged = [[" ".join(block) for block in blocks]], graded([grades])

    alone = covered(documents, [shifted[::2]])
    together = covered(documents, [shifted])

    assert values(parse_measures("Recall@100 P@5 nDCG@100"), judged, alone).tolist() == [[0.0, 0.0, 0.0]]
    inner = {block: grade for block, grade in grades.items() if 0 < block < len(blocks) - 1 and grade > 0}
    relevant = sum(grade > 0 for grade in grades.values())
    assert values(parse_measures("Recall@100"), judged, together)[0, 0] == pytest.approx(
        len(inner) / relevant if relevant else 0
    )
    assert (
        values(parse_measures("TokenRecall@100"), judged, alone)[0, 0]
        <= values(parse_measures("TokenRecall@100"), judged, together)[0, 0]
    )


TEN, OTHER, THIRD = (" ".join(f"{letter}{number}" for number in range(10)) for letter in "wvu")
ALL = [[TEN, OTHER, THIRD]]


def test_a_passage_gains_the_best_grade_that_is_new_and_all_that_it_covers_count_as_found():
    returned, grades = [[f"{TEN} {OTHER}", TEN, THIRD]], [{0: 1, 1: 3, 2: 2}]

    assert measured("nDCG@3", ALL, returned, grades) == pytest.approx([(3 + 2 / 2) / (3 + 2 / math.log2(3) + 1 / 2)])
    assert measured("Recall@1", ALL, returned, grades) == pytest.approx([2 / 3])
    assert measured("P@3", ALL, returned, grades) == pytest.approx([2 / 3])
    assert measured("AP", ALL, returned, grades) == pytest.approx([(1 + 1 + 2 / 3) / 3])


@pytest.mark.parametrize("text", [str(one) for one in [*BY_GRADES, *FORMS] if one.entry.high == 1.0])
def test_no_measure_leaves_its_range_when_one_passage_holds_everything(text):
    value = measured(text, ALL, [[f"{TEN} {OTHER} {THIRD}"]], [{0: 3, 1: 2, 2: 1}])[0]

    assert math.isnan(value) or 0 <= value <= 1


def test_what_each_passage_earns():
    returned = [[TEN, f"{TEN} and more words", " ".join(OTHER.split()[:5]), THIRD, "nowhere to be found at all"]]
    covering = covered([[TEN, OTHER], [THIRD]], returned)

    earned = covering.earnings(graded([{0: 2}]))

    assert earned.grade.tolist() == [2, NOTHING, NOTHING, UNJUDGED, LOST]
    assert earned.block.tolist()[0] == 0


def test_a_passage_over_judged_and_unjudged_blocks_is_judged():
    covering = covered(ALL, [[f"{TEN} {OTHER}"]])

    assert covering.earnings(graded([{0: 0}])).grade.tolist() == [0]
    assert covering.earnings(graded([{2: 3}])).grade.tolist() == [UNJUDGED]


def test_judged_counts_what_no_judgement_could_change():
    """Of four passages one covers an unjudged block and one is not located."""
    returned = [[TEN, TEN, THIRD, "nowhere to be found at all"]]

    assert measured("Judged@10", ALL, returned, [{0: 2}]) == [0.5]
    assert [
        one.range for one in if_judged(parse_measures("nDCG@10"), graded([{0: 2}]), covered(ALL, returned), [])
    ] == [None]


def test_words_returned_by_hand():
    returned, grades = [[f"{TEN} {' '.join(OTHER.split()[:5])}", TEN]], [{0: 1, 1: 2, 2: 0}]

    assert measured("TokenRecall@1", ALL, returned, grades) == [15 / 20]
    assert measured("TokenRecall(rel=2)@2", ALL, returned, grades) == [5 / 10]
    assert measured("TokenPrecision@2", ALL, returned, grades) == [25 / 25]
    assert measured("TokenPrecision(rel=2)@2", ALL, returned, grades) == [5 / 25]
    assert measured("TokenIoU@2", ALL, returned, grades) == [15 / (20 + 25 - 15)]


def test_words_that_are_not_located_count_as_returned_and_as_not_relevant():
    returned = [[TEN, "nowhere to be found at all"]]

    assert measured("TokenPrecision@2", ALL, returned, [{0: 1}]) == [10 / 16]


def test_words_of_a_query_without_results_or_relevant_blocks_are_zero():
    measures = parse_measures("TokenRecall@5 TokenPrecision@5 TokenIoU@5")

    assert measure_run(measures, graded([{0: 1}, {0: 0}]), covered(ALL, [[], [TEN]]), []).tolist() == [[0.0] * 3] * 2


def test_the_scores_of_a_run_by_text_have_intervals_and_counts():
    scores = score_run(parse_measures("P@1"), graded([{0: 1}, {0: 1}]), covered(ALL, [[TEN, THIRD], [OTHER]]), [])

    assert (scores.values.tolist(), scores.counts) == ([[1.0], [0.0]], (3, 2, 1))


def test_measures_that_need_more_than_grades_and_words_are_refused_by_text():
    with pytest.raises(MeasureError, match=r"needs the facets of queries.*By text, grades and words are known\."):
        measured("STREC@5", ALL, [[TEN]], [{0: 1}])


def test_measures_of_words_are_refused_of_a_run_by_id():
    with pytest.raises(MeasureError, match=r"TokenRecall@5 needs the words of returned passages"):
        values(parse_measures("TokenRecall@5"), graded([{0: 1}]), by_id([[0]]))


@pytest.mark.parametrize(
    ("documents", "passage"),
    [
        ([[TEN], [TEN]], TEN),
        ([[TEN, TEN]], TEN),
        ([[f"{TEN} {OTHER}", f"{OTHER} {THIRD}"]], f"{TEN} {OTHER} {THIRD}"),
    ],
    ids=["document twice", "block twice", "overlap"],
)
@pytest.mark.parametrize("text", ["TokenRecall@5", "TokenPrecision@5", "TokenIoU@5"])
def test_words_that_are_in_several_relevant_blocks_leave_no_measure_above_one(documents, passage, text):
    assert 0 < measured(text, documents, [[passage]], [{0: 1, 1: 2}])[0] <= 1
