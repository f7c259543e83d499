from typing import Any

from django import forms
from django.core.files.uploadedfile import SimpleUploadedFile

from apps.accounts.models import Project
from apps.common.web.forms import KaratForm

MOST_PASTED = 1_000_000
PASTED = "pasted.txt"
"""The name of the file in which pasted text is stored."""
JSON_LINES = frozenset({"jsonl", "beir"})


class ImportForm(KaratForm):
    """The file and its format. Subclasses add their options; `options()` must be plain JSON."""

    file = forms.FileField(label="File", help_text="UTF-8, plain or gzip.")

    def __init__(self, *args: Any, project: Project, uploaded: str = "", **kwargs: Any) -> None:
        """`uploaded` is the name of a file that is here already: the form then has its options only."""
        super().__init__(*args, **kwargs)
        self.project = project
        self.uploaded = uploaded
        if uploaded:
            del self.fields["file"]

    def clean_format(self) -> str:
        """The chosen format. Rejects one that contradicts the file's name: every line would be a mistake."""
        chosen: str = self.cleaned_data["format"]
        file = self.cleaned_data.get("file")
        name = file.name if file else self.uploaded
        if named := _format_in_name(name, chosen):
            raise forms.ValidationError(
                f"{name} has a file name that says {named}. Choose {named}, or rename the file."
            )
        return chosen

    def options(self) -> dict[str, Any]:
        return {name: value for name, value in self.cleaned_data.items() if name != "file"}


class PastedImportForm(ImportForm):
    """A file, or the same as text in a field. The text is stored as a file is."""

    file = forms.FileField(label="File", required=False, help_text="UTF-8, plain or gzip.")
    pasted = forms.CharField(
        label="Or paste here", required=False, max_length=MOST_PASTED, widget=forms.Textarea(attrs={"rows": 8})
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.uploaded:
            del self.fields["pasted"]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        file, text = values.get("file"), values.pop("pasted", "").strip("\r\n")
        if file and text:
            self.add_error("pasted", "Choose a file or paste text, not both.")
        elif text:
            values["file"] = SimpleUploadedFile(PASTED, text.replace("\r\n", "\n").encode(), "text/plain")
        elif not file and "file" not in self.errors and "file" in self.fields:
            self.add_error("file", "Choose a file, or paste text below.")
        return values


def _format_in_name(name: str, chosen: str) -> str:
    """The format in the file's name when it contradicts the chosen one; "" when the two agree."""
    plain = name.lower().removesuffix(".gz")
    if plain.endswith(".csv") and chosen in JSON_LINES:
        return "CSV"
    if plain.endswith((".jsonl", ".json", ".ndjson")) and chosen == "csv":
        return "JSONL"
    return ""
