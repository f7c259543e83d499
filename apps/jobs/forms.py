"""Forms for mail to a person and for webhooks."""

from typing import Any

from django import forms

from apps.accounts.models import Project
from apps.accounts.selectors import secrets_in
from apps.common.web.addresses import LONGEST_URL
from apps.common.web.forms import KaratForm, offer
from apps.jobs.enums import MailHow, WebhookEvent
from apps.jobs.models import MailChoice

HOURS = range(25)
NEW = "(new)"  # the name of no secret


class MailForm(KaratForm):
    """How and when a person gets mail."""

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
            self.add_error("to_hour", "The end must be later than the start.")
        return values


class WebhookForm(KaratForm):
    """The address of a webhook, the events that it gets, and the secret that signs its messages."""

    url = forms.CharField(max_length=LONGEST_URL, label="Address", help_text="Such as https://ci.example.org/karat.")
    events = forms.MultipleChoiceField(
        label="Send a message when", choices=WebhookEvent.choices, widget=forms.CheckboxSelectMultiple
    )
    secret = forms.ChoiceField(
        help_text="Signs the messages. The receiver needs its value; that of a new one is shown once."
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, initial={"events": WebhookEvent.values}, **kwargs)
        names = secrets_in(project).values_list("name", flat=True)
        offer(self, "secret", [(NEW, "Make a new one"), *((name, name) for name in names)])
        self.fields["url"].widget.attrs["class"] = "input id"

    def clean_secret(self) -> str:
        """The name of a secret, "" for a new one."""
        chosen = self.cleaned_data["secret"]
        return "" if chosen == NEW else chosen
