import pytest
from django.test import override_settings
from django.urls import reverse

from apps.accounts.actions.secrets import save_secret
from apps.retrieval.models import System
from tests.factories import AT, lead_of
from tests.reading import plain_words
from tests.remote_server import TOLD
from tests.retrieval.factories import make_run, make_system
from tests.retrieval.test_remote_queries import http, make_remote_system

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("opened")]

PACE = {
    "at_once": "4", "per_second": "0", "tries": "2", "first_wait": "0.01", "connect": "1", "read": "1", "whole": "2",
    "stop_after": "5",
}  # fmt: skip


def page_of(project, kind="http"):
    return reverse("retrieval:new-remote", args=[project.slug]) + f"?kind={kind}"


def filled(port, snapshot, path="search", **changes):
    return {
        **PACE,
        "name": "Search, staging",
        "url": f"http://127.0.0.1:{port}/{path}",
        "method": "POST",
        "body": '{"q": {{query}}}',
        "ids": "hits[*].doc.id",
        "scores": "hits[*].score",
        "strip": "doc:",
        "headers": "X-Team: search\n",
        "auth_kind": "none",
        "question": "red key",
        "snapshot": snapshot.pk,
        **changes,
    }


def test_a_trial_shows_ids_and_time_before_anything_is_made(lead, project, snapshot, port):
    page = plain_words(lead.post(page_of(project), {**filled(port, snapshot), "try": "yes"}))

    assert "2 results in" in page
    assert "every id is in this snapshot" in page
    assert "red key opens the red door" in page
    assert not System.objects.exists()


def test_a_trial_names_ids_of_unknown_blocks(lead, project, snapshot, port):
    values = filled(port, snapshot, "unknown", scores="")

    page = plain_words(lead.post(page_of(project), {**values, "try": "yes"}))

    assert "2 of the ids are not" in page
    assert "nowhere</span><b>not in the snapshot</b>" in page


OWN = {"ids": "", "documents": "hits[*].doc", "texts": "hits[*].text", "first_pages": "hits[*].page"}


def test_a_system_that_returns_passages_of_its_own_is_tried_made_and_run_from_pages(lead, project, snapshot, port):
    form = plain_words(lead.get(page_of(project)))
    assert all(f">{label} <small>" in form for label in ("Path to the documents", "Path to the texts"))

    values = filled(port, snapshot, "chunks", **OWN)
    tried = plain_words(lead.post(page_of(project), {**values, "try": "yes"}))
    assert "2 results in" in tried
    assert "ms, passages of its own." in tried
    assert "red key a" in tried

    lead.post(page_of(project), values)
    system = System.objects.get()
    facts = plain_words(lead.get(reverse("retrieval:system", args=[project.slug, system.pk])))
    run = make_run(project, snapshot, system)
    page = plain_words(lead.get(reverse("retrieval:run", args=[project.slug, run.pk])))

    assert '<dt>Path to the texts</dt><dd class="digest">hits[*].text</dd>' in facts
    assert "<dt>Returns</dt><dd>passages of its own</dd>" in page
    assert '<span class="quote" dir="auto">red key a</span>' in page


def test_a_cluster_that_returns_passages_of_its_own_is_described_from_its_page(lead, project, snapshot, port):
    own = {"ids": "", "documents": "_source.file", "texts": "_source.text", "first_pages": "_source.page"}
    values = {
        **PACE, **own, "name": "Cluster", "url": f"http://127.0.0.1:{port}", "index": "spring", "query": "match",
        "search_fields": "text", "auth_kind": "none", "question": "red key", "snapshot": snapshot.pk,
    }  # fmt: skip
    assert "Empty the path to the ids above" in plain_words(lead.get(page_of(project, "opensearch")))

    tried = plain_words(lead.post(page_of(project, "opensearch"), {**values, "try": "yes"}))
    refused = plain_words(lead.post(page_of(project, "opensearch"), {**values, "texts": "text"}))
    made = lead.post(page_of(project, "opensearch"), values)

    assert "ms, passages of its own." in tried
    assert "red key a" in tried
    assert "The texts are read from a field written _source.name." in refused
    assert '<dt>Path to the texts</dt><dd class="digest">_source.text</dd>' in plain_words(lead.get(made.url))


