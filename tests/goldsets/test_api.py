import io
import json
import zipfile

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.goldsets.enums import VersionState
from tests.factories import lead_of, make_member
from tests.goldsets.factories import DENSE, LEXICAL, make_bench, make_ranked_bench, make_version

pytestmark = pytest.mark.django_db


def url(name: str, version) -> str:
    gold_set = version.gold_set
    return reverse(f"goldsets-api:{name}", args=[gold_set.project.slug, gold_set.slug, version.number])


def test_the_list_shows_leads_drafts_and_others_releases(client):
    bench = make_bench()
    make_version(VersionState.RELEASED, bench)
    make_version(VersionState.DRAFT, bench)
    address = reverse("goldsets-api:list", args=[bench.project.slug])

    client.force_login(bench.lead)
    assert [row["version"] for row in client.get(address).json()] == ["v2", "v1"]
    client.force_login(make_member(bench.project, Role.VIEWER))
    assert [row["version"] for row in client.get(address).json()] == ["v1"]


@pytest.mark.parametrize("count", [1, 3])
def test_list_costs_the_same_number_of_queries(client, django_assert_num_queries, count):
    bench = make_bench(queries=1)
    for _ in range(count):
        make_version(VersionState.RELEASED, bench)
    client.force_login(bench.lead)

    with django_assert_num_queries(4):
        client.get(reverse("goldsets-api:list", args=[bench.project.slug]))


def test_detail_includes_the_manifest(client):
    version = make_version(VersionState.RELEASED)
    client.force_login(lead_of(version.gold_set.project))

    row = client.get(url("version", version)).json()

    assert row["id"] == version.pk
    assert row["digest"] == row["manifest"]["digest"] == version.digest
    assert row["state"] == "released"


@pytest.mark.parametrize("accept", ["*/*", "application/zip", "application/json"])
def test_export_is_a_zip_whatever_is_accepted(client, accept):
    version = make_version(VersionState.RELEASED)
    client.force_login(lead_of(version.gold_set.project))

    answer = client.get(url("export", version), {"format": "trec"}, headers={"accept": accept})

    assert answer.status_code == 200
    assert "trec/qrels.txt" in zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content))).namelist()


def test_export_of_test_is_refused_to_a_viewer_as_a_problem(client):
    version = make_version(VersionState.RELEASED)
    client.force_login(make_member(version.gold_set.project, Role.VIEWER))

    answer = client.get(url("export", version), {"split": "test"})

    assert answer.status_code == 403
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["code"] == "test_is_sealed"


def test_runs_are_named_again_and_again_and_an_unknown_one_is_a_problem(client):
    version = make_version(VersionState.RELEASED, make_ranked_bench(lexical=LEXICAL, dense=DENSE), test_share=0.0)
    client.force_login(lead_of(version.gold_set.project))

    both = client.get(url("export", version), {"format": "letor", "run": ["lexical", "dense"]})
    wrong = client.get(url("export", version), {"format": "letor", "run": "sparse"})

    facts = zipfile.ZipFile(io.BytesIO(b"".join(both.streaming_content))).read("letor/features.json")
    assert [feature["run"] for feature in json.loads(facts)["features"]] == ["dense", "lexical"]
    assert (wrong.status_code, wrong.json()["code"]) == (400, "unknown_run")


@pytest.mark.parametrize("name", ["version", "export"])
def test_what_is_not_released_is_not_there_for_others(client, name):
    version = make_version(VersionState.FROZEN)
    client.force_login(make_member(version.gold_set.project, Role.VIEWER))

    assert client.get(url(name, version)).status_code == 404


def test_a_draft_cannot_be_exported(client):
    version = make_version(VersionState.DRAFT)
    client.force_login(lead_of(version.gold_set.project))

    answer = client.get(url("export", version))

    assert answer.status_code == 409
    assert answer.json()["detail"] == "v1 is a draft. Freeze it before you export it."
