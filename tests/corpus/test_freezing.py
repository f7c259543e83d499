"""Freezing corpora that are too large to be frozen in a request. "Large" begins at two blocks here."""

import pytest
from django.urls import reverse
from django.utils import timezone

from apps.common.errors import Refusal
from apps.corpus.actions import corpora
from apps.corpus.execution import search_index
from apps.corpus.models import BlockVersion, Corpus, Snapshot
from apps.corpus.selectors import search
from apps.jobs.actions.jobs import cancel_job
from apps.jobs.models import Job, JobChunk
from tests.corpus.factories import TEXTS, import_texts, make_corpus, make_snapshot
from tests.factories import lead_of
from tests.races import overlapping
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def every_corpus_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpora, "FREEZE_AT_ONCE_BLOCKS", 1)
    monkeypatch.setattr(search_index, "PART", 2)


@pytest.fixture
def corpus():
    return make_corpus()


@pytest.fixture
def lead(client, corpus):
    client.force_login(lead_of(corpus.project))
    return client


def request_freeze(corpus: Corpus, name: str = "") -> corpora.RequestedFreeze:
    return corpora.request_freeze(corpus_id=corpus.pk, actor=lead_of(corpus.project), at=timezone.now(), name=name)


def page_of(corpus: Corpus) -> str:
    return reverse("corpus:corpus", args=[corpus.project.slug, corpus.slug])


def test_a_small_corpus_is_frozen_at_once(corpus, monkeypatch):
    monkeypatch.setattr(corpora, "FREEZE_AT_ONCE_BLOCKS", 3)

    snapshot, job = request_freeze(corpus, "Spring")

    assert (snapshot.name, snapshot.block_count, job) == ("Spring", 3, None)


def test_a_large_corpus_is_frozen_by_a_job_and_its_page_shows_how_far_it_is(lead, corpus):
    asked = lead.post(reverse("corpus:freeze", args=[corpus.project.slug, corpus.slug]), {"name": "Spring"})

    page = lead.get(page_of(corpus)).text
    assert asked.url == page_of(corpus)
    assert "waiting for a worker" in page
    assert "Freeze a snapshot</button>" not in page
    assert not Snapshot.objects.exists()

    run_jobs()
    snapshot = Snapshot.objects.get()
    assert (snapshot.name, snapshot.block_count) == ("Spring", 3)
    assert Job.objects.get().result == {"snapshot_id": snapshot.pk, "blocks": 3}
    assert "Nothing has changed since Spring." in lead.get(page_of(corpus)).text


def test_a_job_freezes_what_a_request_would(corpus):
    other = make_corpus(corpus.project)
    request_freeze(corpus)
    run_jobs()

    at_once = make_snapshot(corpus=other)

    by_job = Snapshot.objects.get(corpus=corpus)
    assert by_job.digest == at_once.digest
    assert [entry.block.outside_id for entry in search.search_blocks(by_job, "rotated")] == ["b1"]
    assert list(by_job.entries.values_list("position", flat=True)) == [0, 1, 2]


def test_texts_are_indexed_in_parts_and_searchable_once_they_are_frozen(corpus):
    request_freeze(corpus)

    run_jobs()

    assert JobChunk.objects.filter(key__startswith="words:").count() == 2
    assert len(search.search_blocks(Snapshot.objects.get(), "rotated kept visitors")) == 3


def test_requesting_twice_is_one_job(corpus):
    first, second = request_freeze(corpus), request_freeze(corpus)

    assert first.job == second.job
    assert Job.objects.count() == 1


def test_nothing_to_freeze_is_refused_at_once(corpus):
    make_snapshot(corpus=corpus)

    with pytest.raises(Refusal, match="Nothing to freeze: the corpus is unchanged since snapshot 1"):
        request_freeze(corpus)

    assert not Job.objects.exists()


def test_a_corpus_that_equals_an_older_snapshot_fails_its_job_and_the_page_says_so(lead, corpus):
    make_snapshot(corpus=corpus)
    import_texts(corpus, TEXTS | {"b1": "Other words."})
    make_snapshot(corpus=corpus)
    import_texts(corpus, TEXTS)
    request_freeze(corpus)

    run_jobs()

    page = lead.get(page_of(corpus)).text
    assert "Nothing to freeze: the corpus is unchanged since snapshot 1" in page
    assert "Freeze a snapshot</button>" in page
    assert Snapshot.objects.count() == 2


