"""The form of a system that Karat runs itself."""

from typing import Any

from django import forms
from django.conf import settings

from apps.common.web.forms import KaratForm
from apps.retrieval.core.engines.encoder import model_names
from apps.retrieval.core.engines.registry import Parameter, parameters_of
from apps.retrieval.enums import BlockText

VALUE_LABELS = {
    "words_or_bigrams": "whole words; pairs of characters where a script has no blanks",
    "words": "whole words",
    "trigrams": "windows of three characters",
    "english": "English stop words",
    "german": "German stop words",
    "french": "French stop words",
    "spanish": "Spanish stop words",
    "none": "none",
    "s": "English plurals",
    "mean": "the mean of all",
    "cls": "the first token",
}


class SystemForm(KaratForm):
    """A system of one kind; its parameters are fields named `p_<parameter>`."""

    name = forms.CharField(max_length=120, help_text="Shown in tables, such as “BM25, long passages”.")
    words = forms.ChoiceField(label="Reads", choices=BlockText.choices)

    def __init__(self, *args: Any, kind: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kind = kind
        for parameter in (one for one in parameters_of(kind) if one.is_shown):
            self.fields[f"p_{parameter.name}"] = _parameter_field(parameter)

    @property
    def parameter_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith("p_")]

    @property
    def parameters(self) -> dict[str, Any]:
        return {name[2:]: value for name, value in self.cleaned_data.items() if name.startswith("p_")}


def _parameter_field(parameter: Parameter) -> forms.Field:
    if isinstance(parameter.default, bool):
        return forms.BooleanField(label=parameter.label, required=False, initial=parameter.default)
    if parameter.choices:
        choices = [(value, VALUE_LABELS.get(value, value)) for value in parameter.choices]
        select = forms.Select(attrs={"class": "input"})
        return forms.ChoiceField(label=parameter.label, choices=choices, initial=parameter.default, widget=select)
    if parameter.is_model:
        names = [(name, name) for name in model_names(settings.MODELS_DIR)]
        return forms.ChoiceField(label=parameter.label, choices=names, widget=forms.Select(attrs={"class": "input"}))
    if isinstance(parameter.default, str):
        return _text_field(parameter)
    low, high = parameter.low, parameter.high
    options: dict[str, Any] = {
        "label": parameter.label,
        "initial": parameter.default,
        "help_text": f"From {low:,.12g} to {high:,.12g}.",
    }
    attrs = {"class": "input", "step": "any", "inputmode": "decimal"}
    if not parameter.is_whole:
        return forms.FloatField(min_value=low, max_value=high, widget=forms.NumberInput(attrs=attrs), **options)
    attrs |= {"step": "1", "inputmode": "numeric"}
    return forms.IntegerField(min_value=int(low), max_value=int(high), widget=forms.NumberInput(attrs=attrs), **options)


def _text_field(parameter: Parameter) -> forms.Field:
    """A text that is not stripped, because a space at its end matters."""
    return forms.CharField(
        label=parameter.label,
        required=False,
        strip=False,
        max_length=parameter.longest,
        widget=forms.TextInput(attrs={"class": "input"}),
        help_text="Exactly as written, including spaces, such as “query: ”.",
    )
