"""Any folder of any mix of files, however it is packed, is the same corpus by page, API and shell, and no file is lost.

What has to be of a file is said by the file alone; what lies beside it changes nothing.
"""

import io
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import docx
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.corpus.execution import document_reading
from apps.corpus.models import Block, Import
from tests.common.workbooks import workbook
from tests.corpus.factories import zipped
from tests.corpus.formats.documents.pdfs import make_pdf
from tests.corpus.formats.documents.test_docx import written
from tests.factories import lead_of, make_project

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(document_reading, "AT_ONCE_SLOW", 1_000)
    monkeypatch.setattr(document_reading, "AT_ONCE_RST", document_reading.AT_ONCE_BYTES)


def letter(document: docx.document.Document) -> None:
    document.add_heading("Letter", 1)
    document.add_paragraph("Dear Petra, the pump is mended.")


WORD, SHEET = written(letter), workbook({"A": [["id", "text"], ["1", "Oil the pump every week."]]})
READ: dict[str, str | bytes] = {
    "letter.docx": WORD,
    "sheet.xlsx": SHEET,
    "report.pdf": make_pdf([["Report", "", "The pump was mended in May."]]),
    "reset.md": "# Reset\n\nGo to /account/password/reset, below xl/ and word/ and [Content_Types].xml.\n",
    "about-pdf.md": "# PDF\n\nSuch a file begins with %PDF-1.7 and PAR1 begins another.\n",
    "page.html": "<h1>Page</h1><p>With xl/workbook.xml in it.",
    "mimetype": "application/x-of-nothing, says the mimetype",
    "notes.txt": "Plain notes on word/document.xml.",
    "rows.csv": "id,text\nr1,The key hangs by the door.\n",
    "people.jsonl": '{"_id": "p1", "text": "Petra opens the archive."}\n',
}
UNREAD: dict[str, str | bytes] = {
    "logo.png": b"\x89PNG\r\n\x1a\n\0\0word/ xl/ %PDF-1.4",
    "empty.md": "",
    "inner.zip": zipped({"a.md": "# A"}),
    "novel.epub": zipped({"mimetype": "application/epub+zip", "word/a.xml": "xl/"}),
    "cut.docx": WORD[:400],
    "binary.md": b"\0" * 50,
    "tool.py": "print('%PDF-1.4')",
}
FILES = READ | UNREAD
HIDDEN = {".DS_Store": "x", ".git/config": "x", "node_modules/p/README.md": "# P", "~$letter.docx": "x", ".env.md": "x"}
"""Files in hidden folders, and hidden ones, which are counted by what hides them."""
PACKINGS = {"stored": zipfile.ZIP_STORED, "deflated": zipfile.ZIP_DEFLATED}
PLACES = st.sampled_from(["", "a/", "a/b/", "word/", "xl/"])
FOLDERS = st.lists(
    st.tuples(PLACES, st.sampled_from(sorted(FILES | HIDDEN))),
    min_size=1,
    max_size=8,
    unique_by=lambda path: path[1] if path[1] in {"rows.csv", "people.jsonl", "sheet.xlsx"} else path,
)
"""Tables are in one place: the passages in them have ids, which are a mistake a second time."""


