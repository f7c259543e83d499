"""Training manifests over the API: imported, listed, found in a version, retired."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from apps.audit.models import Event
from apps.goldsets.enums import VersionState
from apps.goldsets.models import TrainingManifest
from tests.goldsets.factories import make_version
from tests.goldsets.test_training import hashed, query_in_test, question, retire, train

pytestmark = pytest.mark.django_db


@pytest.fixture
def ask(client, bench):
    """Asks an endpoint of training manifests, as the lead unless somebody else is named."""

    def ask(name, *ids, body=None, person=None, **query):
        client.force_login(person or bench.lead)
        address = reverse(f"goldsets-api:{name}", args=[bench.project.slug, *ids])
        return (
            client.get(address, query) if body is None else client.post(address, body, content_type="application/json")
        )

    return ask


def test_a_list_is_uploaded_confirmed_and_taken_back(client, ask, bench):
    client.force_login(bench.lead)
    file = SimpleUploadedFile("trained.txt", b"elsewhere-1\nelsewhere-2\n")
    address = reverse("goldsets-api:imports", args=[bench.project.slug])

    sent = client.post(address, {"file": file, "name": "Ranker of May", "format": "lines"})
    before = TrainingManifest.objects.count()
    confirmed = ask("import-confirm", sent.json()["id"], body={})
    (listed,) = ask("training").json()["results"]
    undone = ask("import-undo", sent.json()["id"], body={})

    assert (sent.status_code, sent.json()["state"], before) == (201, "ready", 0)
    assert confirmed.json()["state"] == "applied"
    assert (listed["name"], listed["counts"], listed["retired_at"]) == ("Ranker of May", {"question": 2}, None)
    assert undone.json()["undone_at"]
    assert TrainingManifest.objects.get().retired_by == bench.lead


def test_a_list_without_a_name_is_refused_by_field(client, bench):
    client.force_login(bench.lead)
    file = SimpleUploadedFile("trained.txt", b"elsewhere-1\n")

    answer = client.post(reverse("goldsets-api:imports", args=[bench.project.slug]), {"file": file})

    assert (answer.status_code, list(answer.json()["errors"])) == (400, ["name"])


def test_a_manifest_is_retired_once_and_stays_in_the_list(ask, bench):
    manifest = train(bench, question("elsewhere-1"))

    retired = ask("retire-training", manifest.pk, body={})
    again = ask("retire-training", manifest.pk, body={})

    assert (retired.status_code, retired.json()["retired_by"]) == (200, bench.lead.name)
    assert (again.status_code, again.json()["code"]) == (409, "training_retired")
    assert [row["id"] for row in ask("training").json()["results"]] == [manifest.pk]
    assert Event.objects.filter(action="training.retired").count() == 1


def test_manifests_in_use_come_first_and_in_pages(ask, bench):
    old = retire(bench, train(bench, question("elsewhere-1"), name="Old"))
    new = train(bench, question("elsewhere-2"), name="New")

    first = ask("training", limit=1).json()
    rest = ask("training", limit=1, after=first["next"]).json()

    assert [[row["id"] for row in page["results"]] for page in (first, rest)] == [[new.pk], [old.pk]]
    assert rest["next"] is None


def test_what_of_a_version_was_trained_on_is_named_and_the_look_at_test_is_logged(ask, bench):
    version = make_version(VersionState.RELEASED, bench, test_share=0.5)
    place = version.gold_set.slug, version.number
    nothing = ask("training-known", *place).json()
    unseen = Event.objects.filter(action="version.test_seen").count()
    query = query_in_test(version)
    train(bench, hashed(query.text))

    found = ask("training-known", *place).json()

    assert (nothing["results"], nothing["sentence"], unseen) == ([], "", 0)
    assert found["results"] == [
        {
            "name": query.outside_id,
            "kind": "query",
            "split": "test",
            "known_in": [{"manifest": "Ranker of May", "by": "words"}],
        }
    ]
    assert (found["in_test"], found["in_dev"]) == (1, 0)
    assert found["sentence"].startswith("1 item of test is known from training")
    assert Event.objects.filter(action="version.test_seen").count() == 1