def test_paths_to_passages_that_say_too_little_are_refused_in_the_form(lead, project, snapshot, port):
    answer = lead.post(page_of(project), filled(port, snapshot, "chunks", **OWN | {"documents": ""}))

    assert answer.status_code == 400
    assert "Pages are pages of a document: give the path to the documents too." in plain_words(answer)
    assert not System.objects.exists()


def test_without_any_path_the_ids_are_asked_for(lead, project, snapshot, port):
    answer = lead.post(page_of(project), filled(port, snapshot, ids=""))

    assert answer.status_code == 400
    assert "The path is empty. Enter the path to the ids" in plain_words(answer)


def test_a_trial_that_fails_says_why_and_reveals_nothing_of_the_answer(lead, project, snapshot, port):
    page = plain_words(lead.post(page_of(project), {**filled(port, snapshot, "broken"), "try": "yes"}))

    assert "The server answered 500." in page
    assert TOLD not in page


def test_a_trial_does_not_reach_inside(lead, project, snapshot, port):
    with override_settings(OUTBOUND_ALLOW=()):
        page = plain_words(lead.post(page_of(project), {**filled(port, snapshot), "try": "yes"}))

    assert "is inside the network of this server" in page


def test_a_trial_needs_a_question(lead, project, snapshot, port):
    answer = lead.post(page_of(project), {**filled(port, snapshot, question=""), "try": "yes"})

    assert answer.status_code == 400
    assert "Enter a query to try." in plain_words(answer)


def test_a_system_is_made_run_and_its_pace_changed_from_pages(lead, project, snapshot, port):
    made = lead.post(page_of(project), filled(port, snapshot))
    system = System.objects.get()
    page = plain_words(lead.get(made.url))
    assert "hits[*].doc.id" in page
    assert "4 parallel requests, no limit per second, 2 tries, 2 s each" in page
    assert "X-Team: search" in page

    lead.post(made.url, {"snapshot": snapshot.pk, "depth": "10"})
    assert system.runs.count() == 1

    changed = lead.post(reverse("retrieval:pace", args=[project.slug, system.pk]), {**PACE, "per_second": "2.5"})
    assert changed.url == made.url
    assert "at most 2.5 per second" in plain_words(lead.get(made.url))


def test_a_cluster_is_described_from_its_page(lead, project, snapshot, port):
    values = {
        **PACE, "name": "Cluster", "url": f"http://127.0.0.1:{port}", "index": "spring", "query": "match",
        "search_fields": "text", "ids": "_id", "auth_kind": "none", "question": "red key", "snapshot": snapshot.pk,
    }  # fmt: skip

    assert "2 results in" in plain_words(lead.post(page_of(project, "opensearch"), {**values, "try": "yes"}))
    lead.post(page_of(project, "opensearch"), values)

    assert System.objects.get().config["engine"]["fields"] == ["text"]


def test_errors_are_shown_in_the_form(lead, project, snapshot, port):
    wrong = lead.post(page_of(project), filled(port, snapshot, ids="hits.id"))
    header = lead.post(page_of(project), filled(port, snapshot, headers="no colon"))

    assert (wrong.status_code, header.status_code) == (400, 400)
    assert "needs [*]" in plain_words(wrong)
    assert "is not a header" in plain_words(header)


def test_secrets_are_chosen_by_name(lead, project, snapshot, port):
    save_secret(project=project, name="search-key", value="sesame-1", actor=lead_of(project), at=AT)
    values = filled(port, snapshot, auth_kind="bearer", auth_secret="search-key")

    lead.post(page_of(project), values)

    system = System.objects.get()
    assert system.config["engine"]["auth"]["secret"] == "search-key"
    page = plain_words(lead.get(reverse("retrieval:system", args=[project.slug, system.pk])))
    assert "with the secret search-key, as a Bearer token" in page
    assert "sesame" not in page + plain_words(lead.get(page_of(project)))


def test_unknown_ids_are_listed_on_the_page_of_the_run(lead, project, snapshot, port):
    run = make_run(project, snapshot, make_remote_system(project, http(port, "unknown", scores="")))

    page = plain_words(lead.get(reverse("retrieval:run", args=[project.slug, run.pk])))

    assert "<b>6</b> returned ids, of 3 queries, are not in the snapshot." in page
    assert '<td class="id digest">nowhere</td>' in page
    assert "<b>3</b> ids appeared more than once" in page


def test_a_system_that_karat_runs_has_no_pace(lead, project):
    system = make_system(project)

    assert lead.get(reverse("retrieval:pace", args=[project.slug, system.pk])).status_code == 409
