"""The common style of form fields, choices that are set per request, and what forms and the API say of wrong ones."""

from collections.abc import Iterable
from typing import Any, TypeVar, cast

from django import forms
from django.db.models import QuerySet
from django.forms import BaseForm
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

F = TypeVar("F", bound=BaseForm)


def checked(form: F) -> F:
    """The form, once it is valid. Raises ValidationError with its sentences by field."""
    if not form.is_valid():
        raise ValidationError({name: [str(fault) for fault in faults] for name, faults in form.errors.items()})
    return form


MOST_NAMED = 30


class ChoiceField(serializers.ChoiceField):
    """Whoever sends another value is told which there are."""

    def fail(self, key: str, **values: Any) -> Any:
        if key == "invalid_choice" and len(self.choices) <= MOST_NAMED:
            known = ", ".join(map(str, self.choices))
            raise serializers.ValidationError(f'"{values["input"]}" is none of: {known}.', code=key)
        super().fail(key, **values)


class KaratForm(forms.Form):
    """Text fields and selects have the `input` class; templates render them with _shell/field.html.

    What is typed has the direction of its own letters.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("label_suffix", "")
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            is_choice = isinstance(field.widget, (forms.CheckboxSelectMultiple, forms.RadioSelect))
            if is_choice or isinstance(field.widget, (forms.CheckboxInput, forms.HiddenInput)):
                continue
            classes = field.widget.attrs.get("class", "")
            field.widget.attrs["class"] = f"input {classes}".strip()
            if type(field.widget) in (forms.TextInput, forms.Textarea):
                field.widget.attrs["dir"] = "auto"


def offer(form: forms.Form, name: str, choices: Iterable[tuple[Any, str]]) -> None:
    """Set the choices of a field."""
    cast(forms.ChoiceField, form.fields[name]).choices = list(choices)


def offer_rows(form: forms.Form, name: str, rows: QuerySet[Any]) -> None:
    """Set the rows that a field chooses from."""
    cast(forms.ModelChoiceField, form.fields[name]).queryset = rows


def show_rows(form: forms.Form, name: str, rows: Iterable[Any]) -> None:
    """Set the rows that a field shows, where they were read: else it reads them again, each time that it is drawn."""
    field = cast(forms.ModelChoiceField, form.fields[name])
    none = [] if field.empty_label is None else [("", field.empty_label)]
    field.choices = [*none, *((field.prepare_value(row), field.label_from_instance(row)) for row in rows)]
