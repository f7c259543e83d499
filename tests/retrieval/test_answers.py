"""A run among several workers, and runs that fuse others."""

import numpy as np
import pytest
from django.utils import timezone

from apps.jobs.actions.jobs import cancel_job, retry_job
from apps.jobs.execution.performing import perform
from apps.jobs.models import Job, JobChunk
from apps.retrieval import rules
from apps.retrieval.actions.runs import request_run
from apps.retrieval.actions.systems import create_fusion
from apps.retrieval.core.ranking import unpack
from apps.retrieval.enums import HELP
from apps.retrieval.execution import ranking
from apps.retrieval.execution.indexes import open_system
from apps.retrieval.execution.ranking import van_der_corput
from apps.retrieval.models import Ranking, Run
from apps.retrieval.selectors.pools import pool_runs
from apps.retrieval.selectors.question_sets import query_texts
from apps.retrieval.selectors.runs import components_of
from tests.factories import AT, lead_of
from tests.retrieval.factories import (
    import_lines,
    make_pool,
    make_queries,
    make_run,
    make_snapshot,
    make_system,
    trec,
)
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db

COLOURS = ["red", "green", "blue"]
THINGS = ["door", "key", "wall", "window"]


@pytest.fixture
def snapshot(project):
    make_queries(project, {f"Q{n:02}": f"{COLOURS[n % 3]} {THINGS[n % 4]}" for n in range(12)})
    return make_snapshot(project)


@pytest.fixture
def small_slices(monkeypatch):
    monkeypatch.setattr(ranking, "QUERIES_AT_ONCE", 2)


def queue_run(project, snapshot, system=None, **options):
    system = system or make_system(project)
    lead = lead_of(project)
    return request_run(project=project, system_id=system.pk, snapshot_id=snapshot.pk, actor=lead, at=AT, **options)


def work_on(job):
    return perform(job.pk, worker="test", clock=timezone.now, with_heartbeat=False)


def the_helper():
    return Job.objects.get(kind=HELP)


def handing_over(monkeypatch, meanwhile):
    """Do something else once, just before the first answer."""
    original, todo = ranking.answer_slice, [meanwhile]

    def answer_slice(ctx, run, query_ids, answer):
        if todo:
            todo.pop()()
        original(ctx, run, query_ids, answer)

    monkeypatch.setattr(ranking, "answer_slice", answer_slice)


def test_a_small_run_calls_nobody(project, snapshot):
    make_run(project, snapshot)

    assert not Job.objects.filter(kind=HELP).exists()


def test_a_helper_and_the_job_itself_answer_every_query_once(project, snapshot, small_slices, monkeypatch):
    alone = make_run(project, snapshot)
    run = queue_run(project, snapshot, alone.system, tag="shared")
    handing_over(monkeypatch, lambda: work_on(Job.objects.filter(kind=HELP).latest("pk")))

    work_on(run.job)
    run.refresh_from_db()

    assert (run.state, run.digest) == ("complete", alone.digest)
    assert Ranking.objects.filter(run=run).count() == 12
    assert JobChunk.objects.filter(job__kind=HELP, key__regex=rf"^run:{run.pk}:\d+$").count() == 6


def test_a_slice_that_two_answer_at_once_is_written_once(project, snapshot, small_slices, monkeypatch):
    run = queue_run(project, snapshot)
    original = ranking.answer_slice

    def slowly(ctx, run, query_ids, answer):
        """Answer; and before that is written, somebody else has answered and written the same."""

        def late(ids):
            found = answer(ids)
            if not Ranking.objects.filter(run=run, query__in=ids).exists():
                ranking.write_rankings(run, ids, answer(ids))
            return found

        original(ctx, run, query_ids, late)

    monkeypatch.setattr(ranking, "answer_slice", slowly)

    work_on(run.job)
    run.refresh_from_db()

    assert (run.state, run.query_count) == ("complete", 12)


def test_each_helper_calls_the_next_and_a_late_one_finds_nothing_to_do(project, snapshot, small_slices, monkeypatch):
    run = queue_run(project, snapshot)
    handing_over(monkeypatch, lambda: work_on(the_helper()))

    work_on(run.job)
    first, second = Job.objects.filter(kind=HELP).order_by("pk")
    late = work_on(second)

    assert [first.params["number"], second.params["number"]] == [1, 2]
    assert (late.state, late.chunks.count()) == ("done", 0)


def test_a_cancelled_run_takes_no_answer_of_a_helper(project, snapshot, small_slices, monkeypatch):
    run = queue_run(project, snapshot)
    handing_over(monkeypatch, lambda: cancel_job(job_id=run.job_id, actor=lead_of(project), at=AT))
    assert work_on(run.job).state == "cancelled"
    before = Ranking.objects.filter(run=run).count()

    assert work_on(the_helper()).state == "done"

    run.refresh_from_db()
    assert (run.state, Ranking.objects.filter(run=run).count()) == ("failed", before)


def test_a_run_that_ends_under_a_helper_stops_it_at_its_next_slice(project, snapshot, small_slices, monkeypatch):
    run = queue_run(project, snapshot)
    lead = lead_of(project)
    handing_over(monkeypatch, lambda: cancel_job(job_id=run.job_id, actor=lead, at=AT))
    work_on(run.job)
    retry_job(job_id=run.job_id, actor=lead, at=AT)
    handing_over(monkeypatch, lambda: cancel_job(job_id=run.job_id, actor=lead, at=AT))
    before = Ranking.objects.filter(run=run).count()

    helper = work_on(the_helper())

    assert (helper.state, helper.error) == ("done", "")
    assert Ranking.objects.filter(run=run).count() == before


