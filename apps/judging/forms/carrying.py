"""The form that carries grades over."""

from django import forms

from apps.common.web.forms import KaratForm
from apps.judging.selectors.carrying import CarryRule


class CarryForm(KaratForm):
    """The rule that carries grades over, and the mark of the pairs that were shown."""

    rule = forms.ChoiceField(choices=[(rule, rule) for rule in CarryRule])
    seen = forms.CharField(max_length=64)
