import csv

import numpy as np
import pytest

from apps.evaluation.core.annotator_grades import given_on, shared_rows, sheets_of, with_grades
from apps.evaluation.execution.scoring import among_people
from apps.metrics.columns import Judged, Ranked
from apps.metrics.measures.registry import measure_run, parse_measures
from apps.metrics.statistics.significance import summaries
from tests.metrics.oracle import trec_values

ANNA, BERT, CAROL = 11, 22, 33


def ints(*values) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def judged(*grades, queries=("Q1", "Q1", "Q2", "Q3")) -> Judged:
    """Q1 has blocks 0 and 1, Q2 block 0, Q3 block 0."""
    names = tuple(dict.fromkeys(queries))
    numbers = ints(*(names.index(query) for query in queries))
    return Judged(names, numbers, ints(0, 1, 0, 0), ints(*grades))


def given(released, rows):
    """Rows of (person, query, block, grade)."""
    columns = [ints(*(row[at] for row in rows)) for at in range(4)]
    return given_on(released, *columns)


def test_grades_are_matched_to_their_rows():
    released = judged(1, 0, 2, 1)

    found = given(released, [(BERT, 1, 0, 3), (ANNA, 0, 1, 2), (BERT, 0, 0, 0)])

    assert found.people == (ANNA, BERT)
    assert [column.tolist() for column in found.by(0)] == [[1], [2]]
    assert [column.tolist() for column in found.by(1)] == [[0, 2], [0, 3]]


def test_of_two_grades_of_one_person_the_later_counts():
    found = given(judged(1, 0, 2, 1), [(ANNA, 0, 0, 3), (ANNA, 0, 1, 1), (ANNA, 0, 0, 2)])

    assert [column.tolist() for column in found.by(0)] == [[0, 1], [2, 1]]


def test_grades_of_pairs_that_were_not_released_are_left_out():
    found = given(judged(1, 0, 2, 1), [(ANNA, 1, 1, 3), (BERT, 2, 0, 1)])

    assert found.people == (BERT,)
    assert found.place.tolist() == [3]


def test_without_grades_there_is_nobody():
    found = given(judged(1, 0, 2, 1), [])

    assert found.people == ()
    assert shared_rows(found, 4) == 0


def test_rows_that_two_people_graded_are_counted_once():
    found = given(judged(1, 0, 2, 1), [(ANNA, 0, 0, 3), (BERT, 0, 0, 2), (CAROL, 0, 0, 2), (CAROL, 1, 0, 1)])

    assert shared_rows(found, 4) == 1


def test_other_grades_replace_the_released_ones_and_the_rest_stays():
    released = judged(1, 0, 2, 1)

    other = with_grades(released, ints(1, 3), ints(3, 0))

    assert other.grade.tolist() == [1, 3, 2, 0]
    assert released.grade.tolist() == [1, 0, 2, 1]


def test_a_sheet_contains_the_scores_under_one_persons_grades():
    """The run puts block 1 above block 0. Anna finds 1 relevant and 0 not; Bert says the opposite, as released.

    Q2 was graded by Bert alone, Q3 by nobody whose name is known: there the released score stands for who graded
    nothing.
    """
    released = judged(1, 0, 1, 1)
    ranked = Ranked(ints(0, 0, 1, 2), ints(1, 0, 0, 0), np.array([2.0, 1.0, 1.0, 1.0]))
    measures = parse_measures("RR P@1")
    scores = measure_run(measures, released, ranked, range(2))
    found = given(released, [(ANNA, 0, 0, 0), (ANNA, 0, 1, 1), (BERT, 0, 0, 1), (BERT, 0, 1, 0), (BERT, 1, 0, 0)])

    sheets = sheets_of(measures, released, found, ranked, range(2), scores)

    np.testing.assert_array_equal(sheets[:, :, 0], [[1.0, 1.0, 1.0], [0.5, 0.0, 1.0]])
    np.testing.assert_array_equal(sheets[:, :, 1], [[1.0, 1.0, 1.0], [0.0, 0.0, 1.0]])


@pytest.mark.once
def test_on_chorus_each_sheet_equals_trec_eval_on_that_agents_own_qrels(shared_data):
    """Everybody rated every pair, so a person's sheet is the score under a qrels file of that person alone."""
    with (shared_data / "chorus_ratings/Broad_Query_Set_individual_ratings.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    queries, blocks = (sorted({row[name] for row in rows}) for name in ("query", "docid"))
    at = [(queries.index(row["query"]), blocks.index(row["docid"])) for row in rows]
    query, block = (ints(*column) for column in zip(*at, strict=True))
    released = Judged(tuple(queries), query, block, ints(*(int(row["final_rating"]) for row in rows)))
    score = np.random.default_rng(2).permutation(len(rows)).astype(float)
    ranked, measures = Ranked(query, block, score), parse_measures("nDCG@10 AP RR")
    columns = [np.concatenate([column] * 3) for column in (query, block)]
    grades = ints(*(int(row[f"agent_{agent}_rating"]) for agent in (1, 2, 3) for row in rows))
    found = given_on(released, np.repeat(ints(1, 2, 3), len(rows)), *columns, grades)

    sheets = sheets_of(measures, released, found, ranked, blocks, measure_run(measures, released, ranked, blocks))

    run: dict = {}
    for row, value in zip(rows, score.tolist(), strict=True):
        run.setdefault(row["query"], {})[row["docid"]] = value
    for agent in (1, 2, 3):
        qrels: dict = {}
        for row in rows:
            qrels.setdefault(row["query"], {})[row["docid"]] = int(row[f"agent_{agent}_rating"])
        theirs = trec_values(qrels, run)
        told = [[theirs[name][str(measure)] for measure in measures] for name in queries]
        np.testing.assert_allclose(sheets[agent - 1], told, atol=1e-9)


def small_set(seed: int):
    """Six queries with four blocks each, graded by two people who differ now and then; a lead settles what differs."""
    random = np.random.default_rng(seed)
    rows = [(query, block) for query in range(6) for block in range(4)]
    first = random.integers(0, 4, len(rows))
    second = np.where(random.random(len(rows)) < 0.3, random.integers(0, 4, len(rows)), first)
    settled = np.where(first == second, first, random.integers(0, 4, len(rows)))
    query, block = (ints(*column) for column in zip(*rows, strict=True))
    released = Judged(tuple(f"Q{number}" for number in range(6)), query, block, settled)
    by_person = [(ANNA, *row, one) for row, one in zip(rows, first, strict=True)]
    by_person += [(BERT, *row, one) for row, one in zip(rows, second, strict=True)]
    return released, given(released, by_person), Ranked(query, block, random.random(len(rows)))


def test_an_interval_over_queries_and_people_includes_the_one_over_queries():
    measures = parse_measures("nDCG@10 AP RR P@3")
    for seed in range(50):
        released, people, ranked = small_set(seed)
        scores = measure_run(measures, released, ranked, range(4))
        alone = [summary.interval for summary in summaries(measures, scores)]

        found = among_people(measures, released, people, ranked, range(4), scores, alone)

        for interval, least in zip(found, alone, strict=True):
            assert interval[0] <= least[0] <= least[1] <= interval[1], seed
