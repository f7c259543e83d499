import pytest
from django.db import IntegrityError, connection, transaction
from django.http import Http404

from apps.audit.models import Event
from apps.common.errors import InputErrors
from apps.jobs.actions.jobs import cancel_job, retry_job
from apps.jobs.models import Job, JobChunk
from apps.retrieval.actions.pools import PoolRefused, grow_pool, request_pool
from apps.retrieval.actions.runs import annotate_run, request_run
from apps.retrieval.actions.systems import create_system
from apps.retrieval.core import ranking
from apps.retrieval.execution.indexes import engine_of
from apps.retrieval.models import Pool, PoolEntry, Ranking, Run, System
from apps.retrieval.rules import RunRefused, SystemRefused, TooLong
from apps.retrieval.selectors.pools import pool_runs
from apps.retrieval.selectors.question_sets import QueryChoice, queries_in
from apps.retrieval.selectors.snapshots import position_of_blocks
from tests.factories import AT, lead_of, make_project
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

THEIRS = [("Q01", "a", 9.0), ("Q01", "d", 8.0), ("Q02", "c", 3.5)]


def entries(pool):
    ids = {query.pk: query.outside_id for query in queries_in(pool.project)}
    return {
        (ids[entry.query_id], entry.version.block.outside_id): entry.found_by
        for entry in PoolEntry.objects.filter(pool=pool).select_related("version__block")
    }


def rankings_of(run):
    ids = [block for block, _ in sorted(position_of_blocks(run.snapshot).items(), key=lambda x: x[1])]
    found = {}
    for row in run.rankings.select_related("query"):
        positions, scores = ranking.unpack(bytes(row.packed))
        found[row.query.outside_id] = list(zip([ids[p] for p in positions], scores.tolist(), strict=True))
    return found


# Systems


def test_create_system_stores_every_parameter_and_names_it_by_digest(project):
    system = make_system(project, k1=1.2)

    assert system.config["engine"]["k1"] == 1.2
    assert system.config["engine"]["b"] == 0.4
    assert len(system.digest) == 64
    assert Event.objects.filter(action="system.created", project=project).count() == 1


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"kind": "bm25", "parameters": {"k1": 99}}, "bad_parameters"),
        ({"kind": "uploaded"}, "bad_parameters"),
        ({"kind": "bm25", "name": "  "}, "name_missing"),
        ({"kind": "tfidf", "name": "BM25"}, "name_taken"),
        ({"kind": "bm25", "name": "Twin"}, "system_exists"),
    ],
)
def test_create_system_refuses(project, values, code):
    make_system(project)

    with pytest.raises(SystemRefused) as refused:
        create_system(project=project, actor=lead_of(project), at=AT, **{"name": "New", **values})

    assert refused.value.code == code
    assert System.objects.count() == 1


# Runs


def test_a_run_answers_every_query_and_completes(project, snapshot):
    run = make_run(project, snapshot)

    assert run.state == "complete"
    assert run.tag == "bm25@1"
    assert run.query_count == 3
    assert {query: [block for block, _ in found] for query, found in rankings_of(run).items()} == {
        "Q01": ["a", "d"],
        "Q02": ["c", "d", "b"],
        "Q03": [],
    }
    assert set(run.latency) == {"p50", "p95", "p99", "mean", "n"}
    assert run.latency["n"] == run.query_count
    assert queries_in(project).filter(locked_at=AT).count() == 3
    job = Job.objects.get(pk=run.job_id)
    assert (job.result, job.done, job.total) == ({"run_id": run.pk}, 3, 3)


def test_a_second_run_of_a_system_has_the_same_digest_and_new_words_in_the_ledger(project, snapshot):
    system = make_system(project)
    first, second = make_run(project, snapshot, system), make_run(project, snapshot, system)

    annotate_run(run=second, note="Longer blocks", commit="a1b2c3", actor=lead_of(project), at=AT)

    second.refresh_from_db()
    assert first.digest == second.digest
    assert (first.tag, second.tag) == ("bm25@1", "bm25@1.2")
    assert (second.note, second.commit, second.state) == ("Longer blocks", "a1b2c3", "complete")


def test_a_run_covers_only_the_chosen_queries(project, snapshot):
    make_queries(project, {"Q04": "red door", "Q05": "wall"}, domain="doors")

    run = make_run(project, snapshot, choice=QueryChoice(domain="doors"))

    assert set(rankings_of(run)) == {"Q04", "Q05"}


