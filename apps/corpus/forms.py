"""The forms of imports: files to upload, the options of each kind, the columns of a table."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any, BinaryIO, ClassVar, cast

from django import forms
from django.core.files.uploadedfile import SimpleUploadedFile, TemporaryUploadedFile, UploadedFile

from apps.accounts.models import Project
from apps.common.web.forms import KaratForm, offer
from apps.corpus.core.documents import FIRST_ROWS
from apps.corpus.core.import_plans import SKIP, TableChoice
from apps.corpus.formats.packages.on_disk import Opener, pack, package_name

MOST_PASTED = 1_000_000
PASTED = "pasted.txt"
"""The name of the file in which pasted text is stored."""
JSON_LINES = frozenset({"jsonl", "beir"})


class FilesInput(forms.FileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """One file, or several, which become one zip. An empty one among several is listed as unread."""

    widget = FilesInput

    def clean(self, data: Any, initial: Any = None) -> UploadedFile | None:
        """The file; None when there is none and none is required."""
        self.allow_empty_file = len(data or ()) > 1
        files = [super(FilesField, self).clean(each, initial) for each in data or [None]]
        return files[0] if len(files) == 1 else _packed(files)


class ImportForm(KaratForm):
    """The file and its format. Subclasses add their options; `options()` must be plain JSON."""

    file = forms.FileField(label="File", help_text="UTF-8, plain or gzip.")
    folded: ClassVar[tuple[str, ...]] = ()
    """The fields that only some files need. They are folded on the page while they are as proposed."""
    folded_title: ClassVar[str] = ""
    drop_heading: ClassVar[str] = ""
    """Above the place to drop files, of a form that takes folders."""
    meanings: ClassVar[Mapping[str, str]] = {}
    """What the API says of fields whose label and help are for the page."""
    drop_words: ClassVar[str] = ""
    """What may be dropped there, as sentences."""

    def __init__(self, *args: Any, project: Project, uploaded: str = "", **kwargs: Any) -> None:
        """`uploaded` is the name of a file that is here already: the form then has its options only."""
        super().__init__(*args, **kwargs)
        self.project = project
        self.uploaded = uploaded
        if uploaded:
            del self.fields["file"]

    @property
    def open_fields(self) -> list[forms.BoundField]:
        return [field for field in self.visible_fields() if field.name not in self.folded]

    @property
    def folded_fields(self) -> list[forms.BoundField]:
        return [field for field in self.visible_fields() if field.name in self.folded]

    @property
    def is_unfolded(self) -> bool:
        """Whether a folded field has an error, or another value than the usual one."""
        return any(
            field.errors or field.value() not in (None, "", False, field.field.initial) for field in self.folded_fields
        )

    @property
    def takes_folders(self) -> bool:
        """Whether the upload may be a folder or several files."""
        return isinstance(self.fields.get("file"), FilesField)

    @property
    def file_name(self) -> str:
        """The name of the file that is read; "" when there is none."""
        file = self.cleaned_data.get("file")
        return self.uploaded or (file.name if file else "")

    def clean_format(self) -> str:
        """The chosen format. Rejects one that contradicts the file's name: every line would be a mistake."""
        chosen: str = self.cleaned_data["format"]
        name = self.file_name
        if named := _format_in_name(name, chosen):
            raise forms.ValidationError(
                f"{name} has a file name that says {named}. Choose {named}, or rename the file."
            )
        return chosen

    @classmethod
    def kept_for_another(cls, options: dict[str, Any], file_name: str) -> dict[str, Any]:
        """The options of an import of this file that are proposed for the next one, of another file."""
        return dict(options)

    def options(self) -> dict[str, Any]:
        return {name: value for name, value in self.cleaned_data.items() if name != "file"}


