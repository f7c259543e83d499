"""Scores by triples: the job, its figures, requests, and that they are never mixed with scores by grades."""

import pytest
from django.urls import reverse

from apps.accounts.selectors import membership_in
from apps.evaluation.actions.scoring import EvaluationRefused
from apps.evaluation.models import Evaluation
from apps.evaluation.presenters.hit_comparison import HitComparison
from apps.evaluation.presenters.hit_score_tables import HitSheet
from apps.evaluation.selectors import leaderboard
from apps.evaluation.selectors.evaluations import values_of
from apps.goldsets.actions.slices import add_to_slice
from apps.goldsets.actions.versions import draft_version, freeze_version, release_version
from apps.goldsets.enums import VersionState
from apps.jobs.models import Job
from apps.metrics.expected.rules import KINDS
from apps.metrics.statistics.proportions import wilson
from apps.retrieval.models import Run
from tests.evaluation.hits import places, run_that, score
from tests.factories import AT, lead_of
from tests.goldsets.factories import make_bench, make_version
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db


def test_each_triple_has_the_values_of_its_first_right_rank(version):
    evaluation = score(version, run_that(version, "ours", places(version, 1, 2, 0)), measures="RR Success@1 Recall@2")
    values = {name: column.tolist() for name, column in values_of(evaluation).items()}
    assert values == {"RR": [1, 0.5, 0], "Success@1": [1, 0, 0], "Recall@2": [1, 1, 0]}
    assert evaluation.query_ids == list(version.triples.order_by("label").values_list("label", flat=True))


def test_a_yes_or_no_measure_has_wilsons_interval(version):
    evaluation = score(version, run_that(version, "ours", places(version, 1, 2, 0)))
    one = evaluation.scores.get(measure="Success@5")
    assert (one.mean, one.summary.interval) == (2 / 3, wilson(2, 3))


def test_counts_tell_what_the_figures_rest_on(version):
    evaluation = score(version, run_that(version, "ours", places(version, 1, 2, 0)))
    counts = evaluation.counts
    assert {name: counts[name] for name in ("questions", "undefined", "missing", "not_found", "unreadable")} == {
        "questions": 3,
        "undefined": [],
        "missing": 0,
        "not_found": 1,
        "unreadable": 0,
    }
    assert {tuple(bin_[:2]): bin_[2] for bin_ in counts["ranks"] if bin_[2]} == {(1, 1): 1, (2, 2): 1, (None, None): 1}


@pytest.mark.parametrize("kind", KINDS)
def test_every_rule_finds_the_expected_block_itself(version, kind):
    run = run_that(version, f"by-{kind}", places(version, 1, 1, 1))
    evaluation = score(version, run, hit=kind, measures="Success@1")
    assert set(values_of(evaluation)["Success@1"].tolist()) <= {1.0}
    assert len(evaluation.query_ids) + len(evaluation.counts["undefined"]) == 3


def test_a_version_of_triples_only_is_measured():
    bench = make_bench(triples=2, judge=False)
    version = make_version(VersionState.RELEASED, bench, rounds=[], test_share=0.0)
    assert not version.queries.exists()
    evaluation = score(version, run_that(version, "ours", places(version, 1, 0)))
    assert evaluation.scores.get(measure="Success@5").mean == 0.5


def test_grades_and_hits_are_evaluations_of_their_own(version):
    run = run_that(version, "ours", places(version, 1, 2, 0))
    by_block, again = score(version, run, measures="RR"), score(version, run, measures="RR")
    by_document = score(version, run, hit="document", measures="RR")
    assert by_block.pk == again.pk
    assert by_block.pk != by_document.pk
    assert [line.evaluation_id for line in leaderboard.lines_on(version, "", "RR", "block")] == [by_block.pk]
    assert leaderboard.lines_on(version, "", "RR") == []
    assert leaderboard.measures_on(version, "", "", "block") == ["RR"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"hit": "passage"}, "not a hit rule"),
        ({"hit": "block", "measures": "nDCG@10"}, "needs grades"),
        ({"hit": "block", "split": "test"}, "no Q&As in the test split"),
    ],
)
def test_what_cannot_be_measured_is_refused_with_a_sentence(version, options, sentence):
    run = run_that(version, "ours", places(version, 1, 2, 0))
    with pytest.raises(EvaluationRefused, match=sentence):
        score(version, run, **options)
    assert not Evaluation.objects.exists()