def test_request_run_refuses_uploaded_systems_and_empty_choices(project, snapshot):
    uploaded = import_lines(project, snapshot, trec(THEIRS)).run.system
    options = {"project": project, "snapshot_id": snapshot.pk, "actor": lead_of(project), "at": AT}

    with pytest.raises(RunRefused, match="Upload its next run"):
        request_run(system_id=uploaded.pk, **options)
    with pytest.raises(RunRefused, match="No query was chosen"):
        request_run(system_id=make_system(project).pk, choice=QueryChoice(domain="none such"), **options)
    with pytest.raises(RunRefused, match="whole number from 1"):
        request_run(system_id=System.objects.get(kind="bm25").pk, depth=0, **options)


def test_objects_of_another_project_are_not_found(project, snapshot):
    other = make_project()
    system = make_system(other)

    with pytest.raises(Http404):
        request_run(project=project, system_id=system.pk, snapshot_id=snapshot.pk, actor=lead_of(project), at=AT)
    with pytest.raises(Http404):
        request_run(project=other, system_id=system.pk, snapshot_id=snapshot.pk, actor=lead_of(other), at=AT)


def test_a_cancelled_run_has_failed_and_resumes_with_its_job(project, snapshot):
    lead = lead_of(project)
    run = request_run(project=project, system_id=make_system(project).pk, snapshot_id=snapshot.pk, actor=lead, at=AT)

    cancel_job(job_id=run.job_id, actor=lead, at=AT)
    run.refresh_from_db()
    assert (run.state, run.failure) == ("failed", "It was cancelled.")

    retry_job(job_id=run.job_id, actor=lead, at=AT)
    run_jobs()
    run.refresh_from_db()
    assert (run.state, run.failure) == ("complete", "")


def test_a_run_whose_job_gives_up_has_failed_with_the_reason(project, snapshot, monkeypatch):
    def broken(*args):
        raise RuntimeError("no such index")

    monkeypatch.setattr("apps.retrieval.execution.ranking.using_system", broken)

    run = make_run(project, snapshot)

    assert run.state == "failed"
    assert run.failure == "RuntimeError: no such index"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE retrieval_run SET digest = 'x'",
        "UPDATE retrieval_run SET state = 'pending'",
        "UPDATE retrieval_run SET depth = 3",
        "DELETE FROM retrieval_run",
        "UPDATE retrieval_ranking SET length = 0",
        "DELETE FROM retrieval_ranking",
        "INSERT INTO retrieval_ranking (run_id, query_id, packed, length)"
        " SELECT run_id, query_id + 1000, packed, length FROM retrieval_ranking",
        "UPDATE retrieval_poolentry SET version_id = version_id + 1",
        "DELETE FROM retrieval_poolentry",
    ],
)
def test_the_database_refuses_to_change_a_complete_run_or_a_pooled_pair(project, snapshot, statement):
    make_pool(project, snapshot)

    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


# Imported runs


def test_import_run_stores_rankings_by_score_with_ties_by_id_descending(project, snapshot):
    rows = [("Q01", "a", 1.0), ("Q01", "b", 2.0), ("Q01", "c", 1.0)]

    imported = import_lines(project, snapshot, trec(rows))

    assert imported.is_new
    assert rankings_of(imported.run) == {"Q01": [("b", 2.0), ("c", 1.0), ("a", 1.0)]}
    assert imported.run.state == "complete"
    assert imported.run.latency == {}
    assert (imported.run.tag, imported.run.system.name, imported.run.depth) == ("theirs", "theirs", 3)
    assert queries_in(project).get(outside_id="Q01").locked_at == AT


def test_importing_the_same_run_twice_changes_nothing(project, snapshot):
    first = import_lines(project, snapshot, trec(THEIRS))
    before = (Run.objects.count(), Ranking.objects.count(), Event.objects.count())

    again = import_lines(project, snapshot, list(reversed(trec(THEIRS))))

    assert (again.run, again.is_new) == (first.run, False)
    assert (Run.objects.count(), Ranking.objects.count(), Event.objects.count()) == before


