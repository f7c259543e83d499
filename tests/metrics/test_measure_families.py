"""The measures beyond the usual five, on cases small enough to be worked by hand."""

import math

import numpy as np
import pytest

from apps.metrics.columns import Attribute, Attributes, BlockAttributes, QueryAttributes, judged_columns, ranked_columns
from apps.metrics.measures.diversity import mean_distance, word_set
from apps.metrics.measures.notation import MeasureError
from apps.metrics.measures.registry import measure_run, needs_of, parse_measures, refuse_unmet
from apps.metrics.scoring import unknown_values
from apps.metrics.vocabulary import Vocabulary
from tests.metrics.oracle import facet_row, facet_values, values

LIST = {"q": {"a": 5.0, "b": 4.0, "c": 3.0, "d": 2.0}}


def value(measure, grades, run=LIST):
    (found,) = values(measure, {"q": grades}, run)["q"].values()
    return found


SOME = {"a": 1, "b": 1, "x": 1, "y": 2}
SPARSE = {"b": 0, "d": 1, "x": 2}
SECOND, FOURTH = 1 / math.log2(3), 1 / math.log2(5)


@pytest.mark.parametrize(
    ("measure", "grades", "wanted"),
    [
        ("FailureRate@2", {"c": 1}, 1.0),
        ("FailureRate@3", {"c": 1}, 0.0),
        ("SetP", SOME, 2 / 4),
        ("SetR", SOME, 2 / 4),
        ("SetF(beta=2)", SOME | {"z": 1}, 3 * 0.5 * 0.4 / (2 * 0.5 + 0.4)),
        ("RBP(p=0.5)", {"a": 1, "c": 2}, 0.5 * (1 + 0.25)),
        ("RBP(p=0.5,rel=2)", {"a": 1, "c": 2}, 0.5 * 0.25),
        ("RBP(p=0.5)@2", {"a": 1, "c": 2}, 0.5),
        ("ERR(max_rel=3)@10", {"a": 3, "b": 1}, 7 / 8 + (1 - 7 / 8) * (1 / 8) / 2),
        # A condensed list leaves unjudged blocks out.
        ("RR(judged_only=True)", SPARSE, 1 / 2),
        ("P(judged_only=True)@2", SPARSE, 1 / 2),
        ("SetP(judged_only=True)", SPARSE, 1 / 2),
        ("nDCG(judged_only=True)@2", SPARSE, SECOND / (2 + SECOND)),
        # Gains replace the grades they name.
        ("nDCG(gains={1:3,3:0})@4", {"a": 3, "b": 1, "d": 2}, (3 * SECOND + 2 * FOURTH) / (3 + 2 * SECOND)),
    ],
)
def test_a_value_is_the_one_worked_by_hand(measure, grades, wanted):
    assert value(measure, grades) == pytest.approx(wanted, abs=1e-15)


def test_a_query_that_is_missing_from_the_run_has_failed():
    assert value("FailureRate@3", {"c": 1}, {}) == 1.0


def test_err_refuses_a_grade_beyond_its_scale():
    with pytest.raises(
        MeasureError, match=r"counts on grades up to 4, and there are grades up to 5.*ERR\(max_rel=5\)@10"
    ):
        value("ERR@10", {"a": 5})


def test_inferred_ap_takes_the_pool_to_be_like_its_sample():
    """Above c stand one relevant and one not relevant block of the sample, and one of the pool that was not drawn."""
    run = {"q": {"a": 5.0, "b": 4.0, "x": 3.0, "c": 2.0}}
    at_c = 1 / 4 + 3 / 4 * (3 / 3) * ((1 + 1e-5) / (2 + 2e-5))

    assert value("infAP", {"a": 1, "b": 0, "x": -1, "c": 1}, run) == pytest.approx((1.0 + at_c) / 2, abs=1e-15)


GRADED = [0, 1, 1, 2, 0, 0, None, 3, 0], [1, 0, 2, 3]
"""The grades of nine results, one of them unjudged, and of four judged blocks that are not among them."""


