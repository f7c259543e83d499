"""Systems over the API: described, read, paced and run as on the pages, with the same refusals."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.accounts.actions.secrets import save_secret
from apps.audit.models import Event
from apps.retrieval.models import Run, System
from tests.factories import AT, lead_of, make_project
from tests.remote_server import SECRET, TEXTS
from tests.retrieval.factories import make_queries, make_snapshot, make_system
from tests.retrieval.test_remote_queries import http
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db
ELSEWHERE = {"url": "https://search.example/find", "body": '{"q": {{query}}}', "ids": "hits[*].id"}
CLUSTER = {"url": "https://search.example:9200", "index": "pages"}


def url(project, name: str, *args: object) -> str:
    return reverse(f"systems-api:{name}", args=[project.slug, *args])


def post(client, project, name: str, body: dict, *args: object):
    return client.post(url(project, name, *args), json.dumps(body), content_type="application/json")


def remote(client, project, **changes):
    body = {"name": "Search, staging", "kind": "http", "parameters": ELSEWHERE, **changes}
    return post(client, project, "remote", body)


def test_a_system_that_returns_passages_of_its_own_is_described_with_its_paths(lead, project):
    paths = {"documents": "hits[*].doc", "texts": "hits[*].text"}
    parameters = {key: value for key, value in ELSEWHERE.items() if key != "ids"} | paths

    answer = remote(lead, project, parameters=parameters)
    refused = remote(lead, project, name="Other", parameters=parameters | {"documents": "", "first_pages": "h[*].p"})

    assert answer.status_code == 201
    assert paths.items() <= answer.json()["configuration"]["engine"].items()
    assert (refused.status_code, "Pages are pages of a document" in refused.content.decode()) == (409, True)


# Systems that Karat runs -------------------------------------------------------------------------------------------


def test_an_lsa_system_is_described_with_what_is_left_out_as_it_usually_is(lead, project):
    answer = post(lead, project, "systems", {"name": "Themes", "kind": "lsa", "parameters": {"dimensions": 16}})

    system = System.objects.get()
    told = answer.json()
    assert answer.status_code == 201
    assert (told["id"], told["name"], told["kind"], told["digest"]) == (system.pk, "Themes", "lsa", system.digest)
    assert (told["configuration"]["engine"]["dimensions"], told["configuration"]["engine"]["seed"]) == (16, 0)
    assert (told["configuration"]["words"], told["run_count"]) == ("title_and_text", 0)
    assert Event.objects.get(action="system.created").actor == lead_of(project)


def test_a_cluster_with_passages_of_its_own_has_no_ids_unless_they_are_given(lead, project):
    paths = {"documents": "_source.file", "texts": "_source.text"}

    answer = remote(lead, project, kind="opensearch", parameters={**CLUSTER, **paths})
    plain = remote(lead, project, name="Plain", kind="opensearch", parameters=CLUSTER)

    assert answer.status_code == 201
    assert (paths | {"ids": ""}).items() <= answer.json()["configuration"]["engine"].items()
    assert plain.json()["configuration"]["engine"]["ids"] == "_id"


@pytest.mark.parametrize(
    ("changes", "status", "says"),
    [
        ({"kind": "oracle"}, 400, " is none of: "),
        ({"name": ""}, 400, "may not be blank"),
        ({"parameters": {"k1": "much"}}, 409, "must be a number from 0 to 10"),
        ({"parameters": {"k1": 11}}, 409, "must be a number from 0 to 10"),
        ({"parameters": {"k3": 1}}, 409, "BM25 has no parameter"),
        ({"parameters": {"k1": 10**400}}, 400, "A parameter must be a number"),
        ({"parameters": {"tokenizer": "a\0b"}}, 400, "A parameter must be a number"),
        ({"parameters": {"k1": [1]}}, 400, "A parameter must be a number"),
        ({"parameters": "k1=1"}, 400, "Expected a dictionary"),
        ({"words": "title"}, 400, " is none of: "),
        ({"word": "text"}, 400, "There is no such setting. Settings are name, kind, parameters, words."),
    ],
)
def test_a_system_that_cannot_be_described_like_that_is_refused_in_words(lead, project, changes, status, says):
    answer = post(lead, project, "systems", {"name": "Words", "kind": "bm25", **changes})

    assert answer.status_code == status
    assert says in answer.content.decode()
    assert System.objects.count() == 0


def test_the_same_configuration_under_another_name_is_refused_as_on_the_page(lead, project):
    make_system(project)

    answer = post(lead, project, "systems", {"name": "Another", "kind": "bm25"})

    assert (answer.status_code, answer.json()["code"]) == (409, "system_exists")


# Fusions -----------------------------------------------------------------------------------------------------------


def test_a_fusion_is_described_by_the_ids_of_its_systems(lead, project):
    ids = [post(lead, project, "systems", {"name": kind, "kind": kind}).json()["id"] for kind in ("bm25", "tfidf")]

    answer = post(lead, project, "fusions", {"name": "Both", "systems": ids, "k": 10})

    engine = answer.json()["configuration"]["engine"]
    digests = System.objects.filter(pk__in=ids).values_list("digest", flat=True)
    assert (answer.status_code, answer.json()["kind"], engine["k"]) == (201, "fusion", 10)
    assert engine["systems"] == sorted(digests)


def test_a_fusion_of_one_system_or_of_another_projects_is_refused(lead, project):
    mine, theirs = make_system(project), make_system(make_project())

    one = post(lead, project, "fusions", {"name": "One", "systems": [mine.pk]})
    other = post(lead, project, "fusions", {"name": "Other", "systems": [mine.pk, theirs.pk]})
    beyond = post(lead, project, "fusions", {"name": "Beyond", "systems": [mine.pk, 2**70]})

    assert (one.status_code, one.json()["detail"]) == (409, "A fusion needs at least two different systems.")
    assert (other.status_code, beyond.status_code) == (404, 400)
    assert not System.objects.filter(kind="fusion").exists()


# Systems elsewhere -------------------------------------------------------------------------------------------------


def test_a_system_elsewhere_is_described_and_its_secret_is_a_name(lead, project):
    save_secret(project=project, name="search-key", value=SECRET, actor=lead_of(project), at=AT)
    parameters = {**ELSEWHERE, "auth": {"kind": "bearer", "secret": "search-key"}}

    made = remote(lead, project, parameters=parameters, pace={"at_once": 2})
    read = lead.get(url(project, "system", made.json()["id"]))
    listed = lead.get(url(project, "systems"))

    assert made.status_code == 201
    assert made.json()["configuration"]["engine"]["auth"]["secret"] == "search-key"
    assert (made.json()["configuration"]["pace"]["at_once"], made.json()["configuration"]["pace"]["tries"]) == (2, 4)
    assert read.json() == listed.json()[0] == made.json()
    assert not any(SECRET in answer.content.decode() for answer in (made, read, listed))


def test_a_cluster_is_described_with_its_fields(lead, project):
    answer = remote(
        lead, project, kind="opensearch", parameters={**CLUSTER, "query": "multi_match", "fields": ["title^2", "text"]}
    )

    assert answer.status_code == 201
    assert answer.json()["configuration"]["engine"]["fields"] == ["title^2", "text"]


@pytest.mark.parametrize(
    ("changes", "status", "says"),
    [
        ({"kind": "bm25"}, 400, " is none of: "),
        ({"parameters": {**ELSEWHERE, "url": "file:///etc/passwd"}}, 409, "begins with neither https"),
        ({"parameters": {**ELSEWHERE, "url": 7}}, 409, "begins with neither https"),
        ({"parameters": {**ELSEWHERE, "url": ["a"]}}, 400, "Not a valid string"),
        ({"parameters": {"body": "{}"}}, 400, "This field is required"),
        ({"parameters": {**ELSEWHERE, "body": '{"q": 1}'}}, 409, "{{query}} is missing"),
        ({"parameters": {**ELSEWHERE, "bodi": "{}"}}, 400, "There is no such setting"),
        ({"parameters": {**ELSEWHERE, "headers": {"Authorization": "x"}}}, 409, "Use a secret of the project"),
        ({"parameters": {**ELSEWHERE, "auth": {"kind": "bearer", "secret": "none"}}}, 409, "no secret called none"),
        ({"parameters": {**ELSEWHERE, "auth": {"kind": "bearer", "value": SECRET}}}, 400, "There is no such setting"),
        ({"parameters": CLUSTER}, 400, "There is no such setting"),
        ({"pace": {"at_once": 33}}, 400, "less than or equal to 32"),
        ({"pace": {"at_once": 2.5}}, 400, "A valid integer is required"),
        ({"pace": {"often": 1}}, 400, "There is no such setting"),
    ],
)
def test_a_system_elsewhere_that_cannot_be_queried_is_rejected_in_words(lead, project, changes, status, says):
    answer = remote(lead, project, **changes)

    assert answer.status_code == status, answer.json()
    assert says in answer.content.decode()
    assert SECRET not in answer.content.decode()
    assert System.objects.count() == 0


def test_the_pace_changes_and_the_system_stays_the_same(lead, project):
    made = remote(lead, project, pace={"tries": 2}).json()

    paced = post(lead, project, "pace", {"per_second": 5}, made["id"])

    pace = paced.json()["configuration"]["pace"]
    assert (paced.status_code, pace["per_second"], pace["tries"]) == (200, 5, 2)
    assert paced.json()["digest"] == made["digest"]
    assert Event.objects.filter(action="system.paced").count() == 1


def test_a_system_that_karat_runs_has_no_pace(lead, project):
    answer = post(lead, project, "pace", {"tries": 2}, make_system(project).pk)

    assert (answer.status_code, answer.json()["code"]) == (409, "no_pace")


# Runs --------------------------------------------------------------------------------------------------------------


def test_a_system_is_run_on_the_queries_that_are_meant(lead, project):
    make_queries(project)
    snapshot = make_snapshot(project)
    system = make_system(project)

    answer = post(lead, project, "run", {"snapshot": snapshot.digest, "depth": 5, "tag": "night-1"}, system.pk)
    waiting = answer.json()
    run_jobs()

    run = Run.objects.get()
    assert answer.status_code == 202
    assert (waiting["run"]["id"], waiting["run"]["state"], waiting["job"]["id"]) == (run.pk, "pending", run.job_id)
    assert (run.system, run.tag, run.depth, run.state, run.query_count) == (system, "night-1", 5, "complete", 3)


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        ({"snapshot": "nowhere"}, 400, "No snapshot, or more than one, is called that."),
        ({"depth": 0}, 400, "greater than or equal to 1"),
        ({"domain": "nobody's"}, 409, "No query was chosen"),
        ({"tag": "two words"}, 409, "contains a space"),
        ({"tagg": "a"}, 400, "There is no such setting"),
    ],
)
def test_a_run_that_cannot_be_made_is_refused_in_words(lead, project, body, status, says):
    make_queries(project)
    snapshot = make_snapshot(project)

    answer = post(lead, project, "run", {"snapshot": snapshot.digest, **body}, make_system(project).pk)

    assert answer.status_code == status
    assert says in answer.content.decode()
    assert Run.objects.count() == 0


@pytest.mark.usefixtures("opened")
def test_a_system_elsewhere_is_described_and_run_without_a_page(lead, project, port):
    make_queries(project)
    snapshot = make_snapshot(project, TEXTS)
    made = remote(lead, project, parameters=http(port), pace={"tries": 1}).json()

    post(lead, project, "run", {"snapshot": snapshot.digest}, made["id"])
    run_jobs()

    run = lead.get(reverse("retrieval-api:run", args=[project.slug, Run.objects.get().pk])).json()
    assert (run["state"], run["query_count"], run["system"]) == ("complete", 3, "Search, staging")


# Who ---------------------------------------------------------------------------------------------------------------


def test_systems_are_listed_by_kind(lead, project):
    system = make_system(project)

    assert [row["id"] for row in lead.get(url(project, "systems")).json()] == [system.pk]
    assert lead.get(url(project, "systems"), {"kind": "lsa"}).json() == []


def test_the_list_runs_as_many_queries_for_three_systems_as_for_one(lead, project):
    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert lead.get(url(project, "systems")).status_code == 200
        return len(asked)

    make_system(project)
    queries()
    one = queries()
    for kind in ("tfidf", "lsa"):
        post(lead, project, "systems", {"name": kind, "kind": kind})

    assert queries() == one
    assert len(lead.get(url(project, "systems")).json()) == 3
