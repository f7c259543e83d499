import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from apps.common.files.faults import ErrorList
from apps.common.files.json_tables import is_code
from apps.common.files.tabular import TableFile
from apps.common.text.words import plain_words
from apps.corpus.models import Import
from apps.queries.core.naming import QueryNames
from apps.queries.formats import read_queries
from apps.queries.models import Query
from tests.factories import lead_of, make_project
from tests.queries.factories import make_query


def read(text: str, *known: tuple[str, str]):
    errors = ErrorList()
    source = TableFile("f", io.BytesIO(text.encode()))
    rows = list(read_queries(source, errors, format="lines", names=QueryNames(known)))
    return [(row.query_id, row.text) for row in rows], errors


@pytest.mark.parametrize(
    ("text", "known", "rows"),
    [
        (
            "key rotation\n\n  who opens the archive \n",
            [],
            [("Q001", "key rotation"), ("Q002", "who opens the archive")],
        ),
        ("new\n", [("Q7", "seven"), ("Q0012", "twelve"), ("Q99x", "no number")], [("Q013", "new")]),
        ("KEY  rotation\nnew\n", [("log-4", "key rotation")], [("log-4", "key rotation"), ("Q001", "new")]),
    ],
)
def test_numbers_go_on_after_the_highest_and_a_text_that_is_there_keeps_its_id_and_spelling(text, known, rows):
    found, errors = read(text, *known)

    assert found == rows
    assert not errors


def test_a_line_may_begin_with_an_id_and_a_tab():
    rows, errors = read("Q5\tkey rotation\nnew\nkey rotation\n")

    assert rows == [("Q5", "key rotation"), ("Q006", "new")]
    assert not errors
    assert [warning.line for warning in errors.warnings] == [3]


def test_a_line_with_more_cells_and_an_id_with_two_texts_are_mistakes():
    _, errors = read("Q1\ta\tb\nQ2\tone\nQ2\ttwo\nQ 3\tx\nQ4\t\n")

    assert [error.line for error in errors] == [1, 3, 4]


@given(st.lists(st.text(st.characters(codec="ascii", exclude_categories=("Cc",)), min_size=1, max_size=6), max_size=12))
def test_pasting_the_same_lines_again_changes_no_id(lines):
    lines = [line for line in lines if not is_code(line)]
    first, _ = read("\n".join(lines))
    again, errors = read("\n".join(lines), *first)

    assert again == first
    assert not errors
    assert len({query_id for query_id, _ in first}) == len({plain_words(text) for _, text in first})


def signed_in(client, project):
    client.force_login(lead_of(project))
    return client


def new_import(client, project, **form):
    path = reverse("corpus:import-new", args=[project.slug, "queries"])
    return client.post(path, {"format": "auto", "ids": "file", "source": "", **form})


def stored(project):
    return list(Query.objects.filter(project=project).order_by("pk").values_list("outside_id", "text"))


@pytest.mark.django_db
def test_queries_are_pasted_on_the_page(client):
    project = make_project()
    make_query(project, outside_id="Q001", text="key rotation")

    new_import(signed_in(client, project), project, pasted="key rotation\r\nwho opens the archive\r\n")
    item = Import.objects.get()
    client.post(reverse("corpus:import-confirm", args=[project.slug, item.pk]))

    assert item.plan["counts"] == {"new": 1, "changed": 0, "unchanged": 1}
    assert stored(project) == [("Q001", "key rotation"), ("Q002", "who opens the archive")]


@pytest.mark.django_db
def test_a_file_and_text_together_or_neither_is_refused_in_a_sentence(client):
    project = make_project()
    signed_in(client, project)

    both = new_import(client, project, pasted="a", file=SimpleUploadedFile("q.csv", b"query_id,text\nQ1,a\n"))
    neither = new_import(client, project, pasted=" \r\n")

    assert "Choose a file or paste text, not both." in both.text
    assert neither.context["form"].errors["file"]
    assert not Import.objects.exists()


@pytest.mark.django_db
def test_the_command_reads_lines_from_standard_input(capsys, monkeypatch):
    project = make_project()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"key rotation\nwho opens the archive\n")))

    call_command("import_queries", "-", project=project.slug, format="lines")

    assert "2 queries: 2 new, 0 changed, 0 unchanged." in capsys.readouterr().out
    assert stored(project) == [("Q001", "key rotation"), ("Q002", "who opens the archive")]


@pytest.mark.django_db
def test_mistakes_of_standard_input_name_it(monkeypatch):
    project = make_project()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a\tb\tc\n")))

    with pytest.raises(CommandError, match="standard input, line 1"):
        call_command("import_queries", "-", project=project.slug, format="lines")
