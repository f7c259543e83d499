"""What hard negatives do to scores: by hand, as a property, and through job, page and report."""

import numpy as np
import pytest
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from apps.audit.models import Event
from apps.metrics.columns import Judged, Ranked, pair_keys
from apps.metrics.measures.registry import measure_run, parse_measures
from apps.reports.actions import measure_negatives
from apps.reports.core.negatives import MEASURES, effects_of, find_hard, without_pairs
from apps.reports.core.unjudged_priority import Top
from apps.reports.models import NegativesReport
from apps.reports.presenters.documents import version_report
from apps.reports.selectors.analyses import latest_negatives
from tests.evaluation.factories import make_scene
from tests.factories import AT
from tests.reports.test_negatives import unlike
from tests.reports.test_unjudged_priority import ints
from tests.running_jobs import run_jobs

RR, P1, NDCG = parse_measures(MEASURES)
A, B, C, D = range(4)
# The example of docs/reference/reports.md: c (0), a (3), d (nobody judged it), b (1).
RANKING = [C, A, D, B]
GRADES = {A: 3, B: 1, C: 0}


def judged_of(*queries):
    """One dictionary of grades by block for each query."""
    rows = [(query, block, grade) for query, grades in enumerate(queries) for block, grade in grades.items()]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return Judged(tuple(f"Q{n}" for n in range(len(queries))), *(columns[:, at].copy() for at in range(3)))


def ranked_of(*rankings):
    query = ints(number for number, blocks in enumerate(rankings) for _ in blocks)
    block = ints(block for blocks in rankings for block in blocks)
    score = np.array([-float(rank) for blocks in rankings for rank, _ in enumerate(blocks)])
    return Ranked(query, block, score)


def top_of(depth, *rankings):
    query, block, score, _ = ranked_of(*rankings)
    rank = (-score).astype(np.int64)
    high = rank < depth
    return Top(query[high], block[high], rank[high])


def values_of(judged, ranked):
    return measure_run([RR, P1, NDCG], judged, ranked, range(1_000))


def before_and_after(judged, ranked, top, alike=unlike):
    hard = find_hard(judged, top, alike)
    return hard, values_of(judged, without_pairs(ranked, hard.keys)), values_of(judged, ranked)


def test_the_example_of_the_documentation():
    judged, ranked = judged_of(GRADES), ranked_of(RANKING)

    hard, before, after = before_and_after(judged, ranked, top_of(3, RANKING))

    assert hard.keys.tolist() == [C]
    assert hard[1:] == (1, 1, 1, 0, 1)
    assert before[0].round(4).tolist() == [1.0, 1.0, 0.9639]
    assert after[0].round(4).tolist() == [0.5, 0.0, 0.6399]


def test_a_passage_judged_0_below_the_depth_is_not_hard():
    ranking = [A, D, B, C]

    hard = find_hard(judged_of(GRADES), top_of(3, ranking), unlike)

    assert (len(hard.keys), hard.low, hard.with_hard) == (0, 1, 0)


def test_what_reads_like_a_relevant_passage_of_its_query_is_passed_over():
    asked = []

    def alike(candidates, relevant):
        asked.append((candidates.tolist(), relevant.tolist()))
        return np.ones(len(candidates), dtype=bool)

    hard = find_hard(judged_of({A: 2, C: 0}, {B: 1, D: 0}), top_of(4, [C, A], [D, B]), alike)

    assert asked == [([C], [A]), ([D], [B])]
    assert (len(hard.keys), hard.alike) == (0, 2)


def test_the_negatives_of_one_query_stay_in_the_ranking_of_another():
    judged = judged_of({A: 1, C: 0}, {C: 1})

    hard, before, _ = before_and_after(judged, ranked_of([C, A], [C]), top_of(2, [C, A], [C]))

    assert hard.keys.tolist() == pair_keys(ints([0]), ints([C])).tolist()
    assert before[:, 0].tolist() == [1.0, 1.0]


def test_the_change_is_paired_by_query_with_an_interval():
    judged = judged_of(*[GRADES] * 8)
    ranked = ranked_of(*[RANKING] * 4, *[[A, C]] * 4)

    _, before, after = before_and_after(judged, ranked, top_of(3, *[RANKING] * 8))
    effect = effects_of([RR, P1, NDCG], before, after)[0]

    assert (effect.before.value, effect.after.value, effect.change.value) == (1.0, 0.75, -0.25)
    assert (effect.worse, effect.change.n) == (4, 8)
    low, high = effect.change.interval
    assert low < -0.25 < high
    assert type(effect).read(effect.as_json) == effect


@st.composite
def collections(draw):
    """Grades and a ranking of some of twelve blocks, with a baseline's."""
    blocks = list(range(12))
    grades = draw(st.dictionaries(st.sampled_from(blocks), st.integers(-1, 3), min_size=1))
    rankings = [draw(st.permutations(blocks))[: draw(st.integers(0, 12))] for _ in range(2)]
    return grades, rankings[0], rankings[1], draw(st.integers(1, 12))


@given(collections())
def test_adding_hard_negatives_never_raises_a_score(drawn):
    """A passage that is not relevant has no part in these measures but its place, so it can only push others down."""
    grades, ranking, baseline, depth = drawn
    judged, ranked = judged_of(grades), ranked_of(ranking)

    _, before, after = before_and_after(judged, ranked, top_of(depth, baseline))

    assert (after <= before + 1e-12).all()