def test_unknown_ids_stop_the_import_and_are_each_named_or_are_skipped_on_request(project, snapshot):
    rows = [*THEIRS, ("Q01", "ghost", 1.0), ("Q77", "a", 1.0), ("Q77", "ghost", 0.5), ("Q03", "ghost", 1.0)]

    with pytest.raises(InputErrors) as wrong:
        import_lines(project, snapshot, trec(rows))

    assert [str(error) for error in wrong.value.errors] == [
        "run.txt, line 4, block: 'ghost' is not a passage of this snapshot.",
        "run.txt, line 5, query: 'Q77' is not a query of this project.",
    ]
    assert not Run.objects.exists()
    imported = import_lines(project, snapshot, trec(rows), skip_unknown=True)
    found = {query: len(blocks) for query, blocks in rankings_of(imported.run).items()}
    assert found == {"Q01": 2, "Q02": 1, "Q03": 0}


@pytest.mark.parametrize(
    ("lines", "options", "code"),
    [
        (trec(THEIRS[:1]), {}, "tag_taken"),
        (trec([("Q77", "a", 1.0)], tag="new"), {"skip_unknown": True}, "run_empty"),
        (trec(THEIRS, tag="new"), {"system": "BM25"}, "system_not_uploaded"),
        (trec(THEIRS, tag="t" * 111), {}, "too_long"),
    ],
)
def test_an_import_that_is_refused_leaves_nothing(project, snapshot, lines, options, code):
    make_system(project)
    import_lines(project, snapshot, trec(THEIRS))
    before = Run.objects.count(), System.objects.count()

    with pytest.raises((RunRefused, TooLong)) as refused:
        import_lines(project, snapshot, lines, **options)

    assert refused.value.code == code
    assert (Run.objects.count(), System.objects.count()) == before


def test_a_faulty_file_is_rejected_even_when_unknown_ids_are_skipped(project, snapshot):
    with pytest.raises(InputErrors) as wrong:
        import_lines(project, snapshot, ["Q01 Q0 a 1 nan theirs"], skip_unknown=True)

    assert wrong.value.errors[0].field == "score"


def test_a_system_of_whole_words_keeps_them(project):
    """A system that was made before a default changed: its settings are on record, so nothing of it changes."""
    before, now = make_system(project, "before", tokenizer="words"), make_system(project, "now")

    assert before.config["engine"] | {"tokenizer": "words_or_bigrams"} == now.config["engine"]
    assert engine_of(before).analysis.tokens("根密钥") == ["根密钥"]
    assert engine_of(now).analysis.tokens("根密钥") == ["根密", "密钥"]
    assert before.digest != now.digest


# Pools


def test_a_pool_makes_the_runs_it_lacks_and_unites_all(project, snapshot):
    theirs = import_lines(project, snapshot, trec([("Q01", "d", 2.0), ("Q01", "b", 1.0)])).run

    pool = make_pool(project, snapshot, system_ids=[make_system(project).pk], run_ids=[theirs.pk])

    ours = Run.objects.get(system__name="BM25")
    assert ours.state == pool.state == "complete"
    assert entries(pool) == {
        ("Q01", "a"): [[ours.pk, 1]],
        ("Q01", "b"): [[theirs.pk, 2]],
        ("Q01", "d"): [[theirs.pk, 1], [ours.pk, 2]],
        ("Q02", "c"): [[ours.pk, 1]],
        ("Q02", "d"): [[ours.pk, 2]],
    }
    assert pool.entry_count == 5
    assert pool.summary == {
        "pairs": 5,
        "queries": 3,
        "without": 1,
        "smallest": 0,
        "median": 2.0,
        "largest": 3,
        "sizes": [1, 0, 1, 1],
        "runs": [theirs.pk, ours.pk],
        "shared": [[2, 1], [1, 4]],
        "alone": [1, 3],
        "found_by": [0, 4, 1],
    }