def packed(folder: Mapping[str, str | bytes], packing: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", PACKINGS[packing]) as archive:
        for path, content in folder.items():
            archive.writestr(f"handbook/{path}", content)
    return out.getvalue()


def by_page(client, upload: bytes, kind: str) -> tuple[Any, Any, int]:
    project = make_project()
    client.force_login(lead_of(project))
    form = {"format": kind, "ids": "file", "corpus": "+", "name": "Handbook", "recipe": "headings"}
    file = SimpleUploadedFile("handbook.zip", upload)
    client.post(reverse("corpus:import-new", args=[project.slug, "corpus"]), form | {"file": file})
    item = Import.objects.get(project=project)
    client.post(reverse("corpus:import-confirm", args=[project.slug, item.pk]))
    return of_project(project), counted(item.plan), hidden_in(item.plan)[0]


def by_api(client, upload: bytes, kind: str) -> tuple[Any, Any, int]:
    project = make_project()
    client.force_login(lead_of(project))
    form = {"format": kind, "corpus": "+", "name": "Handbook"}
    file = SimpleUploadedFile("handbook.zip", upload)
    sent = client.post(reverse("corpus-api:imports", args=[project.slug]), form | {"file": file}).json()
    client.post(reverse("corpus-api:import-confirm", args=[project.slug, sent["id"]]))
    return of_project(project), counted(sent["plan"]), hidden_in(sent["plan"])[0]


def by_shell(folder: Mapping[str, str | bytes], kind: str) -> tuple[Any, int]:
    """(the passages, how many files it says are not read)."""
    project = make_project()
    said = io.StringIO()
    with TemporaryDirectory() as place:
        for path, content in folder.items():
            file = Path(place) / "handbook" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
        shell = {"project": project.slug, "corpus": "Handbook", "format": kind}
        call_command("import_corpus", str(Path(place) / "handbook"), **shell, stderr=said)
    unread = re.findall(r"^not read: .+?: ([\d,]+) files? \(", said.getvalue(), re.MULTILINE)
    return of_project(project), sum(map(int, unread))


def of_project(project) -> list[tuple[str, str, str]]:
    """(document, passage, text) of all passages of a project."""
    return sorted(
        Block.objects.filter(document__corpus__project=project, current__isnull=False).values_list(
            "document__outside_id", "outside_id", "current__text"
        )
    )


def counted(plan: Mapping[str, Any]) -> tuple[int, dict[str, str]]:
    """(how many files were read, why each other one was not, but for hidden ones)."""
    groups = [group for group in plan["unread"] if group["reason"] != "hidden"]
    return plan["files_read"], {path: group["reason"] for group in groups for path in group["paths"]}


def hidden_in(plan: Mapping[str, Any]) -> tuple[int, set[str]]:
    """(how many files are hidden, what the plan lists of them)."""
    groups = [group for group in plan["unread"] if group["reason"] == "hidden"]
    return sum(group["files"] for group in groups), {path for group in groups for path in group["paths"]}


def check(client, folder: Mapping[str, str | bytes], packing: str, kind: str = "auto") -> tuple[Any, Any]:
    """What was read of it and what was not, the same in all three ways."""
    upload = packed(folder, packing)

    passages, (read, unread), hidden = by_page(client, upload, kind)

    assert read + len(unread) + hidden == len(folder)
    assert by_api(client, upload, kind) == (passages, (read, unread), hidden)
    assert by_shell(folder, kind) == (passages, len(unread) + hidden)
    assert passages
    return read, unread


@pytest.mark.parametrize("packing", ["stored", pytest.param("deflated", marks=pytest.mark.slow)])
def test_a_folder_of_everything_is_read_file_by_file(client, packing):
    folder = {f"{number}/{name}": content for number, (name, content) in enumerate((FILES | HIDDEN).items())}

    read, unread = check(client, folder, packing)

    assert {path.partition("/")[2] for path in unread} == set(UNREAD)
    assert read == len(READ)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), [("letter.docx", "docx"), ("report.pdf", "pdf"), ("reset.md", "markdown")])
def test_three_files_of_one_kind_are_read_as_that_kind_whether_it_is_named_or_not(client, name, kind):
    folder = {f"{number}/{name}": FILES[name] for number in range(3)}

    assert check(client, folder, "stored") == (3, {})
    assert by_page(client, packed(folder, "stored"), kind)[1] == (3, {})


@pytest.mark.slow
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(paths=FOLDERS, packing=st.sampled_from(sorted(PACKINGS)))
def test_any_folder_is_the_same_by_page_api_and_shell_and_no_file_is_lost(client, paths, packing):
    folder = {f"{place}{name}": (FILES | HIDDEN)[name] for place, name in paths}
    folder["index.md"] = "# Index\n\nAlways here, so that something can be imported.\n"

    check(client, folder, packing)


def test_hidden_files_are_listed_by_what_hides_them(client, capsys, tmp_path):
    folder = {"a.md": "# A\n\nText.", **{f".git/objects/{number}": "x" for number in range(1_204)}, ".DS_Store": "x"}
    project = make_project()
    client.force_login(lead_of(project))
    form = {"format": "auto", "ids": "file", "corpus": "+", "name": "Handbook", "recipe": "headings"}
    file = SimpleUploadedFile("handbook.zip", packed(folder, "stored"))

    page = client.post(
        reverse("corpus:import-new", args=[project.slug, "corpus"]), form | {"file": file}, follow=True
    ).content.decode()

    assert hidden_in(Import.objects.get().plan) == (1_205, {".git/: 1,204 files", ".DS_Store"})
    assert "1,205 stay unread" in page
    assert ".git/: 1,204 files" in page
    assert "and more" not in page


def test_links_and_empty_files_among_others_are_listed_as_unread(client, capsys, tmp_path):
    folder = tmp_path / "docs"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.md").write_text("# A\n\nText.")
    (folder / "b.md").symlink_to(folder / "a.md")
    (folder / "more").symlink_to(folder / "sub")

    call_command("import_corpus", str(folder), project=make_project().slug, corpus="Docs")

    assert capsys.readouterr().err == "not read: link to another file: 2 files (b.md, more)\n"

    project = make_project()
    client.force_login(lead_of(project))
    files = [SimpleUploadedFile("a.md", b"# A\n\nText."), SimpleUploadedFile("b.md", b"")]
    client.post(reverse("corpus-api:imports", args=[project.slug]), {"corpus": "+", "name": "Handbook", "file": files})
    assert counted(Import.objects.get(project=project).plan) == (1, {"b.md": "empty file"})
