"""Columns of tables of documents: what they were taken for is shown, what is not sure is asked, a person decides."""

import csv
import io
import json

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.urls import reverse

from apps.corpus.actions.imports import confirm_import, take_fix
from apps.corpus.enums import ImportState
from apps.corpus.models import Block, Corpus
from tests.common.workbooks import workbook
from tests.corpus.factories import make_document_import
from tests.factories import AT, lead_of

pytestmark = pytest.mark.django_db

HEADINGS = ["Nr", "Bereich", "Frage", "Antwort", "Stand"]
ROWS = [
    ["F-1", "Schlüssel > Tausch", "Wie oft werden Schlüssel getauscht?", "Alle neunzig Tage, vom Büro.", "2024"],
    ["F-2", "Besuch", "Wo melden sich Gäste in diesem Haus an?", "Am Empfang; sie tragen ein Schild.", "2025"],
]
SAID = "Nr=id,Bereich=section,Frage=title,Antwort=text"
READ = {
    "F-1": (["Schlüssel", "Tausch"], ROWS[0][2], ROWS[0][3], {"Stand": "2024"}),
    "F-2": (["Besuch"], ROWS[1][2], ROWS[1][3], {"Stand": "2025"}),
}


def table(rows, separator=","):
    out = io.StringIO()
    csv.writer(out, delimiter=separator).writerows(rows)
    return out.getvalue().encode()


RECORDS = [dict(zip(HEADINGS, row, strict=True)) for row in ROWS]
FILES = {
    "faq.csv": table([HEADINGS, *ROWS]),
    "faq.tsv": table([HEADINGS, *ROWS], "\t"),
    "faq.xlsx": workbook({"A": [HEADINGS, *ROWS]}),
    "faq.jsonl": "\n".join(map(json.dumps, RECORDS)).encode(),
    "faq.json": json.dumps(RECORDS).encode(),
}


def passages():
    found = Block.objects.exclude(current=None).select_related("current")
    return {
        block.outside_id: (
            block.current.section_path,
            block.current.title,
            block.current.text,
            {name: value for name, value in block.current.metadata.items() if name in HEADINGS},
        )
        for block in found
    }


def confirmed(item):
    return confirm_import(import_id=item.pk, actor=lead_of(item.project), at=AT)


@pytest.mark.parametrize("name", FILES)
def test_a_person_says_what_the_columns_are_in_any_file_of_records(name):
    confirmed(make_document_import(FILES[name], name, columns=SAID))

    assert passages() == READ
    assert Corpus.objects.get().columns == SAID


@pytest.mark.parametrize("name", ["faq.tsv", "faq.jsonl"])
def test_two_columns_that_may_both_be_the_text_are_asked_with_their_first_rows(client, name):
    item = make_document_import(FILES[name], name, first_row="headings")
    assert item.state == ImportState.FAULTY
    client.force_login(lead_of(item.project))
    page = client.get(reverse("corpus:import", args=[item.project.slug, item.pk])).text
    assert f"Which column of {name} is the text?" in page
    assert page.index("“Frage”") < page.index("“Antwort”")
    assert ROWS[1][3] in page

    item = take_fix(import_id=item.pk, name="text:Antwort", actor=lead_of(item.project), at=AT)

    assert (item.state, item.options["columns"]) == (ImportState.READY, "Antwort=text")
    assert "text from Antwort" in " ".join(item.plan["notes"])


def test_the_shell_refuses_until_the_text_is_named_and_the_next_import_knows_it(tmp_path, capsys, project):
    file = tmp_path / "faq.jsonl"
    file.write_bytes(FILES["faq.jsonl"])
    with pytest.raises(CommandError, match=r"faq\.jsonl, text: 'Frage, Antwort': each of these columns may be"):
        call_command("import_corpus", str(file), project=project.slug, corpus="FAQ")

    call_command("import_corpus", str(file), project=project.slug, corpus="FAQ", columns=SAID)
    call_command("import_corpus", str(file), project=project.slug, corpus="faq")

    assert "nothing changed" in capsys.readouterr().out
    assert passages() == READ


def test_the_preview_shows_each_column_with_what_it_was_taken_for_and_reads_again_what_was_chosen(client):
    upload = table([["id", "owner", "text", "note"], ["P1", "Ada", "Keys are rotated.", "Rotation"]])
    item = make_document_import(upload, "a.csv")
    client.force_login(lead_of(item.project))
    page = reverse("corpus:import", args=[item.project.slug, item.pk])
    shown = client.get(page).text
    assert "Columns of" in shown
    for words in ("Id, recognised", "Metadata, recognised", "Text, recognised"):
        assert words in shown

    sent = {name: value for name, value in item.options.items() if name != "columns"}
    again = reverse("corpus:import-options", args=[item.project.slug, item.pk])
    client.post(again, sent | {"column": ["", "", "", "note=title"]})
    item.refresh_from_db()

    assert item.options["columns"] == "note=title"
    assert item.plan["samples"][0]["title"] == "Rotation"
    assert '<option value="note=title" selected>' in client.get(page).text
    client.post(again, sent | {"column": ["id=skip", "", "", ""]})
    item.refresh_from_db()
    assert item.plan["recipe"] == "headings"  # without an id the rows are documents, which are cut


@pytest.mark.parametrize(
    ("written", "message"),
    [("text", "'text' is not of the form heading=role"), ("Nr=number", "roles are id, document")],
)
def test_columns_that_cannot_be_parsed_are_refused_by_name(client, written, message):
    item = make_document_import(FILES["faq.tsv"], "faq.tsv", columns=SAID)
    client.force_login(lead_of(item.project))

    answer = client.post(
        reverse("corpus:import-options", args=[item.project.slug, item.pk]), item.options | {"columns": written}
    )

    assert answer.status_code == 400
    assert message in answer.text.replace("&#x27;", "'")


def test_a_heading_that_is_said_to_be_something_is_no_row_of_data():
    item = make_document_import(
        table([["Nummer", "Inhalt"], ["P1", "Keys are rotated every ninety days."]]),
        "a.csv",
        columns="Inhalt=text,Nummer=id",
    )

    confirmed(item)

    assert list(passages()) == ["P1"]