def test_two_runs_are_compared_by_the_exact_test(version):
    first = score(version, run_that(version, "base", places(version, 0, 2, 0)))
    second = score(version, run_that(version, "better", places(version, 1, 2, 0)))
    project = version.gold_set.project
    member = membership_in(lead_of(project), project.slug)
    sheet = HitComparison(HitSheet(first, member), HitSheet(second, member))
    assert sheet.headline.difference.tally[:3] == (1, 2, 0)
    assert "for 2 of 3 questions" in sheet.finding
    assert "better alone found 1, base alone 0" in sheet.method
    assert "p = 1.000" in sheet.method


def test_the_pages_show_rule_count_and_interval(client, version):
    first = score(version, run_that(version, "base", places(version, 0, 2, 0)))
    second = score(version, run_that(version, "better", places(version, 1, 2, 0)))
    project = version.gold_set.project
    client.force_login(lead_of(project))
    page = client.get(reverse("evaluation:evaluation", args=[project.slug, second.pk])).content.decode()
    assert "2 of 3" in page
    assert "A returned passage counts when it is the expected passage." in page
    assert "these figures are a lower end" in page
    page = client.get(reverse("evaluation:compare", args=[project.slug, first.pk, second.pk])).content.decode()
    assert "Known answers" in page
    board = client.get(reverse("evaluation:overview", args=[project.slug]), {"hit": "block", "split": ""})
    assert board.context["board"].total == 2


def test_a_release_scores_stored_runs_by_the_rules_of_earlier_versions(version):
    run = run_that(version, "ours", places(version, 1, 2, 0))
    score(version, run, measures="RR")
    later = make_version_after(version)
    run_jobs()
    rows = Evaluation.objects.filter(version=later).values_list("hit", "measures")
    assert list(rows) == [("block", ["RR"])]


def make_version_after(version):
    lead = lead_of(version.gold_set.project)
    draft = draft_version(
        gold_set_id=version.gold_set_id, snapshot=version.snapshot, rounds=list(version.rounds.all()), actor=lead, at=AT
    )
    freeze_version(version_id=draft.pk, actor=lead, at=AT)
    return release_version(version_id=draft.pk, actor=lead, at=AT)


@pytest.fixture
def pair(version):
    return [
        score(version, run_that(version, tag, places(version, *ranks)))
        for tag, ranks in (("base", (0, 2, 0)), ("better", (1, 2, 0)))
    ]


@pytest.mark.parametrize("form", ["", "md"])
def test_reports_name_the_rule_and_what_figures_cannot_know(client, version, pair, form):
    project = version.gold_set.project
    client.force_login(lead_of(project))
    for url in (
        reverse("reports:evaluation", args=[project.slug, pair[1].pk]),
        reverse("reports:comparison", args=[project.slug, pair[0].pk, pair[1].pk]),
    ):
        text = client.get(url, {"format": form} if form else {}).content.decode()
        assert "3 questions, hit rule block. A returned passage counts when it is the expected passage." in text
        assert "these figures are a lower end" in text
        assert "judged@10" not in text


def test_a_comparison_is_exported_with_its_rule(client, version, pair):
    project = version.gold_set.project
    client.force_login(lead_of(project))
    url = reverse("evaluation:export", args=[project.slug, pair[0].pk, pair[1].pk])
    rows = client.get(url).content.decode("utf-8-sig").splitlines()
    assert rows[0] == "query,split,measure,baseline,candidate,difference,hit"
    assert len(rows) == 1 + 3 * 3
    assert rows[1].endswith(",block")


