"""A pool that is a random sample of pairs: judged, released, and P@k estimated from it, on the page and in the API."""

import pytest
from django.urls import reverse

from apps.evaluation.actions.scoring import request_evaluation
from apps.evaluation.selectors.rankings import sampled_precision
from apps.goldsets.actions.versions import create_gold_set, draft_version, freeze_version, release_version
from apps.queries.models import Query
from apps.retrieval.core.sampling import PoolPlan
from tests.evaluation.factories import Scene
from tests.factories import AT, lead_of, make_project
from tests.goldsets.factories import make_source
from tests.judging.factories import judge_all, make_round, people_of
from tests.retrieval.factories import import_lines, make_pool, make_queries, make_snapshot, trec
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db

QUERIES, ANSWERED, DEPTH, PAIRS = 40, 30, 5, 80
TRUE = (1 + 3 * 0.5) / 5 * ANSWERED / QUERIES
"""Of each query answered the first result is relevant; of every second one, three more."""


def is_relevant(query: str, block: str) -> bool:
    return block == "b0" or (int(query[1:]) % 2 == 0 and block in {"b1", "b2", "b3"})


@pytest.fixture
def scene(db):
    project = make_project()
    lead = lead_of(project)
    snapshot = make_snapshot(project, {f"b{n}": f"Text {n}" for n in range(12)})
    names = [f"Q{n:02}" for n in range(QUERIES)]
    make_queries(project, {name: f"What about {name}" for name in names})
    Query.objects.filter(project=project).update(source=make_source(project))
    found = {"down": (names[:ANSWERED], [0, 1, 2, 3, 4]), "up": (names, [9, 8, 7, 6, 5])}
    runs = {
        tag: import_lines(
            project, snapshot, trec([(q, f"b{b}", 9.0 - at) for q in asked for at, b in enumerate(order)], tag)
        ).run
        for tag, (asked, order) in found.items()
    }
    plan = PoolPlan(method="sample", pairs=PAIRS, each=False, seed=3)
    pool = make_pool(project, snapshot, depth=DEPTH, run_ids=[run.pk for run in runs.values()], plan=plan)
    round_ = make_round(project, pool=pool, annotators=1, overlap=0.0, again=0.0)
    (person,) = people_of(round_)
    judge_all(
        round_,
        person,
        lambda seat: int(is_relevant(seat.entry.query.outside_id, seat.entry.version.block.outside_id)),
    )
    gold_set = create_gold_set(project=project, name="Handbook", actor=lead, at=AT)
    facts = {"snapshot": snapshot, "rounds": [round_], "seed": 7, "test_share": 0.0}
    draft = draft_version(gold_set_id=gold_set.pk, **facts, actor=lead, at=AT)
    freeze_version(version_id=draft.pk, actor=lead, at=AT)
    version = release_version(version_id=draft.pk, actor=lead, at=AT)
    return Scene(project, snapshot, version, runs)


def test_p_at_k_of_each_run_is_estimated_from_its_sampled_pairs(client, scene):
    asked = {"project": scene.project, "version_id": scene.version.pk, "split": "dev", "actor": scene.lead, "at": AT}
    good, bad = (request_evaluation(run_id=scene.runs[tag].pk, **asked) for tag in ("down", "up"))
    run_jobs()
    for one in (good, bad):
        one.refresh_from_db()

    estimate = sampled_precision(good).estimate
    other = sampled_precision(bad).estimate
    assert (sampled_precision(good).measure, estimate.n + other.n) == ("P@5", PAIRS)
    assert estimate.low < TRUE < estimate.high
    assert estimate.value == pytest.approx(TRUE, abs=0.12)
    assert (other.value, other.low) == (0, 0)
    assert good.scores.get(measure="P@10").mean < 0.1  # where what is not judged counts as not relevant

    client.force_login(scene.lead)
    page = client.get(reverse("evaluation:evaluation", args=[scene.project.slug, good.pk])).content.decode()
    assert f"a random sample of {estimate.n} judged pairs of this run: <b>{estimate.value:.3f}</b>" in page
    answer = client.get(reverse("evaluation-api:detail", args=[scene.project.slug, good.pk])).json()["sampled"]
    assert answer == {"measure": "P@5", **estimate.as_json}
