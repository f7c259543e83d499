"""Scores on a slice: of its questions alone, as it was, and never among those on all."""

import pytest
from django.db import DatabaseError, transaction
from django.urls import reverse

from apps.evaluation import rules
from apps.evaluation.actions.scoring import EvaluationRefused
from apps.evaluation.models import Evaluation
from apps.evaluation.selectors import evaluations, leaderboard
from apps.evaluation.selectors.evaluations import grounds_of
from apps.gates import selectors as gates
from apps.goldsets.actions.slices import add_to_slice, make_rotating_slice
from apps.goldsets.models import Slice
from tests.evaluation.factories import BAD, GOOD, Scene, ask, make_scene, qrels_of, score
from tests.factories import AT
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def _scene(module_rows) -> Scene:
    """Twelve queries, half of them dev; "half" is right on the first six by name."""
    ids = sorted(qrels_of(12))
    half = {name: GOOD if place < 6 else BAD for place, name in enumerate(ids)}
    return make_scene(queries=12, runs={"half": half, "good": dict.fromkeys(ids, GOOD)})


def dev_ids(scene: Scene) -> list[str]:
    rows = scene.version.queries.filter(split="dev").order_by("outside_id")
    return list(rows.values_list("outside_id", flat=True))


def grow(scene: Scene, *names: str, kind: str = "canary") -> Slice:
    part, _ = add_to_slice(
        version_id=scene.version.pk, kind=kind, names=dict.fromkeys(names, "Picked."), actor=scene.lead, at=AT
    )
    assert part is not None
    return part


def test_a_run_is_scored_on_the_questions_of_the_slice_alone(scene):
    first, second, *_ = dev_ids(scene)
    part = grow(scene, first, second)

    found = score(scene, "half", slice_name="canary")

    assert (found.slice, found.slice_size, found.split) == (part, 2, "dev")
    assert found.query_ids == [first, second]
    assert found.counts["judged"] == 2
    whole = score(scene, "half", split="dev")
    values, everything = evaluations.values_of(found), evaluations.values_of(whole)
    for measure, column in values.items():
        expected = dict(zip(whole.query_ids, everything[measure].tolist(), strict=True))
        assert column.tolist() == [expected[first], expected[second]]


def test_a_slice_that_grew_is_another_question_and_the_old_score_stays(scene):
    first, second, third, *_ = dev_ids(scene)
    grow(scene, first, second)
    before = score(scene, "half", slice_name="canary")
    grow(scene, third)

    after = score(scene, "half", slice_name="canary")
    again = ask(scene, "half", slice_name="canary")

    assert before.pk != after.pk == again.pk
    assert (before.slice_size, after.slice_size) == (2, 3)
    assert evaluations.names_of(before) == {first, second}
    assert "canary slice, 2 questions" in rules.ground_words(before)
    assert "same questions" in rules.comparison_refusal(before, after)


def test_a_score_on_a_slice_is_on_no_board_of_the_split(scene):
    grow(scene, *dev_ids(scene)[:2])
    score(scene, "good", slice_name="canary")

    assert not Evaluation.objects.filter(run=scene.runs["good"]).exists()
    assert leaderboard.lines_on(scene.version, "dev", "nDCG@10") == []
    assert grounds_of(scene.version).scored == {}
    part = evaluations.part_named(scene.version, "canary")
    assert [line.tag for line in leaderboard.lines_on(scene.version, "dev", "nDCG@10", "", part)] == ["good"]
    assert leaderboard.measures_on(scene.version, "dev", "", "", part)[0] == "nDCG@10"


def test_home_shows_the_newest_score_on_all_and_never_one_on_a_slice_as_if_it_were(scene, client):
    grow(scene, *dev_ids(scene)[:2])
    score(scene, "good", split="dev")
    score(scene, "half", slice_name="canary", split="dev")
    client.force_login(scene.lead)

    home = client.get(reverse("dashboard:home", args=[scene.project.slug])).content.decode()

    assert "good on v1, dev split" in home
    assert "half on v1, dev split" not in home


def test_an_older_size_is_not_on_the_board_of_the_slice(scene):
    first, second, *_ = dev_ids(scene)
    grow(scene, first)
    score(scene, "good", slice_name="canary")
    grow(scene, second)
    part = evaluations.part_named(scene.version, "canary")

    assert leaderboard.lines_on(scene.version, "dev", "nDCG@10", "", part) == []


def test_a_quarter_is_named_as_it_is_and_as_rotating(scene):
    made = make_rotating_slice(version_id=scene.version.pk, quarter="2026-Q4", size=3, actor=scene.lead, at=AT)

    assert ask(scene, "good", slice_name="rotating") == ask(scene, "good", slice_name="2026-Q4")
    run_jobs()
    assert Evaluation.everything.get().slice == made


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"slice_name": "challenge"}, "v1 has no slice called “challenge”. There are: canary."),
        ({"slice_name": "canary", "split": "test"}, "Slices have dev questions only: test stays sealed."),
    ],
)
def test_what_is_no_slice_or_sealed_is_refused(scene, options, reason):
    grow(scene, dev_ids(scene)[0])

    with pytest.raises(EvaluationRefused) as refused:
        ask(scene, "good", **options)

    assert refused.value.sentence.startswith(reason)


def test_the_database_takes_no_slice_of_another_version_and_no_test(scene):
    part = grow(scene, dev_ids(scene)[0])
    found = ask(scene, "good", slice_name="canary")

    for change in ({"split": "test"}, {"slice_size": None}, {"slice_size": 0}):
        row = Evaluation.everything.get(pk=found.pk)
        row.pk, row.seed = None, 9
        for name, value in change.items():
            setattr(row, name, value)
        with pytest.raises(DatabaseError), transaction.atomic():
            row.save(force_insert=True)
    assert part.evaluations.model.everything.count() == 1


def make_gate(scene: Scene, **facts):
    from apps.gates.actions import create_gate

    rule = {"name": "Good enough", "figure": "nDCG@10", "at_least": 0.9, **facts}
    return create_gate(
        gold_set=scene.version.gold_set,
        system_id=scene.runs["good"].system_id,
        facts=rule,
        split="dev",
        actor=scene.lead,
        at=AT,
    )


def test_a_score_on_a_slice_decides_the_gates_on_that_slice_alone(scene, two_decide):
    grow(scene, *dev_ids(scene)[:2])
    on_slice = make_gate(scene, slice="canary")
    on_all = make_gate(scene, name="On all")
    other = make_gate(scene, name="Other", slice="challenge")

    found = score(scene, "good", slice_name="canary")

    states = gates.statuses([on_slice, on_all, other])
    assert [row.result and (row.result.state, row.result.n) for row in states] == [("passed", 2), None, None]
    assert [result.gate for result in gates.results_on(found)] == [on_slice]


def test_a_gate_made_later_is_decided_on_earlier_scores_of_its_slice(scene):
    grow(scene, *dev_ids(scene)[:2])
    score(scene, "good", slice_name="canary")

    gate = make_gate(scene, slice="canary")
    run_jobs()

    assert gates.statuses([gate])[0].result.n == 2
