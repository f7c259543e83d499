"""What reviewers, authors and leads send."""

import uuid
from typing import Any

from django import forms

from apps.common.forms import KaratForm
from apps.review.actions import Claim, Decision
from apps.review.enums import Category, Choice, Reason

NOTE_LENGTH = 4000


class VerdictForm(forms.Form):
    """One answer. What belongs together is said by the rules; here only what the fields can hold."""

    revision = forms.IntegerField(max_value=2**63 - 1, widget=forms.HiddenInput())
    key = forms.CharField(max_length=64, widget=forms.HiddenInput())
    choice = forms.ChoiceField(choices=Choice.choices)
    reasons = forms.MultipleChoiceField(choices=Reason.choices, required=False)
    category = forms.ChoiceField(choices=[("", ""), *Category.choices], required=False)
    note = forms.CharField(required=False, max_length=NOTE_LENGTH)

    def verdict(self) -> dict[str, Any]:
        """The answer, a confirmation without what was ticked before the reviewer confirmed after all."""
        data = self.cleaned_data
        is_flag = data["choice"] == Choice.FLAG
        return {
            "revision_id": data["revision"],
            "choice": data["choice"],
            "reasons": data["reasons"] if is_flag else [],
            "category": data["category"] if is_flag else "",
            "note": data["note"],
            "idempotency_key": data["key"],
        }


def fresh_key() -> str:
    return uuid.uuid4().hex


class MessageForm(KaratForm):
    text = forms.CharField(max_length=8000, required=False, widget=forms.Textarea(attrs={"rows": 2}))


class ReasonForm(KaratForm):
    reason = forms.CharField(max_length=4000, required=False, widget=forms.Textarea(attrs={"rows": 3}))


class PolicyForm(KaratForm):
    policy = forms.ChoiceField(choices=Category.choices)


class AdjudicateForm(ReasonForm):
    decision = forms.ChoiceField(choices=[(decision.value, decision.value) for decision in Decision])


class SplitForm(KaratForm):
    """Two claims, and a third when it is needed."""

    question_1 = forms.CharField(label="First question", max_length=2000, required=False)
    answer_1 = forms.CharField(label="Its answer", max_length=8000, required=False)
    question_2 = forms.CharField(label="Second question", max_length=2000, required=False)
    answer_2 = forms.CharField(label="Its answer", max_length=8000, required=False)
    question_3 = forms.CharField(label="Third question", max_length=2000, required=False)
    answer_3 = forms.CharField(label="Its answer", max_length=8000, required=False)

    def claims(self) -> list[Claim]:
        pairs = [(self.cleaned_data[f"question_{n}"], self.cleaned_data[f"answer_{n}"]) for n in (1, 2, 3)]
        return [Claim(question, answer) for question, answer in pairs if question.strip() or answer.strip()]
