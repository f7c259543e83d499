from typing import Any

from django import forms

from apps.common.forms import KaratForm
from apps.jobs.enums import MailHow
from apps.jobs.models import MailChoice

HOURS = range(25)


class MailForm(KaratForm):
    """How and when a person is told by mail."""

    how = forms.ChoiceField(label="Mail", choices=MailHow.choices, widget=forms.RadioSelect)
    from_hour = forms.TypedChoiceField(label="From", choices=[(h, f"{h}:00") for h in HOURS[:-1]], coerce=int)
    to_hour = forms.TypedChoiceField(label="To", choices=[(h, f"{h}:00") for h in HOURS[1:]], coerce=int)
    weekdays_only = forms.BooleanField(label="Monday to Friday only", required=False)

    def __init__(self, *args: Any, choice: MailChoice, **kwargs: Any) -> None:
        names = ("how", "from_hour", "to_hour", "weekdays_only")
        super().__init__(*args, initial={name: getattr(choice, name) for name in names}, **kwargs)

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if values.get("from_hour", 0) >= values.get("to_hour", 24):
            self.add_error("to_hour", "The hours end after they begin. Choose a later one.")
        return values
