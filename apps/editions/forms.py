"""The forms that decide about a changed passage, and that take the edition with all choices."""

from django import forms

from apps.common.web.forms import KaratForm
from apps.editions.enums import Choice

DECISION = "passage-"
MOST_DIGITS = 18


class DecisionForm(KaratForm):
    """What happens to the grades of one old text, by its block version, when it becomes the new one."""

    version = forms.IntegerField(min_value=1, max_value=10**MOST_DIGITS)
    text = forms.RegexField(r"^[0-9a-f]{64}$")
    choice = forms.ChoiceField(choices=Choice.choices)


class TakeForm(KaratForm):
    """What a lead decided about changed passages: a field `passage-<block>` for each that the page showed."""

    shown = forms.CharField(max_length=64)
    rest = forms.ChoiceField(choices=[("", ""), *Choice.choices], required=False)
    later = forms.BooleanField(required=False)

    def decided(self) -> dict[int, Choice]:
        """The choices by block; fields that name no block or no choice are left out."""
        fields = ((name.removeprefix(DECISION), self.data[name]) for name in self.data if name.startswith(DECISION))
        return {int(block): Choice(word) for block, word in fields if _is_key(block) and word in Choice.values}


def _is_key(text: str) -> bool:
    return text.isdecimal() and len(text) <= MOST_DIGITS
