from typing import Any

from django import forms

from apps.accounts.models import Project
from apps.common.web.forms import KaratForm

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
        name = self.cleaned_data["file"].name if "file" in self.cleaned_data else self.uploaded
        if named := _format_in_name(name, chosen):
            raise forms.ValidationError(
                f"{name} has a file name that says {named}. Choose {named}, or rename the file."
            )
        return chosen

    def options(self) -> dict[str, Any]:
        return {name: value for name, value in self.cleaned_data.items() if name != "file"}


def _format_in_name(name: str, chosen: str) -> str:
    """The format in the file's name when it contradicts the chosen one; "" when the two agree."""
    plain = name.lower().removesuffix(".gz")
    if plain.endswith(".csv") and chosen in JSON_LINES:
        return "CSV"
    if plain.endswith((".jsonl", ".json", ".ndjson")) and chosen == "csv":
        return "JSONL"
    return ""
