"""A version on a newer snapshot: Karat's own systems are run on it and scored, and the others are named."""

import pytest
from django.test import override_settings

from apps.common.web.addresses import parse_openings
from apps.evaluation.actions.scoring import RunAgainRefused, run_again
from apps.evaluation.enums import RUN_AGAIN
from apps.evaluation.models import Evaluation
from apps.evaluation.selectors.run_again import run_again_of
from apps.goldsets.actions.versions import draft_version, freeze_version, release_version
from apps.goldsets.enums import VersionState
from apps.goldsets.selectors.questions import questions_of
from apps.jobs.actions.jobs import retry_job
from apps.jobs.models import Job
from apps.retrieval.actions.runs import request_run
from apps.retrieval.actions.systems import create_fusion, create_remote_system
from apps.retrieval.execution.indexes import open_built
from apps.retrieval.models import Ranking, Run
from apps.retrieval.selectors.question_sets import QueryChoice
from apps.retrieval.selectors.runs import components_of
from tests.evaluation.hits import places, run_that, score
from tests.factories import AT, lead_of
from tests.remote_server import running
from tests.retrieval.factories import import_lines, make_system, trec
from tests.running_jobs import run_jobs
from tests.triples.factories import TEXTS, make_snapshot

pytestmark = pytest.mark.django_db

NEWER = TEXTS | {"visitors": "A visitor signs in at the desk and is accompanied at all times."}
DEPTH = 7


def request_on(version, system, *, depth=DEPTH):
    """A run of the system on the questions of the version, on its snapshot, that waits for its job."""
    project = version.gold_set.project
    return request_run(
        project=project,
        system_id=system.pk,
        snapshot_id=version.snapshot_id,
        choice=QueryChoice(questions=f"{version.gold_set.slug}/{version.label}"),
        depth=depth,
        actor=lead_of(project),
        at=AT,
    )


def run_on(version, system, *, depth=DEPTH):
    run = request_on(version, system, depth=depth)
    run_jobs()
    return Run.objects.select_related("system", "snapshot").get(pk=run.pk)


def scored_system(version, name="BM25", kind="bm25", **parameters):
    """A system of ours whose run is scored on the version by grades, on dev, and by hits."""
    system = make_system(version.gold_set.project, name, kind, **parameters)
    run = run_on(version, system)
    score(version, run, hit="", split="dev", measures="nDCG@10 RR")
    score(version, run, hit="block", measures="RR")
    return system


def drafted_after(version, snapshot):
    return draft_version(
        gold_set_id=version.gold_set_id,
        snapshot=snapshot,
        rounds=list(version.rounds.all()),
        test_share=0.0,
        actor=lead_of(version.gold_set.project),
        at=AT,
    )


def release(draft):
    lead = lead_of(draft.gold_set.project)
    freeze_version(version_id=draft.pk, actor=lead, at=AT)
    return release_version(version_id=draft.pk, actor=lead, at=AT)


def newer_snapshot(version, texts=NEWER):
    return make_snapshot(version.gold_set.project, texts, corpus=version.snapshot.corpus)


def release_on_newer(version, texts=NEWER):
    return release(drafted_after(version, newer_snapshot(version, texts)))


def again_jobs():
    return list(Job.objects.filter(kind=RUN_AGAIN).order_by("pk"))


def names(former):
    return [one.system.name for one in former]


def test_own_systems_run_on_the_questions_of_a_version_on_a_newer_snapshot(version):
    system = scored_system(version)
    later = release_on_newer(version)

    run_jobs()

    (job,) = again_jobs()
    assert (job.state, job.result) == ("done", {"version_id": later.pk, "runs": 1, "scores": 2})
    run = Run.objects.get(system=system, snapshot=later.snapshot)
    assert (run.state, run.depth, run.tag, run.job) == ("complete", DEPTH, "bm25@2", job)
    asked = {question.query_id for question in questions_of(later)}
    assert set(Ranking.objects.filter(run=run).values_list("query_id", flat=True)) == asked


def test_new_runs_are_scored_by_the_truths_and_on_the_splits_of_earlier_versions(version):
    scored_system(version)
    later = release_on_newer(version)
    run_jobs()

    rows = Evaluation.objects.filter(version=later, scored_at__isnull=False).order_by("split")
    assert list(rows.values_list("split", "hit", "measures")) == [
        ("", "block", ["RR"]),
        ("dev", "", ["nDCG@10", "RR"]),
    ]


