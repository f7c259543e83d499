"""Scores by text: what a run covers earns the grades; requests, refusals, and that they are never mixed with others."""

import pytest

from apps.accounts.selectors import membership_in
from apps.evaluation.actions.comparisons import judge_again
from apps.evaluation.actions.scoring import EvaluationRefused, score_missing
from apps.evaluation.models import Evaluation, RegressionNote
from apps.evaluation.presenters.hit_comparison import compared
from apps.evaluation.rules import comparison_refusal, small_test_words
from apps.evaluation.selectors import leaderboard
from apps.evaluation.selectors.comparisons import ComparisonRefused
from apps.evaluation.selectors.evaluations import values_of
from apps.gates import selectors as gates
from apps.goldsets.actions.slices import add_to_slice
from apps.goldsets.actions.versions import draft_version, freeze_version, release_version
from apps.goldsets.enums import VersionState
from apps.metrics.expected.rules import TEXT
from apps.metrics.measures.registry import DEFAULT_TEXT_MEASURES
from apps.queries.models import Query
from tests.evaluation.by_text import ELSEWHERE, add_cut_run, add_same, make_text_scene, piece
from tests.evaluation.factories import GOOD, Scene, add_run, ask, qrels_of, score
from tests.factories import AT
from tests.gates.factories import add_gate
from tests.goldsets.factories import make_bench, make_version
from tests.review.factories import make_accepted_from

pytestmark = pytest.mark.django_db


@pytest.fixture
def scene():
    return make_text_scene()


def values(evaluation, measure):
    return values_of(evaluation)[measure].tolist()


def test_whoever_holds_enough_of_the_words_earns_the_grade(scene):
    add_cut_run(
        scene,
        "cut",
        {
            "Q01": [piece("a")],
            "Q02": [piece("a", 1, 16)],
            "Q03": [piece("a", 1, 15)],
            "Q04": [piece("b", 11, 20) + " " + piece("a")],
            "Q05": [ELSEWHERE, piece("a")],
        },
    )

    evaluation = score(scene, "cut", hit=TEXT, measures="RR P@1")

    assert values(evaluation, "RR") == [1, 1, 0, 1, 0.5, 0]
    assert values(evaluation, "P@1") == [1, 1, 0, 1, 0, 0]
    assert evaluation.query_ids == [f"Q0{number}" for number in range(1, 7)]


def test_without_measures_they_are_those_by_text(scene):
    add_same(scene, "cut", piece("a"))

    evaluation = score(scene, "cut", hit=TEXT)

    assert evaluation.measures == DEFAULT_TEXT_MEASURES.split()
    assert values(evaluation, "TokenRecall@5") == [0.5] * 6
    assert values(evaluation, "TokenPrecision@5") == [1.0] * 6


def test_passages_together_cover_what_none_holds_alone_and_once(scene):
    add_same(scene, "cut", piece("a", 1, 10), piece("a", 11, 20), piece("a"))

    evaluation = score(scene, "cut", hit=TEXT, measures="RR P@3")

    assert values(evaluation, "RR") == [0.5] * 6
    assert values(evaluation, "P@3") == pytest.approx([1 / 3] * 6)


def test_marked_evidence_is_enough_for_the_query_that_asks_for_it():
    """A Q&A marks the first sentence of a passage of three; of two queries one asks the question of the Q&A."""
    bench = make_bench(queries=2, triples=0)
    asked, other = bench.pool.pool_queries.order_by("query").values_list("query__outside_id", flat=True)
    make_accepted_from(Query.objects.get(outside_id=asked), bench.snapshot)
    scene = Scene(bench.project, bench.snapshot, make_version(VersionState.RELEASED, bench, test_share=0.0))
    add_cut_run(scene, "cut", dict.fromkeys([asked, other], ("A session lasts at most eight hours.",)))

    evaluation = score(scene, "cut", hit=TEXT, measures="RR")

    assert dict(zip(evaluation.query_ids, values(evaluation, "RR"), strict=True)) == {asked: 1, other: 0}
    assert evaluation.counts["earn"] == {"grades": {"2": 1}, "repeated": 0, "none": 1, "unjudged": 0, "lost": 0}


