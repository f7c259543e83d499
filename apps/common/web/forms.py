"""The one look of every form field, and choices that only the rows at hand know."""

from collections.abc import Iterable
from typing import Any, cast

from django import forms
from django.db.models import QuerySet


class KaratForm(forms.Form):
    """Text fields and selects wear the `input` class; templates draw them with _shell/field.html."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("label_suffix", "")
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            is_choice = isinstance(field.widget, (forms.CheckboxSelectMultiple, forms.RadioSelect))
            if is_choice or isinstance(field.widget, (forms.CheckboxInput, forms.HiddenInput)):
                continue
            classes = field.widget.attrs.get("class", "")
            field.widget.attrs["class"] = f"input {classes}".strip()


def offer(form: forms.Form, name: str, choices: Iterable[tuple[Any, str]]) -> None:
    """Have a field choose among these."""
    cast(forms.ChoiceField, form.fields[name]).choices = list(choices)


def offer_rows(form: forms.Form, name: str, rows: QuerySet[Any]) -> None:
    """Have a field choose among these rows."""
    cast(forms.ModelChoiceField, form.fields[name]).queryset = rows
