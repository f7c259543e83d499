import pytest
from django.db import DatabaseError, transaction
from django.http import Http404

from apps.accounts.enums import Role
from apps.accounts.selectors import membership_in
from apps.audit.models import Event
from apps.common.errors import Refusal
from apps.evaluation.actions.comparisons import decide_drop
from apps.evaluation.actions.scoring import request_evaluations
from apps.evaluation.core import packing
from apps.evaluation.models import Evaluation, RegressionNote, Score
from apps.evaluation.selectors import evaluations
from apps.goldsets.enums import Split, VersionState
from apps.goldsets.models import VersionGrade
from apps.jobs.actions.jobs import cancel_job
from apps.jobs.enums import JobState
from apps.jobs.models import Job
from tests.evaluation.factories import BLOCKS, GOOD, add_run, ask, make_scene, qrels_of, score
from tests.factories import AT, make_member
from tests.metrics.oracle import TREC_NAMES, trec_values
from tests.module_rows import rows_of_module
from tests.retrieval.factories import make_snapshot
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db
MEASURES = "nDCG@10 AP RR P@10"


def values(evaluation) -> dict[str, dict[str, float]]:
    found = evaluations.values_of(evaluation)
    return {
        query: {name: float(column[place]) for name, column in found.items()}
        for place, query in enumerate(evaluation.query_ids)
    }


def test_scores_of_a_run_equal_trec_eval():
    qrels = {"Q01": {"a": 3, "b": 0}, "Q02": {"c": 1, "é": 2, "d": 0}, "Q03": {"d": 0}, "Q04": {"a": 1}}
    run = {"Q01": {"b": 2.0, "a": 2.0, "é": 1.0}, "Q02": {"d": 5.0, "é": 5.0, "c": 5.0}, "Q03": {"a": 1.0}}
    names = [name for name in TREC_NAMES if not name.endswith("1000")]

    evaluation = score(make_scene(qrels=qrels, runs={"r": run}, test_share=0), "r", measures=" ".join(names))

    theirs = trec_values(qrels, run)
    for query, row in values(evaluation).items():
        assert {name: row[name] for name in names} == pytest.approx({n: theirs[query][n] for n in names}, abs=1e-12)


def test_an_evaluation_knows_what_it_counted():
    qrels = {**qrels_of(3), "Q09": {"a": 0}}
    scene = make_scene(qrels=qrels, runs={"r": {"Q01": GOOD, "Q09": GOOD}}, test_share=0)

    evaluation = score(scene, "r")

    counts = {key: evaluation.counts[key] for key in ("judged", "with_relevant", "in_run", "missing")}
    assert counts == {"judged": 4, "with_relevant": 3, "in_run": 2, "missing": 2}
    assert evaluation.query_ids == ["Q01", "Q02", "Q03", "Q09"]
    assert evaluation.counts["judged_to"][:4] == pytest.approx([1.0, 0.75, 2 / 3, 0.5])


def test_a_score_has_its_interval_and_is_stored_with_judged_at_ten():
    evaluation = score(make_scene(runs={"r": {"Q01": GOOD}}), "r", measures="AP")

    row = evaluation.scores.get(measure="AP")
    assert row.mean == pytest.approx(1 / 12)
    assert row.ci_low <= row.mean <= row.ci_high
    assert [(row.measure, row.n) for row in evaluation.scores.order_by("order")] == [("AP", 12), ("Judged@10", 1)]
    assert [str(Score(measure="RR", mean=mean, n=2)) for mean in (None, 0.5)] == ["RR undefined", "RR 0.5000"]


def test_packed_values_come_back_as_they_were():
    first, second, third = packing.unpack(packing.pack([0.1, float("nan"), 1.0]))

    assert (first, third) == (0.1, 1.0)
    assert second != second


def test_only_the_queries_of_the_split_count(scene):
    dev, test = (score(scene, "better", split=split) for split in (Split.DEV, Split.TEST))

    assert sorted(dev.query_ids + test.query_ids) == [f"Q{n:02}" for n in range(1, 13)]
    assert dev.query_ids
    assert test.query_ids


