"""What the page of one evaluation says of intervals, splits, wording and looks at test."""

import re
from collections import Counter

import numpy as np
import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.accounts.selectors import membership_in
from apps.evaluation.core import packing
from apps.evaluation.pages.evaluation import Scores
from apps.evaluation.presenters.score_tables import EvaluationSheet
from apps.evaluation.selectors.evaluations import RANKS_ONLY, originals_in
from apps.gates import selectors as gates
from apps.goldsets.enums import Split
from apps.goldsets.models import VersionQuery
from apps.metrics.statistics.intervals import mean_interval
from apps.retrieval.models import Pool
from tests.evaluation.factories import BAD, GOOD, make_scene, qrels_of, score
from tests.factories import make_member
from tests.gates.factories import add_gate
from tests.module_rows import rows_of_module
from tests.reading import words

pytestmark = pytest.mark.django_db
MEASURES = "nDCG@10 AP RR P@2"
CLEAN = [f"Q{n:02}" for n in range(1, 7)]
TYPOS, LOWER = [f"{query}t" for query in CLEAN], [f"{query}l" for query in CLEAN]


def open_page(client, scene, evaluation, person=None, **query):
    client.force_login(person or scene.lead)
    response = client.get(reverse("evaluation:evaluation", args=[scene.project.slug, evaluation.pk]), query)
    assert response.status_code == 200
    return response


def make_worded(clean):
    typos, lower = [f"{query}t" for query in clean], [f"{query}l" for query in clean]
    qrels = {query: {"a": 3, "b": 1, "c": 0} for query in [*clean, *typos, *lower]}
    results = {query: BAD if query.endswith("t") else GOOD for query in qrels}
    metadata = {query: {"variant_of": query[:-1], "variant": "typos"} for query in typos}
    metadata |= {query: {"variant_of": query[:-1], "variant": "lower case"} for query in lower}
    return make_scene(qrels=qrels, runs={"r": results}, metadata=metadata)


@rows_of_module
def worded():
    """Six queries, each also with typos and in lower case. The run fails on typos alone."""
    return make_worded(CLEAN)


def test_variants_of_a_question_count_as_one_in_scores_comparisons_and_gates(worded):
    """Six questions in three words each. Taken as eighteen, the interval would be narrower by almost half."""
    gate = add_gate(worded, {"at_least": 0.6, "on": "interval"})
    evaluation = score(worded, "r", measures=MEASURES)
    ndcg = evaluation.scores.get(measure="nDCG@10")
    values, names = packing.unpack(bytes(ndcg.values)), evaluation.query_ids
    questions = np.array([CLEAN.index(name.rstrip("tl")) for name in names])

    assert ndcg.interval == pytest.approx(mean_interval(values, 0.95, originals=questions), abs=1e-12)
    low, high = mean_interval(values, 0.95)
    assert ndcg.ci_high - ndcg.ci_low != pytest.approx(high - low, rel=0.05)
    assert gates.statuses([gate])[0].result.ci_low == ndcg.ci_low
    assert originals_in(evaluation).tolist() == [list(dict.fromkeys(questions)).index(one) for one in questions]


def test_figures_of_a_pool_with_a_budget_say_that_they_are_an_order(client):
    scene = make_scene(queries=6, test_share=0)
    base, better = (score(scene, tag, measures="AP") for tag in ("base", "better"))
    client.force_login(scene.lead)
    pages = [
        reverse("evaluation:evaluation", args=[scene.project.slug, base.pk]),
        reverse("evaluation:compare", args=[scene.project.slug, base.pk, better.pk]),
        reverse("evaluation:overview", args=[scene.project.slug]) + "?split=",
    ]
    assert not any(RANKS_ONLY in words(client.get(page)) for page in pages)

    pool = Pool.objects.filter(pk=scene.version.rounds.get().pool_id)
    pool.update(plan={"method": "bandit", "pairs": 60, "each": True})

    assert all(RANKS_ONLY in words(client.get(page)) for page in pages)


def test_both_intervals_are_shown_with_the_mean_where_two_people_judged(client):
    decided = qrels_of(6)
    other = {query: {"a": 0, "b": 1, "c": 3} for query in decided}
    scene = make_scene(qrels=decided, ratings={"Anna": decided, "Bert": other}, test_share=0)
    evaluation = score(scene, "base", measures=MEASURES)

    said = words(open_page(client, scene, evaluation))

    row = evaluation.scores.get(measure="nDCG@10")
    assert "over queries and people" in said
    assert f"{row.people_low:.3f} to {row.people_high:.3f}" in said
    assert "2 people judged these queries, 18 pairs were graded by two of them or more." in said
    assert said.count('class="people"') == 4


def test_without_a_second_grade_the_page_says_why_there_is_one_interval(client):
    scene = make_scene(queries=4, test_share=0)

    said = words(open_page(client, scene, score(scene, "base", measures=MEASURES)))

    assert "over queries and people" not in said
    assert "so there is no interval over people" in said


