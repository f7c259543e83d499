"""What one tap could lose: a first row, an address, a name, a preview; and files that are dropped in a wrong place."""

import re
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from apps.corpus.actions import imports
from apps.corpus.actions.imports import _reopen, change_options
from apps.corpus.enums import ImportState
from apps.corpus.execution.import_reading import ASKED
from apps.corpus.models import Block, Corpus, Import
from apps.corpus.selectors.import_kinds import kind_named
from apps.queries.models import Query
from tests.corpus.factories import make_document_import, make_snapshot, zipped
from tests.corpus.formats.documents.pdfs import make_pdf
from tests.factories import AT, lead_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lead_signed_in")]

SITE = {"docs/a.md": "# A\n\nText of A.\n\n## B\n\nText of B.\n", "docs/c.md": "# C\n\nText of C.\n"}
ADDRESS = "https://docs.example.org/"
PICTURES = {
    "a.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "a.jpg": b"\xff\xd8\xff\xe0\0\x10JFIF",
    "a.gif": b"GIF89a\x01\0\x01\0",
    "a.webp": b"RIFF\x24\0\0\0WEBPVP8 ",
    "a.csv": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
}


def upload(client, project, content: bytes | str, filename: str, *, kind: str = "corpus", **form) -> Import:
    content = content.encode() if isinstance(content, str) else content
    usual = {"corpus": {"corpus": "+", "name": "", "recipe": "", "base_url": "", "mode": "replace"}}.get(kind, {})
    sent = {"format": "auto", "ids": "file"} | usual | form | {"file": SimpleUploadedFile(filename, content)}
    client.post(reverse("corpus:import-new", args=[project.slug, kind]), sent)
    return Import.objects.filter(project=project).latest("pk")


def paste(client, project, text: str) -> Import:
    address = reverse("corpus:import-new", args=[project.slug, "queries"])
    client.post(address, {"format": "auto", "ids": "file", "pasted": text})
    return Import.objects.latest("pk")


def confirmed(item: Import) -> Import:
    return imports.confirm_import(import_id=item.pk, actor=lead_of(item.project), at=AT)


def queries() -> list[str]:
    return list(Query.objects.order_by("outside_id").values_list("text", flat=True))


@pytest.mark.parametrize(
    "pasted",
    [
        "how often are keys rotated\tsecurity\teasy\nwho opens the archive\toffice\thard",
        "how often are keys rotated\t\t\nwho opens the archive\toffice\thard\nwhere is the key\toffice\teasy",
        "how often are keys rotated\teasy\nwho opens the archive\thard",
        "how often are keys rotated\nwho opens the archive",
        "K1\thow often are keys rotated\nK2\twho opens the archive",
    ],
)
def test_pasted_cells_without_headings_keep_their_first_query(client, project, pasted):
    confirmed(paste(client, project, pasted))

    assert queries()[:2] == ["how often are keys rotated", "who opens the archive"]


@pytest.mark.parametrize("heading", ["Query\tTopic\tLevel", "search phrase\tx\ty", "Query\tLevel"])
def test_pasted_headings_are_no_query(client, project, heading):
    width = heading.count("\t")
    confirmed(paste(client, project, f"{heading}\nhow often are keys rotated" + "\tx" * width))

    assert queries() == ["how often are keys rotated"]


def test_a_first_row_that_may_be_headings_is_asked_and_can_be_turned_round_and_back(client, project):
    item = paste(client, project, "Kundenwunsch\tWert\tOrt\nhow often are keys rotated\t1\there")
    assert (item.state, item.questions) == (ImportState.FAULTY, [ASKED])
    likely, other = item.plan["readings"]
    assert [(one["name"], one["rows"]) for one in (likely, other)] == [("has-headings", 1), ("has-no-headings", 2)]
    assert (likely["reason"], other["against"]) == (
        "“Kundenwunsch” stands above sentences.",
        "“Kundenwunsch” stands above sentences.",
    )
    page = client.get(reverse("corpus:import", args=[project.slug, item.pk])).content.decode()
    assert "More likely" in page
    assert 'value="has-no-headings"' in page

    item = imports.take_fix(import_id=item.pk, name="has-headings", actor=lead_of(project), at=AT)
    assert item.plan["rows"] == 1
    assert [column["heading"] for column in item.plan["table"]["columns"]] == ["Kundenwunsch", "Wert", "Ort"]

    item = imports.take_fix(import_id=item.pk, name="has-no-headings", actor=lead_of(project), at=AT)
    assert item.plan["rows"] == 2
    item = imports.take_fix(import_id=item.pk, name="has-headings", actor=lead_of(project), at=AT)
    confirmed(item)
    assert queries() == ["how often are keys rotated"]


