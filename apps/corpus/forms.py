from typing import Any

from django import forms

from apps.accounts.models import Project
from apps.common.web.forms import KaratForm

JSON_LINES = frozenset({"jsonl", "beir"})


class ImportForm(KaratForm):
    """The file and how it is to be read. Subclasses add their options; `options()` must be plain JSON."""

    file = forms.FileField(label="File", help_text="UTF-8, plain or gzip.")

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project

    def clean_format(self) -> str:
        """The form chosen, unless the file's name says another one: else every line would be a mistake."""
        chosen: str = self.cleaned_data["format"]
        name = self.cleaned_data["file"].name if "file" in self.cleaned_data else ""
        if said := _said_by(name, chosen):
            raise forms.ValidationError(f"{name} has a file name that says {said}. Choose {said}, or rename the file.")
        return chosen

    def options(self) -> dict[str, Any]:
        return {name: value for name, value in self.cleaned_data.items() if name != "file"}


def _said_by(name: str, chosen: str) -> str:
    """The form that a file's name says when it cannot be the chosen one; empty when the two go together."""
    plain = name.lower().removesuffix(".gz")
    if plain.endswith(".csv") and chosen in JSON_LINES:
        return "CSV"
    if plain.endswith((".jsonl", ".json", ".ndjson")) and chosen == "csv":
        return "JSONL"
    return ""