def test_judged_at_the_same_cutoff_is_shown_with_each_measure(client):
    scene = make_scene(queries=4, test_share=0)

    response = open_page(client, scene, score(scene, "base", measures="P@2 nDCG@10 Recall@100 AP"))

    rows = [(row.score.measure, row.depth, row.judged) for row in response.context["scores"].rows]
    assert rows == [
        ("P@2", 2, 0.5),
        ("nDCG@10", 10, 0.75),
        ("Recall@100", 100, 0.75),
        ("AP", None, 0.75),
    ]


def test_a_mean_is_shown_with_what_its_unjudged_results_leave_open(client):
    """Three of the four results were judged; a grade of the fourth, which is last or second, can move most measures."""
    scene = make_scene(queries=4, test_share=0)
    evaluation = score(scene, "base", measures="P@2 nDCG@10 Judged@2")

    response = open_page(client, scene, evaluation)

    ranges = {row.score.measure: row.if_judged for row in response.context["scores"].rows}
    assert ranges["P@2"] == pytest.approx((0.0, 0.5))
    assert ranges["nDCG@10"][0] == pytest.approx(evaluation.scores.get(measure="nDCG@10").mean)
    assert ranges["Judged@2"] is None
    said = words(response)
    assert "If all were judged" in said
    assert "0.000 to 0.500" in said
    assert "Relevant passages that the run did not return, and nobody judged, are not counted." in said


def test_precision_is_drawn_at_each_level_of_recall(client):
    """Both relevant blocks are found, at ranks 3 and 4 by one run, at 1 and 2 by the other."""
    scene = make_scene(queries=4, test_share=0)
    base, better = score(scene, "base", measures="AP"), score(scene, "better", measures="AP")

    said = words(open_page(client, scene, base))
    both = words(client.get(reverse("evaluation:compare", args=[scene.project.slug, base.pk, better.pk])))

    assert base.counts["precision_at_recall"] == [0.5] * 11
    assert better.counts["precision_at_recall"] == [1.0] * 11
    assert "Precision and recall" in said
    assert "Precision and recall" in both
    assert "0.500 1.000" in re.sub(r"<[^>]+>|\s+", " ", both).replace("  ", " ")


def test_an_evaluation_from_before_bounds_shows_what_was_stored(client):
    scene = make_scene(queries=4, test_share=0)
    evaluation = score(scene, "base", measures="P@2 Recall@100")
    del evaluation.counts["if_judged"], evaluation.counts["precision_at_recall"]

    scores = Scores(EvaluationSheet(evaluation, membership_in(scene.lead, scene.project.slug)), "P@2")

    assert [(row.score.measure, row.depth, row.judged) for row in scores.rows] == [
        ("P@2", 2, 0.5),
        ("Recall@100", 20, 0.75),
    ]
    assert not scores.has_open
    assert not scores.recall_curve


def test_a_measure_that_looks_deeper_than_any_ranking_says_so(client):
    scene = make_scene(queries=4, runs={"short": {"Q01": {"a": 2.0, "b": 1.0}}}, test_share=0)
    evaluation = score(scene, "short", measures="Recall@100 P@2 AP")

    said = words(open_page(client, scene, evaluation))

    assert "Recall@100 reads 2 results: no ranking of short is longer." in said


def test_a_ranking_of_every_block_is_as_deep_as_any_can_be(client):
    scene = make_scene(queries=4, runs={"all": {"Q01": {**GOOD, "é": 5.0}}}, test_share=0)

    said = words(open_page(client, scene, score(scene, "all", measures="Recall@100")))

    assert "is longer" not in said


def test_queries_without_a_relevant_block_are_last_and_marked(client):
    qrels = {**qrels_of(3), "Q00": {"a": 0}}
    scene = make_scene(qrels=qrels, runs={"r": {"Q01": GOOD, "Q02": BAD}}, test_share=0.0)

    response = open_page(client, scene, score(scene, "r", measures="nDCG@10"))

    rows, bare = response.context["queries"]["rows"], response.context["queries"]["bare"]
    assert [query.outside_id for query, _ in [*rows, *bare]] == ["Q03", "Q02", "Q01", "Q00"]
    assert "by nDCG@10; 1 without a relevant passage is last" in words(response)
    assert words(response).count('</span> <small class="faint">no relevant passage</small>') == 1


def test_both_splits_are_shown_side_by_side_with_the_looks_at_test(client):
    scene = make_scene()
    evaluation = score(scene, "better", measures=MEASURES)

    first = open_page(client, scene, evaluation)
    again = words(client.get(first.request["PATH_INFO"]))

    rows = first.context["scores"].splits
    assert [row.measure for row in rows] == MEASURES.split()
    assert rows[0].dev.n + rows[0].test.n == 12
    assert "2 views so far" in words(first), "having it scored was the first"
    assert "3 views so far" in again