def test_nothing_is_imported_while_a_job_freezes(corpus):
    asked = request_freeze(corpus)

    with pytest.raises(Refusal, match="is being frozen"):
        import_texts(corpus, {"b1": "Other words."})
    cancel_job(job_id=asked.job.pk, actor=lead_of(corpus.project), at=timezone.now())

    assert import_texts(corpus, {"b1": "Other words."}).counts["changed"] == 1


def test_a_request_does_not_freeze_what_a_job_is_to_freeze(corpus):
    request_freeze(corpus)

    with pytest.raises(Refusal, match="is being frozen"):
        make_snapshot(corpus=corpus)


def test_a_cancelled_freeze_is_shown_until_the_corpus_is_frozen(lead, corpus):
    asked = request_freeze(corpus)
    cancel_job(job_id=asked.job.pk, actor=lead_of(corpus.project), at=timezone.now())
    assert "cancelled" in lead.get(page_of(corpus)).text

    corpora.freeze_snapshot(corpus_id=corpus.pk, actor=lead_of(corpus.project), at=timezone.now())

    assert "cancelled" not in lead.get(page_of(corpus)).text


def test_the_api_answers_a_small_corpus_with_its_snapshot(lead, corpus, monkeypatch):
    monkeypatch.setattr(corpora, "FREEZE_AT_ONCE_BLOCKS", 3)

    answer = post(lead, corpus.project, corpus=corpus.slug, name="Spring")

    assert answer.status_code == 201
    assert (answer.json()["snapshot"]["name"], answer.json()["job"]) == ("Spring", None)


def test_the_api_answers_a_large_corpus_with_its_job_and_later_the_snapshot(lead, corpus):
    answer = post(lead, corpus.project, corpus=corpus.slug)
    body = answer.json()
    assert (answer.status_code, body["snapshot"], body["job"]["state"]) == (202, None, "queued")

    run_jobs()
    body = lead.get(reverse("corpus-api:freeze", args=[corpus.project.slug, body["job"]["id"]])).json()

    assert (body["job"]["state"], body["snapshot"]["digest"]) == ("done", Snapshot.objects.get().digest)


def test_the_api_names_what_does_not_fit(lead, corpus):
    make_snapshot(corpus=corpus)

    assert "No corpus is called that." in post(lead, corpus.project, corpus="nowhere").text
    assert post(lead, corpus.project).status_code == 400
    assert post(lead, corpus.project, corpus=corpus.slug).status_code == 409


def test_another_job_is_not_a_freeze(lead, corpus):
    asked = request_freeze(corpus)
    Job.objects.filter(pk=asked.job.pk).update(kind="corpus.apply_import")

    assert lead.get(reverse("corpus-api:freeze", args=[corpus.project.slug, asked.job.pk])).status_code == 404


def post(client, project, **values):
    address = reverse("corpus-api:snapshots", args=[project.slug])
    return client.post(address, values, content_type="application/json")


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_an_import_during_the_request_of_a_freeze_is_rejected(corpus):
    asked, refused = overlapping(lambda: request_freeze(corpus), lambda: import_texts(corpus, {"b1": "Another text."}))

    assert asked.job is not None
    assert refused.code == "corpus_freezing"
    assert BlockVersion.objects.count() == 3


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_freeze_that_meets_an_import_freezes_what_it_brought(corpus, monkeypatch):
    monkeypatch.setattr(corpora, "FREEZE_AT_ONCE_BLOCKS", 10)

    _, asked = overlapping(lambda: import_texts(corpus, TEXTS | {"b4": "A fourth."}), lambda: request_freeze(corpus))

    assert asked.snapshot.block_count == 4


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_an_import_that_meets_a_freeze_stays_out_of_its_snapshot(corpus, monkeypatch):
    monkeypatch.setattr(corpora, "FREEZE_AT_ONCE_BLOCKS", 10)

    asked, plan = overlapping(lambda: request_freeze(corpus), lambda: import_texts(corpus, TEXTS | {"b4": "A fourth."}))

    assert (asked.snapshot.block_count, plan.counts["new"]) == (3, 1)
