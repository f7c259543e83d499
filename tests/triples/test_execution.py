"""The job that compares what is accepted with a new snapshot."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.corpus.actions.corpora import freeze_snapshot
from apps.corpus.execution import freezing
from apps.jobs.actions.jobs import retry_job
from apps.jobs.enums import JobState
from apps.jobs.models import Job
from apps.review.enums import Decision, VerdictChoice
from apps.triples.enums import State
from apps.triples.execution.staleness import MARK_STALE, mark_changed
from apps.triples.models import Triple
from apps.triples.selectors import staleness
from tests.corpus.factories import import_texts, make_corpus
from tests.factories import AT, lead_of, make_member
from tests.review.factories import (
    CHANGED,
    answer_both,
    decide,
    make_accepted,
    make_disputed,
    make_in_review,
    make_triple,
    reload,
    reviewers_of,
    take_back,
)
from tests.running_jobs import run_jobs
from tests.triples.factories import TEXTS, make_draft, make_snapshot

C = VerdictChoice.CONFIRM


def freeze_as(project, texts, corpus):
    """A further snapshot, announced as a freeze announces it."""
    snapshot = make_snapshot(project, texts, corpus=corpus)
    freezing.announce(snapshot, lead_of(project), AT)
    return snapshot


def marks_of(triple):
    return Event.objects.filter(object_id=str(triple.pk), action="triple.mark_stale")


def test_a_freeze_marks_what_changed_or_is_gone_and_nothing_else(project):
    changed, kept = (
        make_accepted(project),
        make_accepted(
            project, key="rotation", evidence="A root key is rotated", answer="It is.", question="What of root keys?"
        ),
    )
    gone = make_accepted(
        project, key="backups", evidence="Every datastore is copied", answer="All.", question="What is copied?"
    )
    texts = {key: text for key, text in CHANGED.items() if key != "backups"}

    freeze_as(project, texts, changed.snapshot.corpus)
    (job,) = run_jobs()

    assert (job.kind, job.state, job.result["marked"]) == (MARK_STALE, JobState.DONE, 2)
    assert [reload(triple).is_stale for triple in (changed, kept, gone)] == [True, False, True]
    event = marks_of(changed).get()
    assert (event.actor, event.before["is_stale"], event.after["is_stale"]) == (None, False, True)
    assert event.after["state"] == State.ACCEPTED


def test_texts_that_are_equal_mark_and_clear_nothing(project):
    stale = make_triple(project, State.ACCEPTED, stale=True)
    fresh = make_accepted(project, snapshot=stale.snapshot.corpus.snapshots.get(number=2))
    before = list(Triple.objects.order_by("pk").values())

    freeze_as(project, CHANGED | {"further": "A block that nobody expects."}, stale.snapshot.corpus)
    (job,) = run_jobs()

    assert list(Triple.objects.order_by("pk").values()) == before
    assert (reload(stale).is_stale, reload(fresh).is_stale, job.result["marked"]) == (True, False, 0)


def test_no_job_is_queued_when_nothing_depends_on_an_earlier_snapshot(project):
    draft = make_draft(project)

    freeze_as(project, CHANGED, draft.snapshot.corpus)

    assert not Job.objects.filter(kind=MARK_STALE).exists()


def test_freezing_the_corpus_queues_the_job(project):
    corpus = make_corpus(project, {"one": "The first text."})
    first = freeze_snapshot(corpus_id=corpus.pk, actor=lead_of(project), at=AT)
    triple = make_accepted(project, snapshot=first, key="one", evidence="The first text.", answer="The first.")
    import_texts(corpus, {"one": "The second text."})

    freeze_snapshot(corpus_id=corpus.pk, actor=lead_of(project), at=AT)
    run_jobs()

    assert reload(triple).is_stale


def test_doing_it_again_marks_nothing_twice(project):
    triple = make_accepted(project)
    snapshot = freeze_as(project, CHANGED, triple.snapshot.corpus)
    run_jobs()

    freezing.announce(snapshot, lead_of(project), AT)
    run_jobs()

    assert marks_of(triple).count() == 1


def test_a_job_that_was_stopped_between_windows_resumes_where_it_was(project, monkeypatch):
    monkeypatch.setattr(staleness, "WINDOW", 1)
    triples = [make_accepted(project) for _ in range(3)]
    freeze_as(project, CHANGED, triples[0].snapshot.corpus)
    real, turns = mark_changed, []

    def stop_at_the_second(snapshot, found, at):
        turns.append(found)
        if len(turns) == 2:
            raise RuntimeError("killed")
        return real(snapshot, found, at)

    monkeypatch.setattr("apps.triples.execution.staleness.mark_changed", stop_at_the_second)
    run_jobs()

    assert all(reload(triple).is_stale for triple in triples)
    assert [marks_of(triple).count() for triple in triples] == [1, 1, 1]
    assert turns == [[triples[0].pk], [triples[1].pk], [triples[1].pk], [triples[2].pk]]


def test_a_failed_job_can_be_run_again(project, monkeypatch):
    triple = make_accepted(project)
    freeze_as(project, CHANGED, triple.snapshot.corpus)
    with monkeypatch.context() as broken:
        broken.setattr("apps.triples.execution.staleness.mark_changed", lambda *args: 1 / 0)
        (job,) = run_jobs()
    assert job.state == JobState.FAILED

    retry_job(job_id=job.pk, actor=lead_of(project), at=AT)
    run_jobs()

    assert reload(triple).is_stale


def test_an_older_snapshot_leaves_the_work_to_the_newest(project):
    triple = make_accepted(project)
    freeze_as(project, CHANGED, triple.snapshot.corpus)
    freeze_as(project, TEXTS | {"rotation": "Keys rotate."}, triple.snapshot.corpus)

    first, second = run_jobs()

    assert (first.result.get("superseded"), second.result["marked"]) == (True, 0)
    assert not reload(triple).is_stale


def accept_by_consensus(triple):
    answer_both(triple, C, C)


def accept_by_withdrawing(triple):
    take_back(triple, reviewers_of(triple)[1])


def accept_by_a_lead(triple):
    decide(triple, lead_of(triple.project), Decision.ACCEPT)


@pytest.mark.parametrize(
    ("make", "accept"),
    [
        (make_in_review, accept_by_consensus),
        (make_disputed, accept_by_withdrawing),
        (make_disputed, accept_by_a_lead),
    ],
)
def test_what_is_accepted_after_the_freeze_is_compared_at_once(project, make, accept):
    triple = make(project)
    freeze_as(project, CHANGED, triple.snapshot.corpus)
    run_jobs()
    assert not reload(triple).is_stale

    accept(triple)

    assert (reload(triple).state, reload(triple).is_stale) == (State.ACCEPTED, True)
    assert reload(triple).resolution


@pytest.mark.parametrize("size", [1, 4])
def test_a_window_costs_the_same_however_many_it_marks(project, size):
    author = make_member(project, Role.ANNOTATOR)
    triples = [make_accepted(project, author=author) for _ in range(size)]
    snapshot = make_snapshot(project, CHANGED, corpus=triples[0].snapshot.corpus)

    with CaptureQueriesContext(connection) as asked:
        (window,) = staleness.windows(snapshot)
        marked = mark_changed(snapshot, staleness.changed_in_window(snapshot, window), AT)

    assert len(marked) == size
    statements = [query["sql"] for query in asked if not query["sql"].startswith(("SAVEPOINT", "RELEASE", "BEGIN"))]
    assert len(statements) == 10  # the last four tell the author


def test_a_triple_pinned_again_between_the_search_and_the_mark_is_left_alone(project):
    triple = make_accepted(project)
    snapshot = make_snapshot(project, CHANGED, corpus=triple.snapshot.corpus)
    found = staleness.changed_in_window(snapshot, (1, 1))
    Triple.objects.filter(pk=triple.pk).update(snapshot=snapshot)

    assert (found, mark_changed(snapshot, found, AT)) == ([triple.pk], [])