def test_who_may_not_look_is_not_counted(client):
    scene = make_scene()
    evaluation = score(scene, "better", measures=MEASURES)

    said = words(open_page(client, scene, evaluation, make_member(scene.project, Role.VIEWER)))

    assert "1 view so far" in said, "of the lead who had it scored"
    assert "The test split is sealed" in said


def test_one_split_alone_has_no_other_side(client):
    scene = make_scene()
    evaluation = score(scene, "better", measures=MEASURES, split=Split.DEV)

    response = open_page(client, scene, evaluation)

    assert response.context["scores"].splits == []
    assert response.context["scores"].looks is None


def test_the_page_leads_to_what_else_the_run_was_scored_on(client):
    scene = make_scene()
    here, other = (score(scene, "better", measures=MEASURES, split=split) for split in ("", Split.DEV))
    score(scene, "base", measures=MEASURES, split=Split.DEV)

    response = open_page(client, scene, here)

    assert [(one.pk, said) for one, said in response.context["others"]] == [(other.pk, "dev split")]


def test_the_robustness_gap_is_shown_for_each_kind_of_wording(client, worded):
    evaluation = score(worded, "r", measures="P@2")

    response = open_page(client, worded, evaluation)

    gaps = [(gap.kind, gap.clean, gap.degraded, gap.gap, gap.n) for gap in response.context["scores"].gaps]
    assert gaps == [("all kinds", 1.0, 0.5, -0.5, 6), ("typos", 1.0, 0.0, -1.0, 6), ("lower case", 1.0, 1.0, 0.0, 6)]
    assert "Clean and degraded wording" in words(response)


def test_a_variant_goes_with_its_original_to_dev_or_test(worded):
    sides = dict(VersionQuery.objects.filter(version=worded.version).values_list("outside_id", "split"))

    assert set(sides.values()) == {"dev", "test"}
    assert [query for query in TYPOS + LOWER if sides[query] != sides[query[:-1]]] == []


def test_small_multiples_by_split_and_by_wording_show_how_much_was_judged(client):
    worded = make_worded([f"q{n:02}" for n in range(12)])
    evaluation = score(worded, "r", measures="P@2")

    by_wording = open_page(client, worded, evaluation, by="wording")

    assert {"split": "Split", "wording": "Wording"}.items() <= by_wording.context["strata_fields"].items()
    strata = [(one.name, one.n, judged) for one, _, judged in by_wording.context["strata"]]
    assert strata == [("clean", 12, [0.75]), ("lower case", 12, [0.75]), ("typos", 12, [0.75])]
    assert "<b>clean</b> 12 queries, judged@10 75 %" in words(by_wording)
    assert by_wording.context["weighting"].written == [("clean", "33.3"), ("lower case", "33.3"), ("typos", "33.3")]


def test_a_mean_is_weighted_to_the_shares_that_somebody_states(client):
    worded = make_worded([f"q{n:02}" for n in range(12)])
    evaluation = score(worded, "r", measures="P@2")

    asked = open_page(client, worded, evaluation, by="wording", share=["50", "0", "150"])
    wrong = open_page(client, worded, evaluation, by="wording", share=["50", "much", "0"])
    nothing = open_page(client, worded, evaluation, by="wording", share=["0", "", "0"])

    means = {one.name: one.summaries[0].mean for one, *_ in asked.context["strata"]}
    ((name, found),) = asked.context["weighting"].means
    assert (name, found.n) == (evaluation.run.tag, 24)
    assert found.mean == pytest.approx(0.25 * means["clean"] + 0.75 * means["typos"])
    assert found.interval[0] < found.mean < found.interval[1]
    assert 'name="share" value="150"' in words(asked)
    assert "The share of lower case is “much”. Give a number from 0 on." in words(wrong)
    assert "Give at least one group a share above 0." in words(nothing)


def test_strata_with_few_queries_of_test_are_shown_to_nobody_where_dev_and_test_stand_together(client):
    scene = make_scene(queries=16, test_share=0.5)
    split = dict(scene.version.queries.values_list("outside_id", "split"))
    viewer = make_member(scene.project, Role.VIEWER)
    evaluation = score(scene, "base", split="", measures="P@2")

    assert len(split) == 16
    for person in (viewer, scene.lead):
        by_domain = open_page(client, scene, evaluation, person, by="domain").context
        by_split = open_page(client, scene, evaluation, person, by="split").context
        sizes = Counter((row.fields["domain"], row.split) for row in scene.version.queries.all())
        few = {domain for (domain, _), n in sizes.items() if n < 5}
        assert few
        assert not few & {one.name for one, *_ in by_domain["strata"]}
        assert by_domain["small_strata"] == len(few)
        assert [(one.name, one.n) for one, *_ in by_split["strata"]] == sorted(Counter(split.values()).items())


def test_without_variants_the_page_shows_nothing_about_wording(client):
    scene = make_scene(queries=4, test_share=0)

    response = open_page(client, scene, score(scene, "base", measures="P@2"))

    assert "degraded" not in words(response)
    assert "wording" not in response.context["strata_fields"]
