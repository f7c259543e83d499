from collections.abc import Sequence
from typing import Any

from django import forms

from apps.judging.actions import Answer
from apps.judging.enums import CantJudgeReason


class GradeForm(forms.Form):
    """One grade from the judging screen when no script runs."""

    seat = forms.IntegerField(min_value=1)
    key = forms.CharField(max_length=64)
    grade = forms.TypedChoiceField(required=False, coerce=int, empty_value=None)
    cant_judge = forms.ChoiceField(required=False, choices=[("", ""), *CantJudgeReason.choices])
    note = forms.CharField(required=False, max_length=10_000)

    def __init__(self, *args: Any, scale: Sequence[int], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["grade"].choices = [(grade, str(grade)) for grade in scale]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if (data.get("grade") is None) == (not data.get("cant_judge")):
            raise forms.ValidationError("A judgement is either a grade or a reason.")
        return data

    def answer(self) -> Answer:
        """The validated answer, for the action."""
        data = self.cleaned_data
        return Answer(grade=data["grade"], cant_judge=data["cant_judge"], note=data["note"])