@pytest.mark.parametrize(
    ("text", "are_headings"),
    [
        ("156493\tsearch engine\n1110199\tdo wombats glow", False),
        ("id\tasked\nK2\twhy", True),
        ("one\ttwo\tthree\nneither\tnor\tor", None),
        ("7\tquestion\n8\tdo otters eat fish", None),
    ],
)
def test_a_first_row_like_data_is_never_headings_in_silence(client, project, text, are_headings):
    item = paste(client, project, text)

    assert (item.state == ImportState.READY) == (are_headings is not None)


def test_a_discarded_file_does_not_name_the_next_corpus(client, project):
    for typed, proposed in (("", ""), ("Rules", "Rules")):
        item = upload(client, project, zipped(SITE), "wrong-folder.zip", name=typed)
        answer = client.post(reverse("corpus:import-discard", args=[project.slug, item.pk]))
        page = client.get(answer.url)
        assert (page.context["form"]["name"].value() or "") == proposed

    item = upload(client, project, zipped(SITE), "handbook.zip")
    assert item.options["name"] == "Handbook"


def test_the_next_edition_is_read_as_the_corpus_was_however_it_is_sent(client, project):
    as_before = {"recipe": "whole", "base_url": ADDRESS, "also_text": "yaml"}
    confirmed(upload(client, project, zipped(SITE), "docs.zip", name="Docs", **as_before))
    corpus = Corpus.objects.get()

    # Straight into the corpus, its form as the page proposes it.
    item = upload(client, project, zipped(SITE), "docs.zip", corpus=corpus.slug)
    assert {name: item.options[name] for name in as_before} == as_before
    assert item.plan["changes_nothing"]

    # As a new corpus first, and into this one in the preview, which sends all that it shows.
    item = upload(client, project, zipped(SITE), "docs.zip")
    address = reverse("corpus:import-options", args=[project.slug, item.pk])
    shown = {"format": "auto", "ids": "file", "recipe": "headings", "base_url": "", "also_text": "", "mode": "replace"}
    client.post(address, shown | {"corpus": corpus.slug})
    item.refresh_from_db()
    assert (item.options["base_url"], item.options["recipe"]) == (ADDRESS, "whole")
    assert item.plan["changes_nothing"]

    # The preview of that corpus then takes the address away, when a person does.
    client.post(address, shown | {"corpus": corpus.slug, "recipe": "whole", "base_url": ""})
    item.refresh_from_db()
    assert item.options["base_url"] == ""

    # What was said for this file before holds in whatever corpus.
    item = upload(client, project, zipped(SITE), "docs.zip", base_url="https://new.example.org/", recipe="headings")
    client.post(
        reverse("corpus:import-options", args=[project.slug, item.pk]),
        shown | {"corpus": corpus.slug, "base_url": "https://new.example.org/"},
    )
    item.refresh_from_db()
    assert item.options["base_url"] == "https://new.example.org/"


def test_an_api_client_that_names_the_recipe_gets_it(client, project):
    confirmed(upload(client, project, zipped(SITE), "docs.zip", name="Docs", recipe="whole"))

    file = SimpleUploadedFile("docs.zip", zipped(SITE))
    sent = {"corpus": Corpus.objects.get().slug, "recipe": "headings", "file": file}
    item = client.post(reverse("corpus-api:imports", args=[project.slug]), sent).json()

    assert item["options"]["recipe"] == "headings"


def test_a_choice_made_while_an_earlier_one_is_read_counts():
    item = make_document_import(zipped(SITE))
    lead = lead_of(item.project)
    first = {**item.options, "name": "First"}
    being_read = _reopen(import_id=item.pk, choose=lambda one: first, actor=lead, at=AT)
    assert being_read.state == ImportState.READING

    second = change_options(
        import_id=item.pk, options={**item.options, "name": "Second"}, actor=lead, at=AT + timedelta(seconds=1)
    )

    assert (second.state, second.options["name"]) == (ImportState.READY, "Second")
    imports._read_again(being_read)  # the first request ends later, and changes nothing
    item.refresh_from_db()
    assert (item.state, item.options["name"]) == (ImportState.READY, "Second")


