"""A step for scores on test: what does not beat the best published score by it stays sealed, for good."""

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse

from apps.accounts.enums import Role
from apps.evaluation.actions.scoring import EvaluationRefused, score_missing
from apps.evaluation.models import Evaluation, Score
from apps.evaluation.rules import sealed_words
from apps.gates import selectors as gates
from apps.gates.actions import create_gate
from apps.goldsets.actions.versions import draft_version, freeze_version, release_version
from apps.reports.models import BiasReport
from tests.evaluation.factories import ask, make_scene, qrels_of, score
from tests.factories import AT, make_member
from tests.reports.factories import request_analysis
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db

QUERIES = 40


def first_at(rank: int) -> dict[str, dict[str, float]]:
    """For every query the relevant passage at this rank, below others."""
    order = [*["c", "d", "é"][: rank - 1], "a"]
    found = {block: 9.0 - place for place, block in enumerate(order)}
    return dict.fromkeys(qrels_of(QUERIES), found)


def make_scene_with_step(step: float | None):
    runs = {"half": first_at(2), "again": first_at(2), "third": first_at(3), "best": first_at(1)}
    scene = make_scene(queries=QUERIES, test_share=0.5, runs=runs)
    scene.project.policies = {"test_step": step}
    scene.project.save(update_fields=["policies"])
    return scene


def on_test(scene, tag: str, **options) -> Evaluation:
    done = score(scene, tag, **{"split": "test", "measures": "RR nDCG@10", **options})
    done.refresh_from_db()
    return done


def gate_on(scene, tag: str, baseline: str = "", **rule):
    return create_gate(
        gold_set=scene.version.gold_set,
        system_id=scene.runs[tag].system_id,
        facts={"name": "Good", "figure": "RR", **rule},
        split="test",
        baseline_id=scene.runs[baseline].pk if baseline else None,
        actor=scene.lead,
        at=AT,
    )


def test_only_what_beats_the_best_by_the_step_is_published_and_the_rest_keeps_no_figure():
    scene = make_scene_with_step(0.1)
    assert on_test(scene, "half").sealed_by is None  # the first
    for tag in ("third", "again"):
        sealed = on_test(scene, tag)
        assert (sealed.sealed_by, sealed.counts, sealed.query_ids) == (0.1, {}, [])
        assert not Score.objects.filter(evaluation=sealed).exists()
    assert on_test(scene, "best").sealed_by is None

    told = "It does not beat the best so far by 0.1, so its figures stay sealed"
    assert sealed_words(sealed) == f"Scored on the test split. {told} (2 of 4 tries published)."
    assert sealed.job.result["sealed"] == f"Scored on the test split. {told} (1 of 3 tries published)."
    with pytest.raises(IntegrityError, match="stays sealed"), transaction.atomic():
        Score.objects.create(evaluation=sealed, measure="RR", order=0, mean=0.5, n=20, values=b"")

    assert ask(scene, "third", split="test", measures="nDCG@10 RR") == on_test(scene, "third")  # never scored again
    assert not score_missing(version=scene.version, split="test", actor=scene.lead, at=AT)
    assert on_test(scene, "half", seed=5).sealed_by is None  # published before: it tells nothing new
    assert on_test(scene, "third", seed=5).sealed_by == 0.1
    assert on_test(scene, "third", split="dev").sealed_by is None


def test_without_a_step_all_is_published_and_another_step_unseals_nothing():
    scene = make_scene_with_step(None)
    assert on_test(scene, "half").sealed_by is on_test(scene, "third").sealed_by is None
    scene.project.policies = {"test_step": 0.6}
    scene.project.save(update_fields=["policies"])
    assert on_test(scene, "best").sealed_by == 0.6  # 0.5 better
    scene.project.policies = {"test_step": None}
    scene.project.save(update_fields=["policies"])
    assert on_test(scene, "best").sealed_by == 0.6
    assert on_test(scene, "again").sealed_by is None