def test_the_indexes_of_the_newer_snapshot_are_built_first(version, settings, tmp_path):
    settings.DATA_DIR = tmp_path  # another test may have indexed the same texts
    system = scored_system(version)
    later = release_on_newer(version)
    assert open_built(system, later.snapshot) is None

    run_jobs()

    assert open_built(system, later.snapshot) is not None


def test_nothing_is_run_again_for_a_release_on_the_same_snapshot(version):
    scored_system(version)
    later = release(drafted_after(version, version.snapshot))
    run_jobs()

    assert again_jobs() == []
    assert Run.objects.count() == 1
    assert run_again_of(later).former == {}


def test_a_run_that_answers_all_questions_of_the_version_is_not_made_again(version):
    system = scored_system(version)
    draft = drafted_after(version, newer_snapshot(version))
    frozen = freeze_version(version_id=draft.pk, actor=draft.created_by, at=AT)
    mine = run_on(frozen, system)

    later = release_version(version_id=frozen.pk, actor=draft.created_by, at=AT)
    run_jobs()

    assert again_jobs() == []
    assert Evaluation.objects.filter(version=later, run=mine, scored_at__isnull=False).count() == 2


def test_a_run_that_is_about_to_answer_them_is_not_made_again_either(version):
    system = scored_system(version)
    draft = drafted_after(version, newer_snapshot(version))
    frozen = freeze_version(version_id=draft.pk, actor=draft.created_by, at=AT)
    request_on(frozen, system)

    release_version(version_id=frozen.pk, actor=draft.created_by, at=AT)

    assert again_jobs() == []


def test_a_run_on_some_of_the_questions_or_less_deep_does_not_do(version):
    system = scored_system(version)
    draft = drafted_after(version, newer_snapshot(version))
    frozen = freeze_version(version_id=draft.pk, actor=draft.created_by, at=AT)
    run_on(frozen, system, depth=DEPTH - 1)
    some = request_run(
        project=version.gold_set.project,
        system_id=system.pk,
        snapshot_id=frozen.snapshot_id,
        actor=draft.created_by,
        at=AT,
    )
    run_jobs()
    some.refresh_from_db()
    assert 0 < some.query_count < len(questions_of(frozen))

    release_version(version_id=frozen.pk, actor=draft.created_by, at=AT)
    run_jobs()

    assert Run.objects.filter(system=system, snapshot=frozen.snapshot, job__kind=RUN_AGAIN).get().state == "complete"


def test_a_fusion_takes_the_new_runs_of_the_systems_that_it_fuses(version):
    project = version.gold_set.project
    first, second = scored_system(version), make_system(project, "TF-IDF", "tfidf")
    fusion = create_fusion(
        project=project, name="Both", system_ids=[first.pk, second.pk], actor=lead_of(project), at=AT
    )
    score(version, run_on(version, fusion), measures="RR")
    later = release_on_newer(version)
    run_jobs()

    (job,) = again_jobs()
    new = {run.system.name: run for run in Run.objects.filter(snapshot=later.snapshot).select_related("system")}
    assert job.state == "done", job.error
    assert sorted(new) == ["BM25", "Both", "TF-IDF"]
    assert Run.objects.filter(snapshot=later.snapshot).count() == 3
    assert components_of(new["Both"]) == [new["BM25"], new["TF-IDF"]]
    assert {run.system.name for run in run_again_of(later).runs} == {"BM25", "Both"}


def test_uploaded_runs_are_named_until_new_ones_are_there(version):
    score(version, run_that(version, "theirs", places(version, 1, 2, 0)), measures="RR")
    later = release_on_newer(version)
    run_jobs()

    assert again_jobs() == []
    again = run_again_of(later)
    assert (names(again.uploaded), again.can_be_run) == (["theirs"], [])
    with pytest.raises(RunAgainRefused, match="needs no new run"):
        by_hand(later, again.uploaded)

    upload_again(later, "theirs")
    assert run_again_of(later).uploaded == []


def by_hand(version, former):
    project = version.gold_set.project
    ids = [one.system.pk for one in former]
    return run_again(project=project, version_id=version.pk, system_ids=ids, actor=lead_of(project), at=AT)


def upload_again(version, system):
    question = questions_of(version)[0].outside_id
    import_lines(version.gold_set.project, version.snapshot, trec([(question, "access", 1.0)], "new"), system=system)


