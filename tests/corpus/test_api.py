import pytest
from django.urls import reverse

from tests.corpus.factories import make_snapshot
from tests.factories import lead_of, make_project

pytestmark = pytest.mark.django_db


def get(client, snapshot, name: str, *args, **params):
    project = snapshot.corpus.project
    client.force_login(lead_of(project))
    return client.get(reverse(f"corpus-api:{name}", args=[project.slug, *args]), params)


def test_snapshots_are_listed_with_their_digests(client):
    snapshot = make_snapshot()

    body = get(client, snapshot, "snapshots").json()

    assert [(row["id"], row["digest"], row["block_count"]) for row in body["results"]] == [
        (snapshot.pk, snapshot.digest, 3)
    ]
    assert body["next"] is None


def test_blocks_come_page_by_page_in_the_order_of_the_snapshot(client):
    snapshot = make_snapshot()

    first = get(client, snapshot, "blocks", snapshot.pk, limit=2).json()
    second = get(client, snapshot, "blocks", snapshot.pk, limit=2, after=first["next"]).json()

    assert [row["block_id"] for row in first["results"] + second["results"]] == ["b1", "b2", "b3"]
    assert first["results"][0]["text"] == "Keys are rotated every 90 days."
    assert second["next"] is None


def test_blocks_are_searchable_by_words(client):
    snapshot = make_snapshot()

    found = get(client, snapshot, "blocks", snapshot.pk, find="backup").json()["results"]

    assert [row["block_id"] for row in found] == ["b2"]


def test_an_unknown_parameter_is_refused(client):
    snapshot = make_snapshot()

    assert get(client, snapshot, "blocks", snapshot.pk, version__text="x").status_code == 400


def test_a_snapshot_of_another_project_does_not_exist(client):
    snapshot, project = make_snapshot(), make_project()
    client.force_login(lead_of(project))

    for name in ("snapshot", "blocks"):
        assert client.get(reverse(f"corpus-api:{name}", args=[project.slug, snapshot.pk])).status_code == 404
