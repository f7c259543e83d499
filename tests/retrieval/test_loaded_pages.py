"""Pages and API of loaded indexes: the way of a lead from a snapshot to a run, and back to nothing."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from apps.accounts.actions.tokens import create_token
from apps.accounts.enums import Scope
from apps.retrieval.models import LoadedIndex, System
from tests.factories import lead_of
from tests.reading import plain_words
from tests.retrieval.factories import make_run
from tests.retrieval.test_loading import drop, load, search_system
from tests.running_jobs import run_jobs

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_loads")]


def page_of(project, name="loaded", *args):
    return reverse(f"retrieval:{name}", args=[project.slug, *args])


def filled(snapshot, cluster, **changes):
    return {"snapshot": snapshot.pk, "url": cluster.url, "auth_kind": "none", **changes}


def test_a_lead_loads_searches_and_drops_a_snapshot_from_pages(lead, project, snapshot, cluster):
    assert "None yet. Load a snapshot" in plain_words(lead.get(page_of(project)))
    asked = lead.post(page_of(project), filled(snapshot, cluster))
    assert "waiting for a worker" in plain_words(lead.get(asked.url))
    run_jobs()
    index = LoadedIndex.objects.get()
    ready = plain_words(lead.get(asked.url))
    assert "<dt>Server</dt><dd>OpenSearch 3.1.0</dd>" in ready
    assert "<dt>Passages</dt><dd>4 of 4</dd>" in ready
    assert "This index has no vectors." in ready

    made = lead.post(page_of(project, "search-loaded", index.pk), {"search": "bm25"})
    system = System.objects.get()
    facts = plain_words(lead.get(made.url))
    assert '<dt>Search</dt><dd class="digest">bm25</dd>' in facts
    assert "BM25 in OpenSearch" in plain_words(lead.get(asked.url))
    assert make_run(project, snapshot, system).state == "complete"

    lead.post(page_of(project, "drop-loaded", index.pk))
    run_jobs()
    assert "<dt>Dropped</dt>" in plain_words(lead.get(asked.url))
    assert cluster.indexes == {}
    assert "4 of 4" in plain_words(lead.get(page_of(project)))


def test_a_failed_load_says_why_and_leads_to_its_job(lead, project, snapshot, cluster):
    cluster.refused.add("1")
    index = load(project, snapshot, cluster)

    page = plain_words(lead.get(page_of(project, "loaded-index", index.pk)))

    assert "The server refused passage 2 (b) (400, mapper_parsing_exception)." in page
    assert f'<a href="/p/{project.slug}/jobs/{index.job_id}/">See the job and retry</a>' in page
    assert "Drop the index" in page


def test_a_failed_drop_says_why(lead, project, snapshot, cluster):
    index = load(project, snapshot, cluster)
    cluster.indexes[index.name].mappings["_meta"]["karat"]["mark"] = "another"
    drop(project, index)

    assert "so it stays" in plain_words(lead.get(page_of(project, "loaded-index", index.pk)))


def test_what_cannot_be_loaded_is_refused_in_the_form(lead, project, snapshot, cluster):
    wrong = lead.post(page_of(project), filled(snapshot, cluster, url="ftp://search.example"))
    secretless = lead.post(page_of(project), filled(snapshot, cluster, auth_kind="bearer"))

    assert (wrong.status_code, secretless.status_code) == (400, 400)
    assert "The address begins with neither" in plain_words(wrong)
    assert "Choose the secret to sign in with." in plain_words(secretless)


def test_a_search_that_is_none_is_refused(lead, project, snapshot, cluster):
    index = load(project, snapshot, cluster)

    assert lead.post(page_of(project, "search-loaded", index.pk), {"search": "term"}).status_code == 409


@pytest.fixture
def api(client, project):
    scopes = [Scope.RUNS_READ, Scope.RUNS_WRITE]
    options = {"name": "t", "scopes": scopes, "at": timezone.now(), "lasts": timedelta(days=1)}
    _, token = create_token(project=project, user=lead_of(project), **options)

    def ask(method, name, *args, body=None):
        return getattr(client, method)(
            reverse(f"systems-api:{name}", args=[project.slug, *args]),
            body,
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}"},
        )

    return ask


def test_the_same_over_the_api(api, project, snapshot, cluster):
    asked = api("post", "loaded", body={"snapshot": snapshot.digest, "url": cluster.url})
    assert (asked.status_code, asked.json()["state"], asked.json()["job"]["state"]) == (202, "loading", "queued")
    pk = asked.json()["id"]
    early = api("post", "search-loaded", pk, body={})
    assert (early.status_code, early.json()["code"]) == (409, "search_refused")
    run_jobs()

    told = api("get", "loaded-index", pk).json()
    assert (told["state"], told["noted"], told["passages"], told["server"]) == ("ready", 4, 4, "opensearch")
    assert api("get", "loaded").json() == [told]
    made = api("post", "search-loaded", pk, body={"search": "bm25", "name": "There"})
    assert (made.status_code, made.json()["kind"]) == (201, "loaded")
    assert make_run(project, snapshot, System.objects.get()).state == "complete"

    assert api("post", "drop-loaded", pk).status_code == 202
    run_jobs()
    assert api("get", "loaded-index", pk).json()["state"] == "dropped"


def test_what_cannot_be_loaded_is_refused_over_the_api(api, project, snapshot, cluster):
    index = load(project, snapshot, cluster)
    search_system(project, index)
    cases = [
        ({"snapshot": "nowhere", "url": cluster.url}, 400),
        ({"snapshot": snapshot.digest, "url": cluster.url, "vector": 1}, 400),
        ({"snapshot": snapshot.digest, "url": cluster.url, "vectors": 10**9}, 404),
        ({"snapshot": snapshot.digest, "url": cluster.url}, 409),
    ]

    assert [api("post", "loaded", body=body).status_code for body, _ in cases] == [status for _, status in cases]
    assert api("post", "search-loaded", index.pk, body={}).status_code == 409