def test_requesting_again_adds_no_rows_and_no_job(scene):
    first = score(scene, "better", measures="AP RR")
    before = (Score.objects.count(), Job.objects.count(), Event.objects.filter(action="evaluation.requested").count())

    again = ask(scene, "better", measures="RR AP")

    assert again == first
    counts = (Score.objects.count(), Job.objects.count(), Event.objects.filter(action="evaluation.requested").count())
    assert counts == before


def test_the_same_request_gives_the_same_bytes():
    one, two = (score(make_scene(), "better") for _ in range(2))

    columns = [[bytes(row.values) for row in each.scores.order_by("order")] for each in (one, two)]
    intervals = [list(each.scores.values_list("mean", "ci_low", "ci_high")) for each in (one, two)]
    assert columns[0] == columns[1]
    assert intervals[0] == intervals[1]


def test_a_cancelled_request_is_queued_again_when_repeated(scene):
    evaluation = ask(scene, "better")
    cancel_job(job_id=evaluation.job_id, actor=scene.lead, at=AT)

    again = ask(scene, "better")
    run_jobs()

    assert again.pk == evaluation.pk
    assert again.job_id != evaluation.job_id
    assert Evaluation.objects.get(pk=again.pk).is_scored


def test_a_job_that_runs_twice_scores_once(scene):
    evaluation = score(scene, "better")
    Job.objects.filter(pk=evaluation.job_id).update(state=JobState.QUEUED, finished_at=None, attempt=0)

    run_jobs()

    assert evaluation.scores.count() == 6


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"measures": "NDGC@10"}, "'NDGC@10' is not a measure Karat knows; nearest: nDCG@10, TD_nDCG(rate=0.01)@10."),
        ({"split": "train"}, "There is no split called train; choose dev, test, or neither for both."),
    ],
)
def test_a_wrong_request_is_refused_in_words(scene, options, said):
    with pytest.raises(Refusal) as refused:
        ask(scene, "better", **options)

    assert refused.value.sentence == said


def test_a_run_on_another_snapshot_is_refused_alone_and_with_others(scene):
    other = make_snapshot(scene.project, BLOCKS)
    scene.runs["elsewhere"] = add_run(scene, "elsewhere", {"Q01": GOOD}, snapshot=other)
    theirs, ours = f"{other.corpus.slug}@1", f"{scene.snapshot.corpus.slug}@1"
    sentence = (
        f"elsewhere ranked the snapshot {theirs}, v1 grades the snapshot {ours}: "
        f"the grades apply to those texts only. Run the system again on {ours}."
    )

    with pytest.raises(Refusal) as alone:
        ask(scene, "elsewhere")
    with pytest.raises(Refusal) as together:
        request_evaluations(
            project=scene.project, run_ids=[scene.runs[tag].pk for tag in ("base", "elsewhere")],
            version_id=scene.version.pk, split="", measures="AP", actor=scene.lead, at=AT,
        )  # fmt: skip

    assert (alone.value.sentence, together.value.sentence) == (sentence, sentence)
    assert not Evaluation.objects.filter(project=scene.project).exists()


def test_a_draft_and_what_is_of_another_project_is_not_there_to_be_scored(scene):
    draft, other = make_scene(state=VersionState.DRAFT), make_scene()
    asked = [(draft, {}), (scene, {"run_id": other.runs["better"].pk}), (scene, {"version_id": other.version.pk})]

    for here, options in asked:
        with pytest.raises(Http404):
            ask(here, "better", **options)


def test_the_request_is_on_the_record(scene):
    ask(scene, "better", measures="AP", split=Split.DEV)

    event = Event.objects.get(action="evaluation.requested", project=scene.project)
    assert event.actor == scene.lead
    assert event.after == {"run": "better", "version": "v1", "split": "dev", "measures": ["AP"], "seed": 20}