def test_judging_again_is_about_grades_and_refused_on_questions(client, version, pair):
    project = version.gold_set.project
    client.force_login(lead_of(project))
    answer = client.post(reverse("evaluation:judge-again", args=[project.slug, pair[0].pk, pair[1].pk]))
    assert answer.status_code == 409
    assert "scored on Q&amp;As" in answer.content.decode()


def test_the_api_asks_for_a_rule_and_tells_it(client, version):
    project = version.gold_set.project
    client.force_login(lead_of(project))
    run = run_that(version, "ours", places(version, 1, 2, 0))
    body = {"run": run.pk, "version": version.pk, "split": "", "hit": "evidence(share=0.80)"}
    url = f"/api/v1/projects/{project.slug}/evaluation/"
    answer = client.post(url, body, content_type="application/json")
    assert answer.status_code == 202, answer.content
    run_jobs()
    found = client.get(f"{url}{answer.json()['id']}/").json()
    assert found["hit"] == "evidence"
    assert [(one["measure"], one["method"]) for one in found["scores"]] == [
        ("Success@5", "wilson"),
        ("Success@1", "wilson"),
        ("RR", "wilson-scaled"),
    ]


def test_a_wrong_rule_is_refused_by_the_api(client, version):
    project = version.gold_set.project
    client.force_login(lead_of(project))
    run = run_that(version, "ours", places(version, 1, 2, 0))
    body = {"run": run.pk, "version": version.pk, "hit": "passage"}
    answer = client.post(f"/api/v1/projects/{project.slug}/evaluation/", body, content_type="application/json")
    assert answer.status_code == 409
    assert "not a hit rule" in answer.json()["detail"]


def test_a_slice_is_measured_on_its_triples_alone(version):
    labels = list(version.triples.order_by("label").values_list("label", flat=True))
    run = run_that(version, "two-of-three", places(version, 1, 0, 2))
    add_to_slice(
        version_id=version.pk,
        kind="challenge",
        names=dict.fromkeys(labels[:2], "Missed."),
        actor=version.created_by,
        at=AT,
    )

    found = score(version, run, measures="Success@5", slice_name="challenge")

    assert found.query_ids == labels[:2]
    assert found.counts["questions"] == 2
    assert values_of(found)["Success@5"].tolist() == [1.0, 0.0]
    assert leaderboard.lines_on(version, "dev", "Success@5", "block") == []


def test_one_job_scores_every_stored_run_on_a_release(version):
    first, second = (run_that(version, tag, places(version, 1, 2, 0)) for tag in ("base", "better"))
    for run in (first, second):
        score(version, run, measures="RR")
        score(version, run, hit="", measures="nDCG@10")
    later = make_version_after(version)
    waiting = Evaluation.objects.filter(version=later)
    assert waiting.count() == 4
    (job,) = Job.objects.filter(pk__in=waiting.values("job"))
    run_jobs()
    job.refresh_from_db()
    assert (job.state, job.result) == ("done", {"evaluations": 4})
    assert not waiting.filter(scored_at=None).exists()


def test_a_run_that_cannot_be_scored_keeps_no_other_from_its_scores(version):
    score(version, run_that(version, "ours", places(version, 1, 2, 0)), measures="RR")
    score(version, Run.objects.get(), hit="", measures="nDCG@10")
    later = make_version_after(version)
    broken = Evaluation.objects.get(version=later, hit="block")
    Evaluation.objects.filter(pk=broken.pk).update(split="test")  # which has no Q&As
    run_jobs()
    assert list(Evaluation.objects.filter(version=later).exclude(scored_at=None).values_list("hit", flat=True)) == [""]
    broken.refresh_from_db()
    assert broken.job.state == "failed"
    assert "has no Q&As in this split" in broken.job.error