def test_a_slice_is_scored_by_text(scene):
    add_same(scene, "cut", piece("a"))
    names = list(scene.version.queries.values_list("outside_id", flat=True))
    reasons = dict.fromkeys(names[:3], "By hand.")
    add_to_slice(version_id=scene.version.pk, kind="canary", names=reasons, actor=scene.lead, at=AT)

    evaluation = score(scene, "cut", hit=TEXT, slice_name="canary", measures="RR")

    assert evaluation.query_ids == names[:3]
    assert evaluation.counts["passages"] == 3


def test_the_share_is_part_of_the_rule(scene):
    add_same(scene, "cut", piece("a", 1, 15))

    usual, lower = score(scene, "cut", hit="text", measures="RR"), score(scene, "cut", hit="text(share=0.75)")

    assert (usual.hit, lower.hit) == ("text", "text(share=0.75)")
    assert values(usual, "RR") == [0] * 6
    assert values(lower, "RR") == [1] * 6
    assert score(scene, "cut", hit="text(share=0.8)", measures="RR").pk == usual.pk


def test_counts_tell_what_the_passages_earn(scene):
    add_same(scene, "cut", ELSEWHERE, piece("a"), piece("a"), piece("b"), piece("c"), piece("d"), piece("b", 1, 8))
    less = piece("c", 1, 8)
    add_same(scene, "less", less)

    counts, others = (score(scene, tag, hit=TEXT).counts for tag in ("cut", "less"))

    assert {name: counts[name] for name in ("passages", "located", "lost")} == {
        "passages": 42,
        "located": 36,
        "lost": 6,
    }
    assert counts["earn"] == {
        "grades": {"0": 6, "1": 6, "3": 6},
        "repeated": 12,
        "none": 0,
        "unjudged": 6,
        "lost": 6,
    }
    assert others["earn"] == {"grades": {}, "repeated": 0, "none": 6, "unjudged": 0, "lost": 0}


def test_only_the_first_ten_passages_are_counted(scene):
    add_same(scene, "cut", *[piece("a", 1, 5)] * 12)

    counts = score(scene, "cut", hit=TEXT).counts

    assert (counts["passages"], counts["earn"]["none"]) == (60, 60)


def test_the_first_measure_is_given_by_three_shares_and_the_own_one(scene):
    add_same(scene, "cut", piece("a", 1, 12))

    usual, other = score(scene, "cut", hit=TEXT).counts, score(scene, "cut", hit="text(share=0.6)").counts

    assert [one["share"] for one in usual["shares"]] == [0.5, 0.8, 1.0]
    assert [one["mean"] > 0 for one in usual["shares"]] == [True, False, False]
    assert [(one["share"], one["mean"] > 0) for one in other["shares"]] == [
        (0.5, True),
        (0.6, True),
        (0.8, False),
        (1.0, False),
    ]
    assert {name for one in usual["shares"] for name in one} == {"share", "mean", "low", "high"}


def test_by_text_only_the_share_of_judged_results_is_known_of_what_is_open(scene):
    add_same(scene, "cut", piece("a"), piece("d"))

    evaluation = score(scene, "cut", hit=TEXT, measures="P@2")

    assert evaluation.if_judged("P@2").judged == 0.5
    assert evaluation.if_judged("P@2").range is None
    assert evaluation.scores.get(measure="Judged@10").mean == 0.5


def test_people_who_differ_widen_the_interval_by_text_too():
    decided = qrels_of(6)
    other = {query: {"a": 0, "b": 1, "c": 3} for query in decided}
    scene = make_text_scene(qrels=decided, ratings={"Anna": decided, "Bert": other})
    add_same(scene, "cut", piece("a"), piece("c"))

    evaluation = score(scene, "cut", hit=TEXT, measures="nDCG@10")

    row = evaluation.scores.get(measure="nDCG@10")
    assert row.people[0] < row.ci_low
    assert evaluation.counts["people"] == 2


