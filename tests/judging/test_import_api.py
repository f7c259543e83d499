"""Importing judgements over HTTP: the preview of the page, and its confirmation."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from apps.accounts.enums import Role
from apps.judging.models import Judgement
from tests.factories import lead_of, make_member, make_project
from tests.judging.factories import make_snapshot
from tests.judging.test_quepid import BOOK
from tests.queries.factories import make_query

pytestmark = pytest.mark.django_db


@pytest.fixture
def snapshot(client):
    project = make_project()
    client.force_login(lead_of(project))
    make_query(project, outside_id="Q1", text="Key rotation")
    return make_snapshot(project)


def url(snapshot, name: str, *args) -> str:
    return reverse(f"judging-api:{name}", args=[snapshot.corpus.project.slug, *args])


def upload(client, snapshot, content: bytes, **fields):
    file = SimpleUploadedFile("export", content)
    return client.post(url(snapshot, "imports"), {"file": file, "format": "auto", "snapshot": snapshot.pk} | fields)


def test_an_export_is_previewed_and_confirmed(client, snapshot):
    answer = upload(client, snapshot, json.dumps(BOOK).encode())

    assert answer.status_code == 201, answer.text
    item = answer.json()
    assert (item["state"], item["plan"]["rows"]) == ("ready", 3)
    assert ["3", "3", 1] in item["plan"]["table"]["grades"]
    assert not Judgement.objects.exists()
    assert client.post(url(snapshot, "import-confirm", item["id"])).json()["state"] == "applied"
    assert client.get(url(snapshot, "import", item["id"])).json()["plan"]["counts"]["new"] == 3
    assert Judgement.objects.count() == 3


def test_columns_grades_and_the_person_of_a_table_are_named_with_the_upload(client, snapshot):
    table = b"Search;Page;Stars\nkey rotation;b00000;good\nkey rotation;b00001;meh\n"
    named = {"columns": "Search=query,Page=passage,Stars=grade", "grades": "good=3,meh=skip", "person": "Ana"}

    item = upload(client, snapshot, table, **named).json()
    client.post(url(snapshot, "import-confirm", item["id"]))

    assert [(each.grade, each.annotator.name) for each in Judgement.objects.select_related("annotator")] == [(3, "Ana")]


def test_a_mistake_names_its_field(client, snapshot):
    answer = upload(client, snapshot, b"a,b\n", grades="1:2")

    assert answer.status_code == 400
    assert "1:2" in json.dumps(answer.json())


def test_columns_of_a_table_do_not_fit_qrels(client, snapshot):
    item = upload(client, snapshot, b"Q1 0 b00000 3\n", columns="Search=query").json()

    assert item["state"] == "faulty"
    assert item["plan"]["errors"][0]["field"] == "columns"
    assert client.post(url(snapshot, "import-confirm", item["id"])).status_code == 409


def test_only_leads_import_and_only_judgements_are_found_here(client, snapshot):
    item = upload(client, snapshot, json.dumps(BOOK).encode()).json()
    triples = reverse("triples-api:import", args=[snapshot.corpus.project.slug, item["id"]])

    assert client.get(triples).status_code == 404
    client.force_login(make_member(snapshot.corpus.project, Role.ANNOTATOR))
    assert upload(client, snapshot, b"a,b\n").status_code == 403