@pytest.mark.parametrize(
    ("measure", "theirs"),
    [
        ("Q", 0.2339208410636982),
        ("Q@5", 0.22272727272727275),
        ("Q(beta=0.5)", 0.2573383376339041),
        ("gRBP(max_rel=3,p=0.8)", 0.2062097066666667),
        ("gRBP(max_rel=3,p=0.5)", 0.17057291666666666),
    ],
)
def test_graded_measures_equal_those_of_ntcireval(measure, theirs):
    """Its Python version, 0.0.3, with gains 1, 2 and 3."""
    results, others = GRADED
    grades = {f"d{at}": grade for at, grade in enumerate(results) if grade is not None}
    grades |= {f"x{at}": grade for at, grade in enumerate(others)}

    found = value(measure, grades, {"q": {f"d{at}": -float(at) for at in range(len(results))}})

    assert found == pytest.approx(theirs, abs=1e-15)


def test_blended_and_biased_measures_are_the_plain_ones_at_their_ends():
    """Q without gains is AP; gRBP of a scale of 0 and 1 is RBP."""
    assert value("Q(beta=0)", SOME) == value("AP", SOME)
    assert value("gRBP(max_rel=1,p=0.7)@3", {"b": 1, "c": 1, "d": 1}) == value("RBP(p=0.7)@3", {"b": 1, "c": 1, "d": 1})
    with pytest.raises(MeasureError, match=r"grades up to 1, and there are grades up to 2.*gRBP\(max_rel=2,p=0.8\)"):
        value("gRBP(max_rel=1)", SOME)


@pytest.mark.parametrize(
    ("measure", "wanted"),
    [
        # Of four relevant blocks no list of two can have more than two.
        ("Recall@2", 2 / 4),
        ("Recall(capped=True)@2", 1.0),
        ("AP@2", 2 / 4),
        ("AP(capped=True)@2", 1.0),
        # Where k is larger, nothing is capped.
        ("Recall(capped=True)@10", 2 / 4),
        ("AP(capped=True)@10", 2 / 4),
        ("AP(capped=True)", 2 / 4),
    ],
)
def test_a_capped_measure_divides_by_what_could_be_in_the_list(measure, wanted):
    assert value(measure, SOME) == wanted


FACETS = [
    facet_row("q", "f1", "a", 1),
    facet_row("q", "f2", "a", 1),
    facet_row("q", "f1", "b", 1),
    facet_row("q", "f3", "d", 1),
    facet_row("q", "f4", "c", 0),
    facet_row("none", "f1", "c", 0),
]


def test_repeated_facets_are_worth_less():
    row = facet_values("alpha_nDCG@3 alpha_nDCG(alpha=1)@2 ERR_IA@2", FACETS, LIST)["q"]

    best = 2 + 1 / math.log2(3) + 0.5 / math.log2(4)
    assert row["alpha_nDCG@3"] == pytest.approx((2 + 0.5 / math.log2(3)) / best)
    assert row["alpha_nDCG(alpha=1)@2"] == pytest.approx(2 / (2 + 1 / math.log2(3)))
    assert row["ERR_IA@2"] == pytest.approx((2 + 0.5 / 2) / (3 * (1 + 0.5 / 2)))


def test_subtopic_recall_counts_facets_that_some_block_answers():
    row = facet_values("STREC@2 STREC@4 P_IA@2 AP_IA", FACETS, LIST)["q"]

    assert row["STREC@2"] == 2 / 3
    assert row["STREC@4"] == 1.0
    assert row["P_IA@2"] == 3 / (2 * 3)
    assert row["AP_IA"] == pytest.approx((1.0 + 1.0 + 1 / 4) / 3)


def test_a_query_without_a_facet_that_was_answered_is_zero():
    names = "alpha_nDCG@3 alpha_DCG@3 ERR_IA@3 nERR_IA@3 STREC@3 P_IA@3 AP_IA"

    assert set(facet_values(names, FACETS, {"none": {"c": 1.0}})["none"].values()) == {0.0}


def test_without_facets_a_block_has_the_best_of_its_grades():
    rows = [facet_row("q", "f1", "a", 0), facet_row("q", "f2", "a", 2), facet_row("q", "f1", "b", 1)]

    assert facet_values("P(rel=2)@1 nDCG", rows, LIST)["q"] == {"P(rel=2)@1": 1.0, "nDCG": 1.0}