def test_a_run_of_blocks_has_the_same_figures_by_text_where_it_returns_whole_blocks(scene):
    scene.runs["blocks"] = add_run(scene, "blocks", dict.fromkeys(qrels_of(6), GOOD))
    measures = "nDCG@10 P@2 RR AP"

    by_id, by_text = score(scene, "blocks", measures=measures), score(scene, "blocks", hit=TEXT, measures=measures)

    assert by_id.pk != by_text.pk
    assert values(by_id, "nDCG@10") == values(by_text, "nDCG@10")
    assert values(by_id, "AP") == values(by_text, "AP")


def test_a_run_of_passages_is_refused_by_id_with_what_to_do(scene):
    add_same(scene, "cut", piece("a"))

    with pytest.raises(EvaluationRefused, match="Score it by text") as refused:
        ask(scene, "cut")

    assert refused.value.code == "score_refused"


@pytest.mark.parametrize(
    ("hit", "measures", "says"),
    [
        ("text", "Sufficient@5", "Sufficient@5 needs"),
        ("", "TokenRecall@5", "TokenRecall@5 needs the words of returned passages"),
        ("text", "ERR(max_rel=2)@10", "there are grades up to 3"),
    ],
)
def test_a_measure_that_the_basis_lacks_is_refused(scene, hit, measures, says):
    scene.runs["blocks"] = add_run(scene, "blocks", dict.fromkeys(qrels_of(6), GOOD))

    with pytest.raises(EvaluationRefused, match=says):
        ask(scene, "blocks", hit=hit, measures=measures)


def test_a_rule_that_is_none_is_refused(scene):
    add_same(scene, "cut", piece("a"))

    with pytest.raises(EvaluationRefused, match="share is above 0"):
        ask(scene, "cut", hit="text(share=2)")


def test_figures_by_id_and_by_text_stand_on_boards_of_their_own(scene):
    scene.runs["blocks"] = add_run(scene, "blocks", dict.fromkeys(qrels_of(6), GOOD))
    add_same(scene, "cut", piece("a"))
    score(scene, "blocks", measures="RR")
    score(scene, "cut", hit=TEXT, measures="RR")

    boards = {hit: leaderboard.lines_on(scene.version, "", "RR", hit) for hit in ("", TEXT)}

    assert {hit: [line.tag for line in lines] for hit, lines in boards.items()} == {"": ["blocks"], TEXT: ["cut"]}


def test_what_is_measured_otherwise_is_not_compared_and_the_sentence_says_what_mends_it(scene):
    scene.runs["blocks"] = add_run(scene, "blocks", dict.fromkeys(qrels_of(6), GOOD))
    add_same(scene, "cut", piece("a"))
    by_id, by_text = score(scene, "blocks"), score(scene, "cut", hit=TEXT)
    strict = score(scene, "cut", hit="text(share=1)")

    assert "Score blocks by text too." in comparison_refusal(by_id, by_text)
    assert "Score blocks by text too." in comparison_refusal(by_text, by_id)
    assert "cut by text and cut by text, share 1" in comparison_refusal(by_text, strict)
    assert comparison_refusal(by_text, score(scene, "blocks", hit=TEXT)) is None
    with pytest.raises(ComparisonRefused, match="Score blocks by text too"):
        compared(membership_in(scene.lead, scene.project.slug), by_id, by_text, "")


