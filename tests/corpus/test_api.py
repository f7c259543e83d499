"""The corpus over HTTP: snapshots and their passages, redaction; and imports, of every kind by the same endpoints."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from apps.corpus.models import Block, BlockVersion
from apps.jobs.models import Upload
from apps.queries.models import Query
from tests.corpus.factories import make_snapshot
from tests.factories import lead_of
from tests.queries.factories import make_source

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lead_signed_in")]

ROWS = [{"block_id": name, "document_id": "d1", "text": f"Text of {name}."} for name in ("b1", "b2")]
FILE = "\n".join(json.dumps(row) for row in ROWS).encode()
SEARCHES = b"Search;Level\nkey rotation;easy\nwho opens the archive;hard\n"


def url(project, name: str, *args, of: str = "corpus") -> str:
    return reverse(f"{of}-api:{name}", args=[project.slug, *args])


def upload(client, project, content: bytes = FILE, name: str = "blocks.jsonl", of: str = "corpus", **fields):
    fields = fields if of == "queries" else {"corpus": "+", "name": "Handbook"} | fields
    return client.post(url(project, "imports", of=of), {"file": SimpleUploadedFile(name, content)} | fields)


def send(client, project, step: str, item: dict, of: str = "corpus", **body):
    address = url(project, f"import-{step}", item["id"], of=of)
    return client.post(address, body, content_type="application/json")


def test_passages_are_previewed_confirmed_and_undone(client, project):
    answer = upload(client, project)

    assert answer.status_code == 201, answer.text
    item = answer.json()
    assert (item["state"], item["plan"]["rows"], item["options"]["mode"]) == ("ready", 2, "replace")
    assert not Block.objects.exists()
    applied = send(client, project, "confirm", item).json()
    assert (applied["state"], applied["undo_refusal"]) == ("applied", None)
    assert client.get(url(project, "corpora")).json()["results"] == [
        {"slug": "handbook", "name": "Handbook", "block_count": 2, "snapshot_count": 0, "frozen_at": None}
    ]
    assert send(client, project, "undo", item).json()["undone_at"] is not None
    assert client.get(url(project, "corpora")).json()["results"] == []
    assert client.get(url(project, "import", item["id"])).json()["undone_at"] is not None


def test_several_files_are_one_import(client, project):
    files = [SimpleUploadedFile(f"{name}.md", f"# {name}\n\nText.\n".encode()) for name in ("one", "two")]

    item = client.post(url(project, "imports"), {"file": files, "corpus": "+", "name": "Notes"}).json()

    assert (item["state"], item["plan"]["rows"]) == ("ready", 2)


def test_an_import_is_read_again_with_one_other_option(client, project):
    item = upload(client, project).json()

    other = send(client, project, "options", item, name="Rules").json()

    assert (other["state"], other["options"]) == ("ready", item["options"] | {"name": "Rules"})


def test_an_option_that_does_not_fit_is_named(client, project):
    item = upload(client, project).json()

    answer = send(client, project, "options", item, recipe="slices")

    assert (answer.status_code, list(answer.json()["errors"])) == (400, ["recipe"])


def test_a_discarded_import_is_not_confirmed(client, project):
    item = upload(client, project).json()

    assert send(client, project, "discard", item).json()["state"] == "discarded"

    answer = send(client, project, "confirm", item)
    assert (answer.status_code, answer.json()["code"]) == (409, "import_not_ready")
    assert (Upload.objects.get().state, Block.objects.exists()) == ("discarded", False)


def test_a_fix_that_is_not_proposed_is_refused(client, project):
    item = upload(client, project).json()

    answer = send(client, project, "fix", item, fix="no-such")

    assert (answer.status_code, answer.json()["code"]) == (409, "fix_unknown")


def test_the_columns_of_a_table_are_chosen_one_by_one(client, project):
    make_source(project, name="Search log", slug="search-log")
    item = upload(client, project, SEARCHES, "searches.csv", of="queries", source="search-log").json()
    assert item["plan"]["table"]["choice"]["columns"] == {"Search": "text", "Level": "difficulty"}

    chosen = send(client, project, "columns", item, of="queries", columns={"Level": ""}).json()
    send(client, project, "confirm", item, of="queries")

    assert chosen["plan"]["table"]["choice"]["columns"] == {"Search": "text", "Level": ""}
    assert [(each.text, each.difficulty, each.source.slug) for each in Query.objects.order_by("pk")] == [
        ("key rotation", "", "search-log"),
        ("who opens the archive", "", "search-log"),
    ]


@pytest.mark.parametrize(
    "sent", [{"columns": {"Nothing": "text"}}, {"columns": {"Level": "no-role"}}, {"grades": {"7": "1"}}]
)
def test_a_column_that_is_not_there_is_named(client, project, sent):
    item = upload(client, project, SEARCHES, "searches.csv", of="queries").json()

    answer = send(client, project, "columns", item, of="queries", **sent)

    assert (answer.status_code, list(answer.json()["errors"])) == (400, list(sent))


def test_an_import_without_a_table_has_no_columns(client, project):
    item = upload(client, project).json()

    answer = send(client, project, "columns", item, columns={})

    assert (answer.status_code, answer.json()["code"]) == (409, "import_without_table")


def test_each_kind_of_import_has_its_own_list(client, project):
    passages = upload(client, project).json()
    queries = upload(client, project, SEARCHES, "searches.csv", of="queries").json()

    for of, item in (("corpus", passages), ("queries", queries)):
        page = client.get(url(project, "imports", of=of)).json()
        assert ([row["id"] for row in page["results"]], page["next"]) == ([item["id"]], None)
    assert client.get(url(project, "import", queries["id"])).status_code == 404


def test_a_text_is_redacted_for_a_reason(client):
    snapshot = make_snapshot()
    project = snapshot.corpus.project
    client.force_login(lead_of(project))
    text = client.get(url(project, "texts"), {"block_id": "b1", "corpus": snapshot.corpus.slug}).json()["results"][0]
    blocks = client.get(url(project, "blocks", snapshot.pk)).json()["results"]
    assert text["id"] == blocks[0]["text_id"]

    address = url(project, "redact", text["id"])
    refused = client.post(address, {"reason": " "}, content_type="application/json")
    redacted = client.post(address, {"reason": "A phone number."}, content_type="application/json").json()
    again = client.post(address, {"reason": "A phone number."}, content_type="application/json")

    assert refused.status_code == 400
    assert (redacted["text"], redacted["redaction_reason"]) == ("", "A phone number.")
    assert BlockVersion.objects.get(pk=text["id"]).text == ""
    assert (again.status_code, again.json()["code"]) == (409, "not_redactable")


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


def test_blocks_are_searchable_by_words_and_by_nothing_else(client):
    snapshot = make_snapshot()

    found = get(client, snapshot, "blocks", snapshot.pk, find="backup").json()["results"]

    assert [row["block_id"] for row in found] == ["b2"]
    assert get(client, snapshot, "blocks", snapshot.pk, version__text="x").status_code == 400
