"""The form to import a file of gates."""

from typing import Any

from django import forms

from apps.common.web.forms import KaratForm
from apps.evaluation.rules import SPLIT_WORDS
from apps.gates.formats import LONGEST_FILE
from apps.gates.forms.gates import offer_systems
from apps.goldsets.models import GoldSet


class GateFileForm(KaratForm):
    """A file, or its text, with the system, split and baseline, which no rule contains."""

    system = forms.TypedChoiceField(coerce=int, help_text="The gates check its runs.")
    split = forms.ChoiceField(label="Split", choices=list(SPLIT_WORDS.items()), required=False)
    baseline = forms.TypedChoiceField(coerce=int, empty_value=None, required=False)
    file = forms.FileField(required=False, help_text="TOML, one [[gate]] per rule, as for karat eval.")
    text = forms.CharField(
        label="Or paste the text", required=False, widget=forms.Textarea(attrs={"rows": 12, "spellcheck": "false"})
    )

    def __init__(self, *args: Any, gold_set: GoldSet, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_systems(self, gold_set)
        self.fields["text"].widget.attrs["class"] = "input id"

    def clean(self) -> dict[str, Any]:
        """Sets `text` to the content of the file, where one was uploaded."""
        values = super().clean() or {}
        if file := values.get("file"):
            if file.size > LONGEST_FILE:
                self.add_error("file", f"A file of gates has at most {LONGEST_FILE:,} bytes.")
                return values
            try:
                values["text"] = file.read().decode()
            except UnicodeDecodeError:
                self.add_error("file", "The file is not UTF-8 text.")
        elif not values.get("text", "").strip():
            self.add_error("file", "Choose a file, or paste its text below.")
        return values
