"""Forms of judging: a grade without script, keys, and the decisions of a lead on one pair or on many."""

from collections.abc import Sequence
from typing import Any

from django import forms

from apps.common.web.forms import KaratForm, offer
from apps.judging.core import keymap
from apps.judging.core.resolution import Answer
from apps.judging.enums import CantJudgeReason, ErrorType
from apps.judging.selectors.propagation import CarryRule


class SettleForm(KaratForm):
    """One decision on many pairs: why their judges differed, the rule, and the mark of the pairs that were shown."""

    rule = forms.CharField(widget=forms.HiddenInput)
    seen = forms.CharField(max_length=64, widget=forms.HiddenInput)
    error_type = forms.ChoiceField(
        label="Why the judges differed",
        choices=[("", "choose"), *ErrorType.choosable()],
        error_messages={"required": "Choose why the judges differed."},
    )
    words = forms.CharField(
        label="In your words",
        required=False,
        max_length=1_000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Added to the reason of every decision, after the rule.",
    )


class CarryForm(KaratForm):
    """The rule that carries grades over, and the mark of the pairs that were shown."""

    rule = forms.ChoiceField(choices=[(rule, rule) for rule in CarryRule])
    seen = forms.CharField(max_length=64)


class GradeForm(forms.Form):
    """One grade from the judging screen without script."""

    seat = forms.IntegerField(min_value=1)
    key = forms.CharField(max_length=64)
    grade = forms.TypedChoiceField(required=False, coerce=int, empty_value=None)
    cant_judge = forms.ChoiceField(required=False, choices=[("", ""), *CantJudgeReason.choices])
    note = forms.CharField(required=False, max_length=10_000)
    spans = forms.JSONField(required=False)

    def __init__(self, *args: Any, scale: Sequence[int], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, "grade", [(grade, str(grade)) for grade in scale])

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if (data.get("grade") is None) == (not data.get("cant_judge")):
            raise forms.ValidationError("A judgement is either a grade or a reason.")
        return data

    def answer(self) -> Answer:
        """The validated answer, for the action."""
        data = self.cleaned_data
        spans = data["spans"] or []
        return Answer(grade=data["grade"], cant_judge=data["cant_judge"], note=data["note"], spans=spans)


class KeysForm(KaratForm):
    """A key for each act of the judging screen; `choose_keys` validates them together."""

    digits_are_free = forms.BooleanField(
        required=False,
        label="Allow digit keys for other actions",
        help_text="Otherwise 2 is always grade 2.",
    )

    def __init__(self, *args: Any, scale: Sequence[dict[str, Any]], chosen: dict[str, str], **kwargs: Any) -> None:
        kwargs.setdefault("initial", {"digits_are_free": keymap.frees_digits(chosen)})
        super().__init__(*args, **kwargs)
        now = keymap.keys_of(chosen)
        names = {f"grade_{entry['grade']}": f"{entry['grade']}, {entry['name']}" for entry in scale}
        self.acts = keymap.acts_for(entry["grade"] for entry in scale)
        for act in self.acts:
            # At most one character as typed, of one or more code points; the action validates it.
            attrs = {
                "class": "input key-input", "maxlength": 4, "autocomplete": "off", "autocapitalize": "none",
                "spellcheck": "false", "data-cap": "",
            }  # fmt: skip
            self.fields[act.name] = forms.CharField(
                label=names.get(act.name, act.words), initial=now[act.name], widget=forms.TextInput(attrs=attrs),
                error_messages={"required": f"Enter a key. The default is {act.usual}."},
            )  # fmt: skip

    @property
    def parts(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The fields under their headings, in order."""
        parts: dict[str, list[forms.BoundField]] = {"Grades": [], "Can’t judge": [], "Other actions": []}
        reasons = {"cant_judge", *CantJudgeReason.values}
        for act in self.acts:
            part = "Grades" if act in keymap.GRADES else "Can’t judge" if act.name in reasons else "Other actions"
            parts[part].append(self[act.name])
        return list(parts.items())

    @property
    def keys(self) -> dict[str, str]:
        """The key of each act; call on a valid form."""
        return {act.name: self.cleaned_data[act.name] for act in self.acts}

    def blame(self, faults: dict[str, str]) -> None:
        """Add each fault to the field of its key."""
        for name, sentence in faults.items():
            self.add_error(name, sentence)


class AdjudicationForm(KaratForm):
    """A decision: a grade or "can't be judged", the reason, and why the judges differed."""

    CANT = "x"

    grade = forms.ChoiceField(error_messages={"required": "Choose a grade, or that the pair can’t be judged."})
    error_type = forms.ChoiceField(
        choices=ErrorType.choosable(), error_messages={"required": "Choose why the judges differed."}
    )
    reason = forms.CharField(
        max_length=4_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": "A decision needs a reason in words."},
    )

    def __init__(self, *args: Any, scale: Sequence[int], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [*((str(grade), str(grade)) for grade in scale), (self.CANT, "can’t be judged")]
        offer(self, "grade", choices)

    @property
    def decided(self) -> int | None:
        """The grade, None for "can't be judged"; call on a valid form."""
        value = self.cleaned_data["grade"]
        return None if value == self.CANT else int(value)
