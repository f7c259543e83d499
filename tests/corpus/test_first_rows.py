"""Tables of documents whose first row is data: it stays a document, and a person can say what it is."""

import pytest
from django.core.management import call_command
from django.urls import reverse

from apps.corpus.actions.imports import change_options, confirm_import
from apps.corpus.models import Block, Corpus, Import
from tests.common.workbooks import workbook
from tests.corpus.factories import make_document_import
from tests.factories import AT, lead_of

pytestmark = pytest.mark.django_db

KEYS = "Keys are rotated every ninety days by the office."
BACKUPS = "Backups are kept for one year in another town."
VISITORS = "Visitors sign in at the front desk and wear a badge."
TEXTS = [KEYS, BACKUPS, VISITORS]
ROWS = [["P1", "Key rotation", KEYS], ["P2", "Backups", BACKUPS], ["P3", "Visitors", VISITORS]]
AS_DATA = "1 file read with the first row as a row like the others."


def lines(rows, separator):
    return "\n".join(separator.join(row) for row in rows).encode()


FILES = {
    "a.csv": lines(ROWS, ","),
    "a.tsv": lines(ROWS, "\t"),
    "a.xlsx": workbook({"A": ROWS}),
    "b.csv": lines([row[1:] for row in ROWS], ","),
    "c.csv": lines([[f'"{text}"'] for text in TEXTS], ","),
}


def now():
    return sorted(block.current.text for block in Block.objects.exclude(current=None).select_related("current"))


def confirmed(item):
    return confirm_import(import_id=item.pk, actor=lead_of(item.project), at=AT)


def reread(item, **changed):
    return change_options(import_id=item.pk, options=item.options | changed, actor=lead_of(item.project), at=AT)


@pytest.mark.parametrize("name", FILES)
def test_the_first_row_of_a_table_without_headings_is_a_document_and_the_preview_says_so(name):
    item = make_document_import(FILES[name], name)

    assert AS_DATA in item.plan["notes"]
    confirmed(item)
    assert now() == sorted(TEXTS)


@pytest.mark.parametrize("heading", [["id", "title", "text"], ["Nr", "Name", "What it says"], ["x", "y", "Body"]])
def test_a_row_with_a_heading_known_here_is_no_document(heading):
    item = make_document_import(lines([heading, *ROWS], ","), "a.csv")

    assert AS_DATA not in item.plan["notes"]
    confirmed(item)
    assert now() == sorted(TEXTS)


def test_what_a_person_said_of_the_first_row_holds_for_the_import_and_the_next_edition(client):
    table = lines([["Nummer", "Titel", "Inhalt"], *ROWS], ",")
    item = make_document_import(table, "a.csv")
    assert item.plan["rows"] == 4
    client.force_login(lead_of(item.project))
    page = client.get(reverse("corpus:import", args=[item.project.slug, item.pk])).text
    assert "The first row of a table" in page

    sent = item.options | {"first_row": "headings"}
    client.post(reverse("corpus:import-options", args=[item.project.slug, item.pk]), sent)
    item.refresh_from_db()
    assert (item.options["first_row"], item.plan["rows"]) == ("headings", 3)
    confirmed(item)

    corpus = Corpus.objects.get()
    assert (corpus.first_row, now()) == ("headings", sorted(TEXTS))
    upload = {"format": "auto", "ids": "file", "mode": "replace", "corpus": corpus.slug, "pasted": table.decode()}
    upload["pasted"] = upload["pasted"].replace(",", "\t")
    client.post(reverse("corpus:import-new", args=[item.project.slug, "corpus"]), upload)
    assert Import.objects.latest("pk").plan["rows"] == 3


def test_a_first_row_that_looks_like_headings_can_be_said_to_be_data():
    item = make_document_import(lines([["Name", "Question", KEYS], *ROWS[1:]], ","), "a.csv")
    assert item.plan["rows"] == 2

    confirmed(reread(item, first_row="data"))

    assert now() == sorted(TEXTS)


def test_pasted_cells_keep_their_first_row(client, project, lead_signed_in):
    form = {"format": "auto", "ids": "file", "mode": "replace", "corpus": "+", "pasted": lines(ROWS, "\t").decode()}

    client.post(reverse("corpus:import-new", args=[project.slug, "corpus"]), form)

    item = Import.objects.get()
    assert item.upload.filename == "pasted.tsv"
    confirmed(item)
    assert now() == sorted(TEXTS)


def test_the_shell_says_what_the_first_row_is_now_and_next_time(tmp_path, capsys, project):
    file = tmp_path / "a.csv"
    file.write_bytes(lines([["Nummer", "Titel", "Inhalt"], *ROWS], ","))

    call_command("import_corpus", str(file), project=project.slug, corpus="Rules")
    assert f"note: {AS_DATA}\n" in capsys.readouterr().err
    assert len(now()) == 4

    call_command("import_corpus", str(file), project=project.slug, corpus="rules", first_row="headings")
    assert now() == sorted(TEXTS)
    call_command("import_corpus", str(file), project=project.slug, corpus="rules")
    assert now() == sorted(TEXTS)