@given(collections())
def test_the_more_of_them_are_added_the_lower_the_score(drawn):
    """The hard negatives of a smaller depth are among those of a larger one."""
    grades, ranking, baseline, depth = drawn
    judged, ranked = judged_of(grades), ranked_of(ranking)

    fewer, before_fewer, _ = before_and_after(judged, ranked, top_of(depth, baseline))
    more, before_more, _ = before_and_after(judged, ranked, top_of(12, baseline))

    assert set(fewer.keys.tolist()) <= set(more.keys.tolist())
    assert (before_fewer <= before_more + 1e-12).all()


def measured(scene, **options):
    values = {"baseline_id": scene.runs["better"].pk, "depth": 100, "actor": scene.lead, "at": AT} | options
    reports = measure_negatives(version=scene.version, **values)
    run_jobs()
    return reports


def report_of(version, *, is_blind=False):
    return version_report(version, is_blind=is_blind, at=AT)


@pytest.mark.django_db
def test_each_split_is_measured_on_every_run():
    """BAD ranks d (nobody judged it), c (0), b (1), a (3): without c its RR is 1/2, with it 1/3. GOOD has a first."""
    scene = make_scene(queries=12)

    measured(scene)

    latest = latest_negatives(scene.version)
    assert list(latest) == ["dev", "test"]
    for split, report in latest.items():
        size = scene.version.queries.filter(split=split).count()
        assert report.result["found"] == {
            "queries": size,
            "with_hard": size,
            "low": size,
            "alike": 0,
            "unjudged": size,
            "hard": size,
        }
        figures = {
            run["tag"]: [effect[name]["value"] for effect in run["effects"][:1] for name in ("before", "after")]
            for run in report.result["runs"]
        }
        assert figures == {"better": [1.0, 1.0], "base": [0.5, pytest.approx(1 / 3)]}


@pytest.mark.django_db
def test_the_same_request_is_measured_once_and_another_depth_again():
    scene = make_scene(queries=2, test_share=0.0)

    first, again, other = measured(scene), measured(scene), measured(scene, depth=2)

    assert first == again
    assert other != first
    assert latest_negatives(scene.version)["dev"].result["found"]["hard"] == 0
    assert Event.objects.filter(action="negatives_report.requested").count() == 2


@pytest.mark.django_db
def test_the_report_of_the_version_tells_how_many_how_found_and_before_and_after():
    scene = make_scene(queries=8, test_share=0.0)
    measured(scene)

    document = report_of(scene.version)

    section = next(part for part in document.parts if part.title == "Hard negatives")
    assert section.blocks[0].text.startswith("Hard: among the first 100 results of better, and judged 0.")
    assert section.blocks[2].text.startswith("On dev they change RR of base most: −0.167, ")
    rows = next(table.rows for table in document.tables if table.name.endswith("after adding hard negatives"))
    assert [row[:5] for row in rows[:2]] == [
        ["RR", "base", "0.5000", "0.3333", "−0.1667"],
        ["RR", "better", "1.0000", "1.0000", "0.0000"],
    ]
    assert "Hard negatives" not in [part.title for part in report_of(scene.version, is_blind=True).parts]


@pytest.mark.django_db
def test_without_a_measurement_the_report_counts_and_says_where_to_start_one():
    scene = make_scene(queries=2, test_share=0.0)

    section = next(part for part in report_of(scene.version).parts if part.title == "Hard negatives")

    assert [list(row) for row in section.blocks[0].rows] == [["dev", "2"], ["test", "0"]]
    assert "a lead can start that" in section.blocks[1].text


@pytest.mark.django_db
def test_a_lead_starts_it_on_the_page_and_reads_it_there(client):
    scene = make_scene(queries=4, test_share=0.0)
    address = reverse("reports:negatives", args=[scene.project.slug, scene.version.pk])
    start = reverse("reports:measure-negatives", args=[scene.project.slug, scene.version.pk])
    client.force_login(scene.lead)
    assert "Not measured yet" in client.get(address).content.decode()

    assert client.post(start, {"run": scene.runs["better"].pk, "depth": 10}).url == address
    run_jobs()

    told = client.get(address).content.decode()
    assert "among the first 10 results of better" in told
    assert "Measure again" in told


@pytest.mark.django_db
@pytest.mark.parametrize("fields", [{"run": 0}, {"depth": 0}, {"depth": "deep"}])
def test_a_wrong_choice_is_refused(client, fields):
    scene = make_scene(queries=1, test_share=0.0)
    client.force_login(scene.lead)

    answer = client.post(reverse("reports:measure-negatives", args=[scene.project.slug, scene.version.pk]), fields)

    assert answer.status_code == 409
    assert not NegativesReport.objects.exists()


@pytest.mark.django_db
def test_a_lead_measures_and_everybody_reads_over_the_api(client):
    scene = make_scene(queries=8, test_share=0.0)
    client.force_login(scene.lead)
    path = reverse("reports-api:negative-effects", args=(scene.version.gold_set.project.slug, scene.version.pk))

    asked = client.post(path, {"run": scene.runs["better"].pk}, content_type="application/json")
    run_jobs()
    [report] = client.get(path).json()

    assert asked.status_code == 202
    assert [(one["id"], one["result"]) for one in asked.json()] == [(report["id"], {})]
    assert (report["baseline"], report["depth"], report["split"]) == (scene.runs["better"].pk, 100, "dev")
    assert report["result"]["found"]["hard"] == 8


@pytest.mark.django_db
def test_a_baseline_that_is_no_run_of_the_version_is_refused_with_a_sentence(client):
    scene = make_scene(queries=2, test_share=0.0)
    client.force_login(scene.lead)
    path = reverse("reports-api:negative-effects", args=(scene.version.gold_set.project.slug, scene.version.pk))

    answer = client.post(path, {"run": 999_999}, content_type="application/json")

    assert answer.status_code == 409
    assert "The baseline must be one of the runs" in answer.content.decode()
    assert not NegativesReport.objects.exists()