def test_one_facet_for_all_is_not_a_facet():
    with pytest.raises(MeasureError, match="STREC@3 needs the facets of queries"):
        facet_values("STREC@3", [facet_row("q", "0", "a", 1)], LIST)


def with_attributes(
    measures, *, grades=None, types="ggl", born=None, asked=(10.0,), domains=("news",), values=("g", "l", "w")
):
    """Values of one query whose run ranks blocks a to d; `types` and `born` are of a, b, c, in that order."""
    return measure_run(parse_measures(measures), *scene_of(grades, types, born, asked, domains, values))[0].tolist()


def scene_of(grades=None, types="ggl", born=None, asked=(10.0,), domains=("news",), values=("g", "l", "w")):
    blocks = Vocabulary()
    judged = judged_columns([("q", block, grade) for block, grade in (grades or {"a": 1}).items()], blocks)
    ranked, _ = ranked_columns([("q", block, score) for block, score in LIST["q"].items()], judged.queries, blocks)
    places = blocks.numbers_of("abc")
    codes, times = np.full(len(blocks), -1), np.full(len(blocks), np.nan)
    codes[places] = [("g", "l", "w").index(letter) for letter in types]
    times[places] = born or (0.0, 0.0, 0.0)
    judged.attributes = Attributes(
        BlockAttributes({"type": Attribute(codes, values)}, lambda: times),
        QueryAttributes(np.array(asked), domains),
    )
    return judged, ranked, list(blocks)


def test_diversity_is_the_share_of_pairs_that_differ_and_coverage_that_of_all_values():
    assert with_attributes("ILD(by='type')@2 ILD(by='type')@3") == [0.0, 2 / 3]
    assert with_attributes("CorpusCoverage(by='type')@2 CorpusCoverage(by='type')@3") == [1 / 3, 2 / 3]


def test_sources_are_the_different_values_among_the_results():
    """a and b are guides, c is a leaflet; there are no more than three results with a type."""
    values = with_attributes("Sources(by='type')@1 Sources(by='type')@2 Sources(by='type')@3")

    assert values == [1.0, 0.5, 2 / 3]


def test_distance_is_the_mean_share_of_different_words_over_all_pairs():
    """Of "A red key" and "a green key" two of four words are shared; neither shares one with "window"."""
    texts = ("A red key", "a green key!", "window")

    assert with_attributes("Distance(by='type')@3", types="glw", values=texts) == [pytest.approx((0.5 + 1 + 1) / 3)]
    assert with_attributes("Distance(by='type')@2", types="ggw", values=texts) == [0.0]
    assert mean_distance([word_set(""), word_set("…")]) == 0.0
    assert mean_distance([word_set("alone")]) is None


def test_one_block_has_no_pair_to_distinguish():
    assert np.isnan(with_attributes("ILD(by='type')@1 Distance(by='type')@1")).all()


@pytest.mark.parametrize("name", ["ILD", "Sources", "CorpusCoverage", "Distance"])
def test_a_block_without_the_attribute_is_left_out(name):
    whole, with_d = with_attributes(f"{name}(by='type')@3 {name}(by='type')@4")

    assert with_d == whole


def test_a_query_whose_blocks_have_no_attribute_has_no_value():
    judged, ranked, ids = scene_of()
    judged.attributes = Attributes(BlockAttributes({"type": Attribute(np.array([], dtype=np.int64), ())}))

    found = measure_run(parse_measures("ILD(by='type')@4 Sources(by='type')@4"), judged, ranked, ids)

    assert np.isnan(found).all()


def test_what_is_left_out_is_counted_by_measure():
    scene = scene_of(grades={"a": 2, "d": 1, "b": 0})
    names = "ILD(by='type')@3 ILD(by='type')@4 TD_nDCG(half_life=30) Freshness(half_life=30)@4 nDCG@10"
    measures = parse_measures(names)

    found = unknown_values(measures, *scene)

    assert [one[1:] for one in found] == [("type", 1, 4), ("time", 1, 2), ("time", 1, 4)]
    assert [one.words for one in found] == [
        "ILD(by='type')@4: 1 of 4 results has no type and is left out.",
        "TD_nDCG(half_life=30.0): 1 of 2 relevant passages has no time and is left out.",
        "Freshness(half_life=30.0)@4: 1 of 4 results has no time and is left out.",
    ]