def test_a_resumed_run_answers_what_is_missing(project, snapshot, small_slices, monkeypatch):
    run = queue_run(project, snapshot)
    handing_over(monkeypatch, lambda: cancel_job(job_id=run.job_id, actor=lead_of(project), at=AT))
    work_on(run.job)

    retry_job(job_id=run.job_id, actor=lead_of(project), at=AT)
    run_jobs()

    run.refresh_from_db()
    assert (run.state, run.query_count) == ("complete", 12)


def test_slices_of_another_size_leave_no_gap(project, snapshot, monkeypatch):
    run = queue_run(project, snapshot)
    ids = run.job.params["query_ids"]
    found = ranking.engine_of(run.system).search(open_system(run.system, run.snapshot), query_texts(ids), run.depth)
    ranking.write_rankings(run, ids, found, ranked=ids[4:6])
    monkeypatch.setattr(ranking, "QUERIES_AT_ONCE", 12)

    work_on(run.job)

    run.refresh_from_db()
    assert (run.state, run.query_count) == ("complete", 12)


def fused_system(project, *systems, k=60.0):
    ids = [system.pk for system in systems]
    return create_fusion(project=project, name="Fused", system_ids=ids, k=k, actor=lead_of(project), at=AT)


def tops(run, query):
    return unpack(bytes(Ranking.objects.get(run=run, query__outside_id=query).packed))


def test_a_fused_run_makes_the_runs_it_draws_on_first(project, snapshot):
    both = make_system(project), make_system(project, "TF-IDF", "tfidf")
    run = make_run(project, snapshot, fused_system(project, *both))

    parts = components_of(run)
    assert run.state == "complete"
    assert {part.system for part in parts} == set(both)
    assert {part.state for part in parts} == {"complete"}
    assert {part.job_id for part in parts} == {run.job_id}


def test_a_fused_ranking_adds_up_reciprocal_ranks(project, snapshot):
    both = make_system(project), make_system(project, "Whole words", stop_words="none", stemmer="none", k1=2.0, b=1.0)
    run = make_run(project, snapshot, fused_system(project, *both, k=5.0))

    worth = np.zeros(4)
    for part in components_of(run):
        positions, _ = tops(part, "Q00")
        worth[positions] += 1 / (5 + np.arange(1, len(positions) + 1))
    positions, scores = tops(run, "Q00")
    assert scores.tolist() == worth[positions].tolist()
    assert scores.tolist() == sorted(worth[worth > 0].tolist(), reverse=True)


def test_a_suitable_run_is_reused(project, snapshot):
    first, second = make_system(project), make_system(project, "TF-IDF", "tfidf")
    served = make_run(project, snapshot, first)

    run = make_run(project, snapshot, fused_system(project, first, second))

    assert served in components_of(run)
    assert Run.objects.count() == 3


def test_a_fused_run_of_an_upload_has_no_latency_of_its_own(project, snapshot):
    rows = [(f"Q{n:02}", "a", 1.0) for n in range(12)]
    uploaded = import_lines(project, snapshot, trec(rows)).run
    depth = uploaded.depth

    run = make_run(project, snapshot, fused_system(project, uploaded.system, make_system(project)), depth=depth)

    assert (run.state, run.latency) == ("complete", {})


def test_an_uploaded_system_without_a_run_that_serves_cannot_be_fused(project, snapshot):
    uploaded = import_lines(project, snapshot, trec([("Q00", "a", 1.0)])).run
    fused = fused_system(project, uploaded.system, make_system(project))

    with pytest.raises(rules.RunRefused, match="runs outside Karat"):
        make_run(project, snapshot, fused)

    assert not Run.objects.filter(system=fused).exists()


def test_a_pool_draws_on_a_fusion_that_has_not_run(project, snapshot):
    fused = fused_system(project, make_system(project), make_system(project, "TF-IDF", "tfidf"))

    pool = make_pool(project, snapshot, system_ids=[fused.pk])

    assert pool.state == "complete"
    assert [run.system for run in pool_runs(pool)] == [fused]
    assert set(Run.objects.values_list("state", flat=True)) == {"complete"}


def test_a_fusion_of_fusions_makes_the_innermost_first(project, snapshot):
    first, second, third = (make_system(project, f"B {k1}", k1=k1) for k1 in (1.0, 2.0, 3.0))
    inner = fused_system(project, first, second)
    ids = [inner.pk, third.pk]
    outer = create_fusion(project=project, name="Outer", system_ids=ids, actor=lead_of(project), at=AT)

    run = make_run(project, snapshot, outer)

    assert run.state == "complete"
    assert Run.objects.filter(state="complete").count() == 5


def test_the_order_of_the_systems_does_not_make_another_fusion(project):
    first, second = make_system(project), make_system(project, "TF-IDF", "tfidf")
    fused_system(project, first, second)

    with pytest.raises(rules.SystemRefused, match="already has exactly this configuration"):
        create_fusion(project=project, name="Again", system_ids=[second.pk, first.pk], actor=lead_of(project), at=AT)


def test_one_system_is_not_a_fusion(project):
    with pytest.raises(rules.SystemRefused, match="at least two different systems"):
        fused_system(project, make_system(project))


def test_starts_halve_the_widest_stretch():
    assert [van_der_corput(number) for number in range(8)] == [0, 1 / 2, 1 / 4, 3 / 4, 1 / 8, 5 / 8, 3 / 8, 7 / 8]