def test_a_list_without_the_deciding_measure_is_refused_and_lower_can_be_better():
    scene = make_scene_with_step(0.1)
    on_test(scene, "third", measures="FailureRate@2 RR")
    with pytest.raises(EvaluationRefused, match=r"by 0\.1 in FailureRate@2\. Add FailureRate@2"):
        ask(scene, "half", split="test", measures="RR")
    assert on_test(scene, "half", measures="RR FailureRate@2").sealed_by is None  # 0 after 1
    assert on_test(scene, "best", measures="RR FailureRate@2").sealed_by == 0.1  # 0 again, though RR is better


def test_a_sealed_run_is_told_in_words_and_shown_nowhere_as_figures(client):
    scene = make_scene_with_step(0.1)
    lead, slug = scene.lead, scene.project.slug
    mine = gate_on(scene, "third", at_least=0.2)
    published = on_test(scene, "half")
    against = gate_on(scene, "best", baseline="third", no_worse_than="baseline")
    sealed = on_test(scene, "third")
    on_test(scene, "best")
    client.force_login(lead)

    result = gates.statuses([mine])[0].result
    assert (result.state, result.gap, result.value) == ("unknown", "sealed", None)
    assert "does not beat the best published one by 0.1" in result.words
    assert gates.statuses([against])[0].result.gap == "sealed"
    with pytest.raises(EvaluationRefused, match="again has no published score on v1"):
        request_analysis(BiasReport, scene, split="test")

    run_page = reverse("retrieval:run", args=[slug, scene.runs["third"].pk])
    assert client.get(reverse("evaluation:evaluation", args=[slug, sealed.pk])).url == run_page
    assert "so its figures stay sealed (2 of 3 tries published)" in client.get(run_page).content.decode()
    answer = client.get(reverse("evaluation:overview", args=[slug]) + "?split=test")
    assert answer.context["form"].fields["runs"].initial == [scene.runs["again"].pk]  # the only one not tried
    board = answer.content.decode()
    assert "published only if it beats the best so far by 0.1 in RR: 2 of 3 tries published." in board
    answer = client.get(reverse("evaluation-api:detail", args=[slug, sealed.pk])).json()
    assert (answer["scores"], answer["counts"], answer["kinds"]) == ([], {}, [])
    assert answer["sealed"].startswith("Scored on the test split.")
    assert client.get(reverse("evaluation-api:detail", args=[slug, published.pk])).json()["sealed"] == ""
    listed = client.get(reverse("evaluation-api:list", args=[slug])).json()["results"]
    assert sealed.pk not in [one["id"] for one in listed]

    viewer = make_member(scene.project, Role.VIEWER)
    for person in (lead, viewer):
        client.force_login(person)
        for name, query in {
            "evaluation:overview": "?split=test",
            "evaluation:trend": "?split=test",
            "evaluation:costs": "?split=test",
            "evaluation:ledger": "?split=test",
            "gates:gates": "",
            "dashboard:home": "",
        }.items():
            assert "0.333" not in client.get(reverse(name, args=[slug]) + query).content.decode(), name
    pair = [slug, published.pk, sealed.pk]
    assert client.get(reverse("evaluation:compare", args=pair)).status_code == 404
    assert client.get(reverse("evaluation-api:compare", args=pair)).status_code == 404


def test_a_new_version_publishes_what_was_published_and_tries_the_rest_again():
    scene = make_scene_with_step(0.1)
    assert [on_test(scene, tag).sealed_by for tag in ("half", "again", "best")] == [None, 0.1, None]
    rounds = list(scene.version.rounds.all())
    facts = {"gold_set_id": scene.version.gold_set_id, "snapshot": scene.snapshot, "rounds": rounds, "seed": 7}
    draft = draft_version(**facts, test_share=0.5, actor=scene.lead, at=AT)
    freeze_version(version_id=draft.pk, actor=scene.lead, at=AT)
    release_version(version_id=draft.pk, actor=scene.lead, at=AT)
    run_jobs()

    rows = Evaluation._base_manager.filter(version=draft, split="test").order_by("run__tag")
    assert list(rows.values_list("run__tag", "sealed_by"))[:3] == [("again", 0.1), ("best", None), ("half", None)]