def test_a_side_without_grades_fails_the_job_in_words():
    scene = make_scene(test_share=0.0)

    evaluation = ask(scene, "better", split=Split.TEST)
    run_jobs()

    evaluation.refresh_from_db()
    assert not evaluation.is_scored
    assert evaluation.job.error == "v1 has no grades in this split, so there is nothing to score against."


def test_a_score_is_never_changed_or_deleted(scene):
    evaluation = score(scene, "better")

    for change in (
        lambda: Score.objects.update(mean=1.0),
        lambda: Score.objects.all().delete(),
        lambda: Evaluation.objects.filter(pk=evaluation.pk).update(seed=3),
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()


def decide(scene, pair, **options):
    member = options.pop("member", None) or membership_in(scene.lead, scene.project.slug)
    return decide_drop(
        **{
            "baseline": pair[0],
            "candidate": pair[1],
            "measure": "AP",
            "query_id": pair[1].query_ids[0],
            "decision": "accept",
            "explanation": "A changelog page takes its place.",
            "member": member,
            "at": AT,
            **options,
        }
    )


@rows_of_module
def pair():
    scene = make_scene()
    return scene, (score(scene, "better", measures="AP"), score(scene, "base", measures="AP"))


def test_a_decision_on_a_drop_is_recorded_and_another_replaces_it(pair):
    scene, two = pair
    decided = Event.objects.filter(action="evaluation.drop_decided")

    note = decide(scene, two)
    assert (note.decision, note.decided_by) == ("accept", scene.lead)
    assert decided.get().after["query"] == "Q01"

    decide(scene, two, decision="fix", explanation="Weigh titles less.")
    assert RegressionNote.objects.get().decision == "fix"
    assert decided.latest("pk").before["decision"] == "accept"

    without_words = decide(scene, two, decision="grades_wrong", explanation="")
    assert (without_words.decision, without_words.explanation) == ("grades_wrong", "")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"decision": "ignore"}, "Choose Accept, Fix or Grades wrong."),
        ({"explanation": " "}, "Write why this drop is accepted."),
        ({"decision": "fix", "explanation": ""}, "Write what must be fixed."),
        ({"query_id": "Q99"}, "This comparison has no such query or measure."),
        ({"measure": "RR"}, "This comparison has no such query or measure."),
    ],
)
def test_a_wrong_decision_is_refused(pair, options, said):
    with pytest.raises(Refusal) as refused:
        decide(*pair, **options)

    assert refused.value.sentence == said


def test_only_leads_decide(pair):
    scene, two = pair
    viewer = make_member(scene.project, Role.VIEWER)

    with pytest.raises(Refusal, match="Only leads can decide"):
        decide(scene, two, member=membership_in(viewer, scene.project.slug))


def test_the_smallest_chain_scores_as_worked_by_hand():
    """Five blocks, twenty queries with one relevant block each; cutoffs beyond the corpus."""
    qrels = {f"Q{n:02}": {"a": 1} for n in range(20)}
    order = ["b", "c", "d", "é"]
    results = {}
    for n in range(20):
        ranked = [*order[: n % 5], "a", *order[n % 5 :]]
        results[f"Q{n:02}"] = {block: float(5 - rank) for rank, block in enumerate(ranked)}

    evaluation = score(
        make_scene(qrels=qrels, runs={"r": results}),
        "r",
        measures="P@3 P@5 P@10 Recall@3 Recall@5 Recall@10 RR@3 RR@10",
    )

    means = dict(evaluation.scores.values_list("measure", "mean"))
    assert VersionGrade.objects.filter(version=evaluation.version).count() == 20
    assert means == pytest.approx(
        {
            "P@3": 0.2, "P@5": 0.2, "P@10": 0.1, "Recall@3": 0.6, "Recall@5": 1.0, "Recall@10": 1.0,
            "RR@3": (1 + 1 / 2 + 1 / 3) / 5, "RR@10": (1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5) / 5, "Judged@10": 0.2,
        }
    )  # fmt: skip