def test_a_drop_by_text_is_of_a_query_and_its_grades_can_be_called_wrong(scene):
    """What the first passages of the two runs cover goes to the judges again."""
    add_same(scene, "good", piece("a"), piece("d"))
    add_same(scene, "bad", piece("c"))
    member = membership_in(scene.lead, scene.project.slug)
    baseline, candidate = (score(scene, tag, hit=TEXT, measures="RR") for tag in ("good", "bad"))
    sheet = compared(member, baseline, candidate, "RR")
    RegressionNote.objects.create(
        baseline=baseline,
        candidate=candidate,
        measure="RR",
        query_id_text="Q01",
        decision=RegressionNote.Decision.GRADES_WRONG,
        decided_by=scene.lead,
        decided_at=AT,
    )

    pool = judge_again(baseline=baseline, candidate=candidate, measure="RR", member=member, at=AT)

    assert sheet.compared.items.many == "queries"
    assert len(sheet.drops) == 6
    blocks = pool.entries.values_list("query__outside_id", "version__block__outside_id")
    assert sorted(blocks) == [("Q01", "a"), ("Q01", "c"), ("Q01", "d")]


def test_a_gate_by_text_checks_a_system_that_cuts_its_own_passages(scene):
    add_same(scene, "cut", piece("a"))
    gate = add_gate(scene, {"figure": "nDCG@10", "hit": TEXT, "at_least": 0.1, "on": "mean"})
    late = add_gate(scene, {"name": "Words", "figure": "TokenRecall@5", "hit": TEXT, "at_least": 0.9, "on": "mean"})

    score(scene, "cut", hit=TEXT)

    passed, failed = (one.result for one in gates.statuses([gate, late]))
    assert (passed.state, failed.state) == ("passed", "failed")
    assert "nDCG@10 by text" in passed.words


def test_a_gate_by_text_compares_with_a_run_of_blocks(scene):
    add_same(scene, "cut", piece("c"))
    scene.runs["blocks"] = add_run(scene, "blocks", dict.fromkeys(qrels_of(6), GOOD))
    facts = {"figure": "RR", "hit": TEXT, "at_least": None, "no_worse_than": "baseline", "margin": 0.1}
    gate = add_gate(scene, facts, baseline="blocks")

    evaluation = score(scene, "cut", hit=TEXT, measures="RR")

    result = gates.statuses([gate])[0].result
    assert (result.evaluation_id, result.state, result.value) == (evaluation.pk, "failed", -1.0)


def test_a_gate_on_speed_is_decided_by_a_score_by_text_too(scene):
    add_same(scene, "cut", piece("a"))
    gate = add_gate(scene, {"figure": "latency_p95", "at_least": None, "at_most": 100})

    score(scene, "cut", hit=TEXT)

    assert gates.statuses([gate])[0].result.evaluation.hit == TEXT


def test_missing_scores_by_text_are_of_every_run(scene):
    scene.runs["blocks"] = add_run(scene, "blocks", dict.fromkeys(qrels_of(6), GOOD))
    add_same(scene, "cut", piece("a"))

    by_id = score_missing(version=scene.version, split="dev", actor=scene.lead, at=AT)
    by_text = score_missing(version=scene.version, split="dev", hit=TEXT, actor=scene.lead, at=AT)

    assert [one.run.tag for one in by_id] == ["blocks"]
    assert [one.run.tag for one in by_text] == ["blocks", "cut"]


def test_a_release_goes_on_with_the_scores_by_text(scene):
    add_same(scene, "cut", piece("a"))
    score(scene, "cut", hit=TEXT, measures="RR")
    version = draft_version(
        gold_set_id=scene.version.gold_set_id,
        snapshot=scene.snapshot,
        rounds=list(scene.version.rounds.all()),
        seed=7,
        test_share=0.0,
        actor=scene.lead,
        at=AT,
    )
    version = freeze_version(version_id=version.pk, actor=scene.lead, at=AT)

    release_version(version_id=version.pk, actor=scene.lead, at=AT)

    requested = Evaluation.objects.filter(version=version)
    assert [(one.run.tag, one.hit, one.measures) for one in requested] == [("cut", TEXT, ["RR"])]


def test_a_small_test_side_is_counted_in_graded_queries():
    scene = make_text_scene(queries=6, test_share=0.5)

    words = small_test_words(scene.version, "test", TEXT)

    assert words == small_test_words(scene.version, "test")
    assert "queries" in words
