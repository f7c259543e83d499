"""The common style of form fields, choices that are set per request, and what forms and the API say of wrong ones."""

from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from django import forms
from django.db.models import QuerySet
from django.forms import BaseForm
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from apps.common.database.statements import LARGEST_KEY
from apps.common.errors import Refusal

F = TypeVar("F", bound=BaseForm)


def checked(form: F) -> F:
    """The form, once it is valid. Raises ValidationError with its sentences by field."""
    if not form.is_valid():
        raise ValidationError({name: [str(fault) for fault in faults] for name, faults in form.errors.items()})
    return form


@contextmanager
def refusals_shown(form: BaseForm, field: str | None = None) -> Iterator[None]:
    """Show why an action was refused as an error of the form, or of a field of it."""
    try:
        yield
    except Refusal as refusal:
        form.add_error(field, refusal.sentence)


MOST_NAMED = 30


class ChoiceField(serializers.ChoiceField):
    """Whoever sends another value is told which there are."""

    def fail(self, key: str, **values: Any) -> Any:
        if key == "invalid_choice" and len(self.choices) <= MOST_NAMED:
            known = ", ".join(map(str, self.choices))
            raise serializers.ValidationError(f'"{values["input"]}" is none of: {known}.', code=key)
        super().fail(key, **values)


class KeyField(serializers.IntegerField):
    """The key of a row, as far as a column can hold one."""

    def __init__(self, **about: Any) -> None:
        super().__init__(min_value=1, max_value=LARGEST_KEY, **about)


def body_fields(
    form: type[forms.Form], *, only: Container[str] | None = None, but: Container[str] = (), **about: Any
) -> dict[str, serializers.Field]:
    """The fields of a form, but those named, or `only` those, for a body of the API and for its description.

    What the form proposes may be left out. A choice that is offered per request is a text here: the form decides.
    Raises TypeError for a kind of field that no body has.
    """
    chosen = [name for name in form.base_fields if name not in but and (only is None or name in only)]
    return {name: _as_serialized(form.base_fields[name], about) for name in chosen}


def _as_serialized(field: forms.Field, about: dict[str, Any]) -> serializers.Field:
    about = {
        "help_text": field.help_text or str(field.label or ""),
        "required": field.required and field.initial is None,
        **about,
    }
    if isinstance(field, forms.BooleanField):
        return serializers.BooleanField(**about)
    if isinstance(field, forms.IntegerField):  # one of floats is one too
        number = serializers.FloatField if isinstance(field, forms.FloatField) else serializers.IntegerField
        about["allow_null"] = not field.required and field.initial is None  # empty says something else than a number
        return number(**about, **{name: getattr(field, name) for name in ("min_value", "max_value")})
    if isinstance(field, forms.ChoiceField) and (choices := list(cast(Iterable[Any], field.choices))):
        if isinstance(field, forms.MultipleChoiceField):
            return serializers.ListField(child=ChoiceField(choices=choices), **about)
        return ChoiceField(choices=choices, **about)
    if isinstance(field, (forms.CharField, forms.ChoiceField)):
        about |= {"max_length": getattr(field, "max_length", None), "trim_whitespace": getattr(field, "strip", True)}
        return serializers.CharField(allow_blank=not field.required, **about)
    raise TypeError(f"no field of a body is like {type(field).__name__}")


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


def parsed(written: str, parse: Callable[[str], Any]) -> str:
    """What was written, as it is, once it can be parsed; "" stays. Raises ValidationError."""
    try:
        parse(written) if written else None
    except ValueError as fault:
        message = str(fault).rstrip(".")
        raise forms.ValidationError(f"{message[:1].upper()}{message[1:]}.") from fault
    return written