@pytest.fixture
def remote(version):
    """A system elsewhere whose run is scored on the version."""
    project = version.gold_set.project
    with running() as port, override_settings(OUTBOUND_ALLOW=parse_openings([f"127.0.0.1:{port}"])):
        system = create_remote_system(
            project=project,
            name="Search",
            kind="http",
            parameters={"url": f"http://127.0.0.1:{port}/search", "body": '{"q": {{query}}}', "ids": "hits[*].doc.id"},
            actor=lead_of(project),
            at=AT,
        )
        score(version, run_on(version, system), measures="RR")
        yield system


def test_a_system_elsewhere_is_asked_only_when_a_lead_says_so(version, remote):
    later = release_on_newer(version)
    run_jobs()
    assert again_jobs() == []
    again = run_again_of(later)
    assert names(again.elsewhere) == ["Search"]

    (run,) = by_hand(later, again.elsewhere)
    run_jobs()

    run.refresh_from_db()
    assert (run.system, run.state) == (remote, "complete")
    assert run_again_of(later).elsewhere == []
    with pytest.raises(RunAgainRefused, match="requested before"):
        by_hand(later, again.elsewhere)
    assert Run.objects.filter(system=remote, snapshot=later.snapshot).count() == 1


def test_a_fusion_of_a_system_elsewhere_waits_for_a_lead_too(version, remote):
    project = version.gold_set.project
    ours = make_system(project)
    fusion = create_fusion(project=project, name="Both", system_ids=[ours.pk, remote.pk], actor=lead_of(project), at=AT)
    score(version, run_on(version, fusion), measures="RR")
    draft = drafted_after(version, newer_snapshot(version))
    frozen = freeze_version(version_id=draft.pk, actor=draft.created_by, at=AT)

    again = run_again_of(frozen)
    request_on(frozen, remote)  # a fusion cannot take a run that is not complete
    pending = run_again_of(frozen)

    assert [(one.system.name, one.cause.name) for one in again.elsewhere] == [("Both", "Search"), ("Search", "Search")]
    assert names(pending.elsewhere) == ["Both"]
    assert again.own == pending.own == []


def test_a_lead_runs_systems_again_that_the_release_had_no_chance_to(version):
    later = release_on_newer(version)
    system = scored_system(version)  # scored on the older version afterwards

    again = run_again_of(later)
    assert names(again.own) == ["BM25"]
    by_hand(later, again.own)
    run_jobs()

    assert Run.objects.get(system=system, snapshot=later.snapshot).state == "complete"
    assert Evaluation.objects.filter(version=later, scored_at__isnull=False).count() == 2


def test_systems_are_run_again_for_a_released_version_alone(version):
    scored_system(version)
    later = release_on_newer(version)
    run_jobs()
    version.refresh_from_db()
    assert version.state == VersionState.SUPERSEDED

    with pytest.raises(RunAgainRefused, match="v1 is superseded"):
        by_hand(version, run_again_of(later).former.values())


def test_a_version_on_an_older_snapshot_runs_nothing_again(version):
    newer = newer_snapshot(version)
    second = release(drafted_after(version, newer))
    scored_system(second)

    third = release(drafted_after(second, version.snapshot))

    assert again_jobs() == []
    assert run_again_of(third).former == {}


def test_one_that_cannot_be_made_keeps_no_other_from_its_run_and_its_scores(version, monkeypatch):
    scored_system(version)
    broken = scored_system(version, "TF-IDF", "tfidf")
    later = release_on_newer(version)
    with monkeypatch.context() as patched:
        patched.setattr("apps.evaluation.execution.scoring.open_system", refuses(broken))
        run_jobs()

    (job,) = again_jobs()
    assert (job.state, job.error) == ("failed", "tf-idf@2: There is no room for its index.")
    assert dict(Run.objects.filter(snapshot=later.snapshot).values_list("tag", "state")) == {
        "bm25@2": "complete",
        "tf-idf@2": "failed",
    }
    assert Evaluation.objects.filter(version=later, scored_at__isnull=False).count() == 2

    retry_job(job_id=job.pk, actor=lead_of(version.gold_set.project), at=AT)
    run_jobs()

    assert Run.objects.filter(snapshot=later.snapshot, state="complete").count() == 2
    assert Evaluation.objects.filter(version=later, scored_at__isnull=False).count() == 4


def refuses(system):
    from apps.jobs.execution.context import JobFailed
    from apps.retrieval.execution.indexes import open_system

    def open_others(one, snapshot):
        if one.pk == system.pk:
            raise JobFailed("There is no room for its index.")
        return open_system(one, snapshot)

    return open_others
