"""The one look of every form field."""

from typing import Any

from django import forms


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