def test_an_attribute_that_the_file_lacks_is_refused_and_named():
    with pytest.raises(MeasureError, match="reads the attribute 'source' of blocks; those that there are: type"):
        with_attributes("CorpusCoverage(by='source')@3")


def test_gains_fade_with_the_age_of_the_block():
    """At the time of the query a is ten days old and b one; c came later and is as fresh as can be."""
    (found,) = with_attributes("TD_nDCG(rate=0.1)@3", grades={"a": 2, "b": 1, "c": 1}, born=(0.0, 9.0, 12.0))

    a, b, c = 2 * math.exp(-1.0), math.exp(-0.1), 1.0
    discounts = [1.0, 1 / math.log2(3), 0.5]
    best = sum(gain * at for gain, at in zip(sorted((a, b, c), reverse=True), discounts, strict=True))
    assert found == pytest.approx(sum(gain * at for gain, at in zip((a, b, c), discounts, strict=True)) / best)


def test_freshness_halves_with_each_half_life_and_leaves_out_what_has_no_time():
    """At the time of the query a is ten days old and b none, c came later; d has no time."""
    two, three, all_ = with_attributes(
        "Freshness(half_life=10)@2 Freshness(half_life=5)@3 Freshness(half_life=5)@4", born=(0.0, 10.0, 12.0)
    )

    assert [two, three, all_] == pytest.approx([(0.5 + 1) / 2, (0.25 + 2) / 3, (0.25 + 2) / 3])


def test_a_half_life_halves_the_gain_and_is_the_rate_that_does():
    """a is ten days old at the time of the query, and gains half of its grade, as b does, which is new."""
    options = {"grades": {"a": 2, "b": 1}, "born": (0.0, 10.0, 0.0)}
    half, rate = with_attributes(f"TD_nDCG(half_life=10)@2 TD_nDCG(rate={math.log(2) / 10!r})@2", **options)

    assert half == pytest.approx(1.0)
    assert half == rate


def test_a_relevant_block_without_a_time_is_left_out_of_the_ranking_and_the_ideal_one():
    some, without = (
        with_attributes("TD_nDCG(rate=0.1)@4", grades=grades, born=(0.0, 9.0, 3.0))
        for grades in ({"a": 1, "b": 2, "d": 3}, {"a": 1, "b": 2})
    )

    assert some == without
    assert np.isnan(with_attributes("TD_nDCG(rate=0.1)@4", grades={"d": 1})).all()


def test_a_domain_fades_at_its_own_rate():
    fast, slow = "TD_nDCG(rate={'law':0,'news':1})@3", "TD_nDCG(rate={'law':1,'news':0})@3"
    grades, born = {"a": 1, "b": 1}, (0.0, 9.0, 0.0)

    assert with_attributes(fast, grades=grades, born=born)[0] < 1.0
    assert with_attributes(slow, grades=grades, born=born) == [1.0]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"asked": (math.nan,)}, "needs the time of every query; that of 'q' is not known"),
        ({"domains": ("sport",)}, "names no rate for query 'q', which has the domain 'sport'"),
        ({"domains": ("",)}, "names no rate for query 'q', which has no domain"),
    ],
)
def test_an_age_that_is_not_known_is_refused_by_name(options, said):
    with pytest.raises(MeasureError, match=said):
        with_attributes("TD_nDCG(rate={'news':0.1})@4", **options)


def test_without_age_the_faded_ndcg_is_ndcg():
    grades = {"a": 1, "c": 3, "b": 0}

    faded, plain = with_attributes("TD_nDCG(rate=0)@3 nDCG@3", grades=grades)

    assert faded == plain


def test_measures_that_read_what_is_not_there_are_refused_together_with_who_lacks_it():
    measures = parse_measures("nDCG@10 ILD(by='type')@5 TD_nDCG(rate=0.1)")

    assert needs_of(measures) == {"grades", "blocks", "times"}
    with pytest.raises(
        MeasureError, match=r"ILD\(by='type'\)@5 needs attributes of blocks, from a file. Nobody has it."
    ):
        refuse_unmet(measures, {"grades", "times"}, "Nobody has it.")
    refuse_unmet(measures, {"grades", "times", "blocks"})
