"""The common style of form fields, and choices that are set per request."""

import re
import uuid
from collections.abc import Iterable
from contextvars import ContextVar, Token
from typing import Any, NamedTuple, TypeVar, cast

from django import forms
from django.db.models import QuerySet
from django.forms import BaseForm
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

OF_A_PROJECT = re.compile(r"/(?:p|api/v1/projects)/([-a-zA-Z0-9_]{1,100})/")


class Work(NamedTuple):
    """What a thread works on: a request at `path`, or the job with this number and the slug of its project."""

    request_id: str = ""
    path: str = ""
    job: int | None = None
    project: str = ""


NOTHING = Work()
_work: ContextVar[Work] = ContextVar("karat_work", default=NOTHING)


def current_work() -> Work:
    return _work.get()


def current_request_id() -> str:
    """The id of the current request or job, or "" outside of both."""
    return _work.get().request_id


def set_request_id(value: str, *, path: str = "", job: int | None = None, project: str = "") -> Token[Work]:
    return _work.set(Work(value, path, job, project))


def reset_request_id(token: Token[Work]) -> None:
    _work.reset(token)


def project_in(path: str) -> str:
    """The slug of the project that an address names, whether there is one or not; "" where it names none."""
    match = OF_A_PROJECT.match(path)
    return match[1] if match else ""


def new_request_id() -> str:
    return uuid.uuid4().hex


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
