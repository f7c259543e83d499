"""The form that settles many pairs by a rule."""

from django import forms

from apps.common.web.forms import KaratForm
from apps.judging.enums import ErrorType


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