def test_a_complete_run_is_used_again_unless_it_lacks_a_query_or_is_too_shallow(project, snapshot):
    system = make_system(project)
    whole = make_run(project, snapshot, system)
    assert pool_runs(make_pool(project, snapshot, name="Before")) == [whole]
    shallow = make_run(project, snapshot, system, depth=1)
    make_queries(project, {"Q04": "red door"})
    partial = make_run(project, snapshot, system, choice=QueryChoice(domain=""), depth=1)

    pool = make_pool(project, snapshot, system_ids=[system.pk])

    assert not {shallow, partial} & set(pool_runs(pool))
    assert len(entries(pool)) == 6


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"name": " "}, "A pool needs a name."),
        ({"name": "First pool"}, "There is already a pool called First pool. Choose another name."),
        ({"depth": 0}, "The depth must be a whole number from 1 to 10,000, not 0."),
        ({"choice": QueryChoice(domain="none")}, "No query was chosen, so there is nothing to judge."),
        ({"system_ids": []}, "Choose at least one system or run."),
    ],
)
def test_request_pool_refuses(project, snapshot, values, sentence):
    make_pool(project, snapshot)
    given = {"name": "New", "depth": 2, "system_ids": [System.objects.get().pk], **values}

    with pytest.raises(PoolRefused) as refused:
        request_pool(project=project, snapshot_id=snapshot.pk, actor=lead_of(project), at=AT, **given)

    assert str(refused.value) == sentence
    assert Pool.objects.count() == 1


def test_a_pool_takes_no_run_on_another_snapshot(project, snapshot):
    elsewhere = make_run(project, make_snapshot(project, {"a": "red"}))

    with pytest.raises(PoolRefused, match="its results refer to other texts"):
        make_pool(project, snapshot, run_ids=[elsewhere.pk])


def test_a_grown_pool_keeps_its_pairs_and_gains_others(project, snapshot):
    pool = make_pool(project, snapshot, depth=1)
    before = dict(PoolEntry.objects.filter(pool=pool).values_list("pk", "version_id"))
    theirs = import_lines(project, snapshot, trec([("Q01", "a", 2.0), ("Q01", "b", 1.0)])).run

    grow_pool(project=project, pool_id=pool.pk, run_ids=[theirs.pk], depth=2, actor=lead_of(project), at=AT)
    run_jobs()

    pool.refresh_from_db()
    after = dict(PoolEntry.objects.filter(pool=pool).values_list("pk", "version_id"))
    ours = Run.objects.get(system__name="BM25")
    assert (pool.state, pool.depth, pool.entry_count) == ("complete", 2, 5)
    assert before.items() <= after.items()
    assert entries(pool)["Q01", "a"] == [[ours.pk, 1], [theirs.pk, 1]]


@pytest.mark.parametrize(
    ("values", "code"),
    [({"depth": 1}, "pool_cannot_grow"), ({}, "nothing_to_add"), ({"depth": 2}, "nothing_to_add")],
)
def test_grow_pool_refuses_to_shrink_or_to_change_nothing(project, snapshot, values, code):
    pool = make_pool(project, snapshot, depth=2)

    with pytest.raises(PoolRefused) as refused:
        grow_pool(project=project, pool_id=pool.pk, actor=lead_of(project), at=AT, **values)

    assert refused.value.code == code


def test_a_cancelled_pool_has_failed_together_with_the_runs_it_was_making(project, snapshot):
    lead = lead_of(project)
    pool = request_pool(
        project=project, name="Pool", snapshot_id=snapshot.pk, depth=2,
        system_ids=[make_system(project).pk], actor=lead, at=AT,
    )  # fmt: skip

    cancel_job(job_id=pool.job_id, actor=lead, at=AT)

    assert Pool.objects.get().state == Run.objects.get().state == "failed"

    retry_job(job_id=pool.job_id, actor=lead, at=AT)
    run_jobs()
    assert Pool.objects.get().state == Run.objects.get().state == "complete"
    assert PoolEntry.objects.count() == 4


def test_a_pool_job_done_again_from_its_middle_doubles_nothing(project, snapshot, monkeypatch):
    monkeypatch.setattr("apps.retrieval.execution.ranking.QUERIES_AT_ONCE", 1)
    monkeypatch.setattr("apps.retrieval.execution.pool_building.POOLED_AT_ONCE", 1)
    made = []

    def dies_at_the_second(*args, **kwargs):
        made.append(args)
        if len(made) == 2:
            raise RuntimeError("gone")
        return plain(*args, **kwargs)

    from apps.retrieval.execution import pool_building

    plain = pool_building.write_entries
    monkeypatch.setattr(pool_building, "write_entries", dies_at_the_second)

    pool = make_pool(project, snapshot)

    assert pool.state == "complete"
    assert Job.objects.get(pk=pool.job_id).attempt == 2
    assert (pool.entry_count, PoolEntry.objects.count()) == (4, 4)
    assert JobChunk.objects.filter(job_id=pool.job_id).count() == 3 + 1 + 3
