"""Questions and answers from a spreadsheet: passages by title or id, mistakes left out by one button."""

import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse

from apps.common.files.tabular import TableFile
from apps.corpus.enums import ImportState
from apps.corpus.models import Import
from apps.triples.formats.reading import recognise
from apps.triples.models import Triple
from tests.common.workbooks import workbook
from tests.corpus.factories import make_snapshot
from tests.factories import lead_of, make_project

pytestmark = pytest.mark.django_db

ROWS = [
    ["Question", "Reference answer", "Page", "Quote"],
    ["How often are keys rotated?", "Every 90 days.", "Title b1", "every 90 days"],
    ["How long are backups kept?", "One year.", "b2", None],
    ["Where do visitors sign in?", "At the desk.", "b3", "in the lobby"],
    ["Who opens the archive?", "Nobody.", "b9", None],
]


@pytest.fixture
def project():
    project = make_project()
    make_snapshot(project)
    return project


def upload(client, project, data: bytes, name: str = "questions.xlsx") -> Import:
    client.force_login(lead_of(project))
    form = {"file": SimpleUploadedFile(name, data), "format": "auto", "corpus": "", "machine": ""}
    client.post(reverse("corpus:import-new", args=[project.slug, "triples"]), form)
    return Import.objects.latest("pk")


def send(client, item: Import, name: str, form: dict) -> Import:
    client.post(reverse(f"corpus:{name}", args=[item.project.slug, item.pk]), form)
    item.refresh_from_db()
    return item


def titles(item: Import) -> list[str]:
    return [message["title"] for message in item.plan["table"]["messages"]]


def test_columns_say_who_wrote_a_row_and_who_reviewed_it(client, project):
    head = ["Question", "Answer", "Page", "Author", "Reviewed by", "Resolution"]
    rows = [
        [*ROWS[1][:3], "Mara Quill", "Jun Hallam; Arden, Sef", "consensus"],
        [*ROWS[2][:3], lead_of(project).email, "Jun Hallam, Sef Arden", None],
    ]
    item = upload(client, project, workbook({"Questions": [head, *rows]}))
    send(client, item, "import-confirm", {})

    found = Triple.objects.order_by("number").values_list("author__name", "imported__claims")
    assert list(found) == [
        (
            "Mara Quill",
            {"added_by": "Mara Quill", "reviewed_by": ["Jun Hallam", "Arden, Sef"], "resolution": "consensus"},
        ),
        (lead_of(project).name, {"added_by": lead_of(project).email, "reviewed_by": ["Jun Hallam", "Sef Arden"]}),
    ]


def test_a_workbook_of_questions_becomes_drafts(client, project):
    item = upload(client, project, workbook({"Questions": ROWS}))

    assert [column["role"] for column in item.plan["table"]["columns"]] == ["question", "answer", "passage", "evidence"]
    assert item.state == ImportState.FAULTY
    assert titles(item) == [f"1 passage is not in {name_of(project)}.", "1 row has a mistake."]

    send(client, item, "import-fix", {"fix": "leave-faulty"})
    assert item.state == ImportState.READY
    columns = {f"column-{n}": column["role"] for n, column in enumerate(item.plan["table"]["columns"])}
    send(client, item, "import-columns", columns | {"import": "1", "remember": "1"})

    assert item.state == ImportState.APPLIED
    assert Triple.objects.filter(project=project).count() == 2


def name_of(project) -> str:
    return project.corpora.get().snapshots.get().name


@pytest.mark.parametrize(
    ("data", "format"),
    [
        (b'{"question": "a"}\n', "jsonl"),
        (b"- question: a\n", "yaml"),
        (b"Question;Answer;Page\na;b;c\n", "table"),
        (workbook({"Q": [["Question"]]}), "table"),
    ],
)
def test_the_format_is_recognised(data, format):
    assert recognise(TableFile("f", io.BytesIO(data))) == format


def test_a_missing_column_is_named(client, project):
    item = upload(client, project, b"Question;Reply\na;b\n", "questions.csv")

    assert titles(item) == ["Choose the column of the answers.", "Choose the column of the passages."]


def test_the_command_imports_a_table(capsys, project, tmp_path):
    path = tmp_path / "questions.csv"
    path.write_text("Question;Answer;Page\nHow long are backups kept?;One year.;b2\n")

    call_command("import_triples", path, project=project.slug)

    assert "1 triple: 1 new" in capsys.readouterr().out
