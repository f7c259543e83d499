"""Bounds of scores with unjudged results, against every way to judge them."""

import itertools
import random

import numpy as np
import pytest

from apps.metrics.columns import judged_columns, ranked_columns
from apps.metrics.measures import bounds
from apps.metrics.measures.bounds import measure_bounds
from apps.metrics.measures.entries import REGISTRY
from apps.metrics.measures.registry import measure_run, parse_measures
from apps.metrics.scoring import IfJudged, if_judged
from apps.metrics.vocabulary import Vocabulary

HIGHEST = 3
EXACT = (
    "P@3 Recall@3 Recall(capped=True)@3 Success@2 FailureRate@2 F1@3 RR RR@3 SetP SetR SetF SetF(beta=2) "
    "AP AP@3 AP(rel=2) AP(capped=True)@2 AP(judged_only=True) Rprec Rprec(rel=2) Bpref Bpref(rel=2) "
    "nDCG nDCG@3 nDCG(dcg='exp-log2')@3 nDCG(dcg='jk') nDCG(gains={1:5,2:2})@4 nDCG(judged_only=True)@3 "
    "ERR(max_rel=3)@3 RBP(p=0.7) RBP(p=0.5)@3 gRBP(max_rel=3,p=0.8)@4"
)
VALID = "Q Q@3 Q(beta=0.5)"


def columns(collection):
    """Judgements and a ranking in the given order, by query: {query: (grades, blocks)}."""
    blocks = Vocabulary()
    judged = judged_columns(
        ((query, *row) for query, (grades, _) in collection.items() for row in grades.items()), blocks
    )
    rows = ((query, block, -float(at)) for query, (_, run) in collection.items() for at, block in enumerate(run))
    ranked, _ = ranked_columns(rows, judged.queries, blocks)
    return judged, ranked, list(blocks)


def made_up(chance):
    """Up to five results, of which some are unjudged or were pooled alone, and blocks that the run does not return."""
    run = [f"d{at}" for at in range(chance.randrange(1, 6))]
    grades = {block: chance.randrange(-1, HIGHEST + 1) for block in run if chance.random() < 0.55}
    grades |= {f"x{at}": chance.randrange(HIGHEST + 1) for at in range(chance.randrange(4))}
    return grades or {"x0": 0}, run


def every_value(measure, grades, run):
    """The values of a measure under every way to grade the unjudged results that it reads."""
    unjudged = [block for block in run[: measure.cutoff] if grades.get(block, -1) < 0]
    ways = itertools.product(range(HIGHEST + 1), repeat=len(unjudged))
    collection = {f"q{at}": (grades | dict(zip(unjudged, way, strict=True)), run) for at, way in enumerate(ways)}
    return measure_run([measure], *columns(collection))[:, 0]


@pytest.mark.parametrize("measure", [*parse_measures(EXACT), *parse_measures(VALID)], ids=str)
def test_bounds_are_the_lowest_and_highest_value_of_all_ways_to_judge(measure):
    chance = random.Random(39)
    for _ in range(25):
        grades, run = made_up(chance)

        low, high = (end[0, 0] for end in measure_bounds([measure], *columns({"q": (grades, run)}), highest=HIGHEST))

        values = every_value(measure, grades, run)
        least, most = values.min(), values.max()
        if measure.name in {"RBP", "gRBP"}:
            most += measure.p ** len(run[: measure.cutoff])
        if measure.name == "Q":
            assert low <= least + 1e-12
            assert most - 1e-12 <= high <= 1.0 + 1e-12
        else:
            assert (low, high) == pytest.approx((least, most), abs=1e-12), (grades, run)


def test_many_queries_have_the_bounds_of_each_alone(monkeypatch):
    """However long their lists are, and however many of them are in one table."""
    monkeypatch.setattr(bounds, "CELLS", 12)
    chance = random.Random(4)
    collection = {f"q{number}": made_up(chance) for number in range(40)}
    collection["missing"] = {"x": 1}, []
    measures = parse_measures(f"{EXACT} {VALID}")

    together = measure_bounds(measures, *columns(collection), highest=HIGHEST)

    for row, one in enumerate(collection.values()):
        alone = measure_bounds(measures, *columns({"q": one}), highest=HIGHEST)
        np.testing.assert_allclose(together.low[row], alone.low[0], atol=1e-12)
        np.testing.assert_allclose(together.high[row], alone.high[0], atol=1e-12)


def test_the_residual_of_rbp_is_the_weight_of_all_that_nobody_judged():
    """Moffat and Zobel: what is ranked but unjudged, and p to the depth for all that is ranked below."""
    collection = {"q": ({"a": 1, "c": 0}, ["a", "b", "c"])}

    low, high = measure_bounds(parse_measures("RBP(p=0.5)"), *columns(collection))

    assert low.tolist() == [[0.5]]
    assert high.tolist() == [[0.5 + 0.25 + 0.5**3]]


def test_ap_can_fall_when_a_passage_further_down_turns_out_to_be_relevant():
    """Two in three of the relevant blocks would be found late: unjudged as not relevant is no lower end."""
    collection = {"q": ({"a": 1}, ["a", "b", "c"])}

    (known,) = if_judged(parse_measures("AP"), *columns(collection))

    assert known == IfJudged(1 / 3, pytest.approx((1 + 2 / 3) / 2), 1.0)


def test_nothing_is_open_where_all_that_a_measure_reads_was_judged():
    collection = {"q": ({"a": 1, "b": 0}, ["a", "b", "c"]), "missing": ({"a": 1}, [])}

    known = if_judged(parse_measures("P@2 P@3 Judged@3"), *columns(collection))

    assert known == [IfJudged(1.0), IfJudged(2 / 3, pytest.approx(1 / 6), pytest.approx(2 / 6)), IfJudged(2 / 3)]


def test_measures_without_bounds_have_none_rather_than_wrong_ones():
    without = [
        entry.name for entry in REGISTRY.values() if entry.name not in {one.name for one in parse_measures(EXACT)}
    ]
    collection = {"q": ({"a": 1}, ["a", "b"])}

    known = {name: if_judged([REGISTRY[name].example], *columns(collection))[0].range for name in without}

    assert {name for name, ends in known.items() if ends} == {"Q"}