@pytest.mark.parametrize("kind", ["queries", "triples", "judgements"])
def test_a_picture_is_called_one_wherever_it_is_dropped(client, project, kind):
    make_snapshot(project)
    fields = kind_named(kind).form_class(project=project).fields
    form = {name: fields[name].choices[-1][0] for name in ("snapshot", "corpus") if name in fields}

    for number, name in enumerate(PICTURES):
        item = upload(client, project, PICTURES[name], name, kind=kind, **form)
        assert Import.objects.count() == number + 1
        assert re.search(r"the file is an? \w+ picture;", item.plan["errors"][0]["message"])


def test_a_document_is_no_list_of_queries_unless_a_person_says_so(client, project):
    text = "# S3\n\nBuckets hold files.\n\nThey have names.\n"
    item = upload(client, project, text, "s3.md", kind="queries")
    assert item.state == ImportState.FAULTY
    assert item.plan["errors"][0]["message"] == (
        "this is a document (Markdown), not a list of queries; import it under Documents, or say its form"
    )

    item = imports.take_fix(import_id=item.pk, name="format:lines", actor=lead_of(project), at=AT)
    assert item.plan["rows"] == 3

    pdf = upload(client, project, make_pdf([["Words"]]), "s3.txt", kind="queries")
    assert "document (PDF)" in pdf.plan["errors"][0]["message"]
    assert pdf.plan["fixes"] == []
    listed = upload(client, project, text, "s3.txt", kind="queries").plan
    assert (listed["rows"], listed["warnings"][0]["message"]) == (2, "begins with # and is skipped")


def test_a_folder_that_has_nothing_of_the_corpus_never_removes_all_of_it_by_default(client, project):
    confirmed(upload(client, project, zipped(SITE), "docs.zip", name="Docs"))
    other = zipped({"menu.md": "# Menu\n\nSoup.\n", "wine.md": "# Wine\n\nRed.\n"})

    item = upload(client, project, other, "kitchen.zip", corpus="docs")  # as the form proposes it
    number = Block.objects.exclude(current=None).count()

    assert (item.state, item.outcome) == ("faulty", "waits for a decision")
    page = client.get(reverse("corpus:import", args=[project.slug, item.pk])).text
    assert "1 question before it is imported" in page
    assert f"No document of this file is in Docs, and all its {number} passages would be removed." in page
    assert [(fix["name"], fix["button"]) for fix in item.plan["fixes"]] == [
        ("new", "Make a new corpus"), ("merge", "Add it to Docs"), ("empty", f"Remove all {number} passages"),
    ]  # fmt: skip
    with pytest.raises(imports.ImportRefused, match="waits for a decision"):
        confirmed(item)


@pytest.mark.parametrize(("fix", "corpora", "gone"), [("new", 2, 0), ("merge", 1, 0), ("empty", 1, None)])
def test_each_answer_about_a_corpus_that_would_be_emptied_does_what_it_says(client, project, fix, corpora, gone):
    confirmed(upload(client, project, zipped(SITE), "docs.zip", name="Docs"))
    before = Block.objects.exclude(current=None).count()
    item = upload(client, project, zipped({"menu.md": "# Menu\n\nSoup.\n"}), "kitchen.zip", corpus="docs")

    item = imports.take_fix(import_id=item.pk, name=fix, actor=lead_of(project), at=AT)
    assert item.plan["counts"]["gone"] == (before if gone is None else gone)
    recut = item.options | {"recipe": "whole"}
    client.post(reverse("corpus:import-options", args=[project.slug, item.pk]), recut)
    item.refresh_from_db()
    confirmed(item)

    assert Corpus.objects.count() == corpora
    assert Block.objects.exclude(current=None).count() == (before + 1 if fix != "empty" else 1)


def test_an_edition_that_keeps_one_document_is_not_asked_about(client, project):
    confirmed(upload(client, project, zipped(SITE), "docs.zip", name="Docs"))
    kept = dict([next(iter(SITE.items()))])

    item = upload(client, project, zipped({**kept, "docs/menu.md": "# Menu\n\nSoup.\n"}), "docs.zip", corpus="docs")

    assert item.state == "ready"
    assert item.plan["counts"]["gone"] > 0


def test_the_leave_to_empty_a_corpus_is_not_passed_on_to_the_next_file(client, project):
    confirmed(upload(client, project, zipped(SITE), "docs.zip", name="Docs"))
    item = upload(client, project, zipped({"menu.md": "# Menu\n\nSoup.\n"}), "kitchen.zip", corpus="docs")
    item = imports.take_fix(import_id=item.pk, name="empty", actor=lead_of(project), at=AT)

    page = client.get(client.post(reverse("corpus:import-discard", args=[project.slug, item.pk])).url)

    assert not page.context["form"]["empties"].value()