class PastedImportForm(ImportForm):
    """A file, or the same as text in a field. The text is stored as a file called `pasted_name`."""

    pasted_name: ClassVar[str] = PASTED
    use_required_attribute = False
    pasted = forms.CharField(
        label="Or paste here", required=False, max_length=MOST_PASTED, widget=forms.Textarea(attrs={"rows": 8})
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.uploaded:
            del self.fields["pasted"]
        elif self.data.get("pasted", "").strip():
            self.fields["file"].required = False

    def name_for_pasted(self, text: str) -> str:
        """The name of the file in which the text is stored; its kind may depend on it."""
        return self.pasted_name

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        file, text = values.get("file"), values.pop("pasted", "").strip("\r\n")
        if file and text:
            self.add_error("pasted", "Choose a file or paste text, not both.")
        elif text:
            content = text.replace("\r\n", "\n").encode()
            values["file"] = SimpleUploadedFile(self.name_for_pasted(text), content, "text/plain")
        elif not file and "file" not in self.errors and "file" in self.fields:
            self.add_error("file", "Choose a file, or paste text below.")
        return values


class TableImportForm(PastedImportForm):
    """A file of which one form is a table of any shape."""

    first_row = forms.ChoiceField(label="The first row of a table", choices=list(FIRST_ROWS.items()), required=False)


def name_after(filename: str) -> str:
    """A name for what a file holds, for people: "Osterby docs" of "osterby-docs.zip"; loose files are "Documents"."""
    stem = PurePath(filename.removesuffix(".gz")).stem
    if re.fullmatch(r"\d+ files", stem):
        return "Documents"
    words = " ".join(stem.replace("_", " ").replace("-", " ").split())
    return words[:1].upper() + words[1:120]


def _packed(files: list[UploadedFile]) -> UploadedFile:
    by_name = {file.name: file for file in files}
    if len(by_name) < len(files):
        doubled = next(file.name for file in files if by_name[file.name] is not file)
        raise forms.ValidationError(f"Two files are called {doubled}. Put them in folders and pack those as a zip.")
    openers = {str(name): cast(Opener, file.open) for name, file in by_name.items()}
    package = TemporaryUploadedFile(package_name(openers), "application/zip", 0, None)
    stream = cast(BinaryIO, package.file)
    pack(openers, stream)
    package.size = stream.tell()
    stream.seek(0)
    return package


def _format_in_name(name: str, chosen: str) -> str:
    """The format in the file's name when it contradicts the chosen one; "" when the two agree."""
    plain = name.lower().removesuffix(".gz")
    if plain.endswith(".csv") and chosen in JSON_LINES:
        return "CSV"
    if plain.endswith((".jsonl", ".json", ".ndjson")) and chosen == "csv":
        return "JSONL"
    return ""


class TableForm(forms.Form):
    """The choices on the page of a table, given as its plan has it: a field for each column and each grade."""

    sheet = forms.ChoiceField(required=False)
    person = forms.CharField(required=False, max_length=120)
    remember = forms.BooleanField(required=False)

    def __init__(self, *args: Any, table: dict[str, Any], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.table = table
        roles = [("", ""), *table["roles"]]
        for place, _ in enumerate(table["columns"]):
            self.fields[f"column-{place}"] = forms.ChoiceField(choices=roles, required=False)
        grades = [("", ""), *((str(grade), name) for grade, name in table["scale"]), (SKIP, "")]
        for place, _ in enumerate(table["grades"]):
            self.fields[f"grade-{place}"] = forms.ChoiceField(choices=grades, required=False)
        offer(self, "sheet", [("", ""), *((name, name) for name in table["sheets"])])

    def choice(self) -> TableChoice:
        """The valid choices. Another sheet is read afresh: its columns are proposed."""
        values, shown = self.cleaned_data, TableChoice.from_json(self.table["choice"])
        sheet = values["sheet"] or shown.sheet
        if sheet != shown.sheet and self.table["sheets"]:
            return TableChoice(sheet=sheet, person=values["person"], remember=values["remember"])
        columns = {one["heading"]: values[f"column-{place}"] for place, one in enumerate(self.table["columns"])}
        grades = {one[0]: values[f"grade-{place}"] for place, one in enumerate(self.table["grades"])}
        return replace(
            shown,
            columns=columns,
            grades={**shown.grades, **grades},
            person=values["person"].strip(),
            remember=values["remember"],
        )
