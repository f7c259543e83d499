"""Forms of the quality tracker."""

from typing import Any

from django import forms

from apps.accounts.models import Project, User
from apps.calibration.selectors.comparisons import able_people
from apps.common.web.forms import KaratForm, offer_rows
from apps.queries.models import Source
from apps.review.enums import Category, RateSide, Reason
from apps.review.forms import NOTE_LENGTH
from apps.review.selectors.tracking import LogFilter

ANY = ("", "any")


class PersonChoice(forms.ModelChoiceField):
    """People of the project, former ones too. A value out of the column's range is nobody."""

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str) and value and not (value.isascii() and value.isdigit() and len(value) < 19):
            raise forms.ValidationError("There is no such person here.")
        return super().to_python(value)


class LogForm(KaratForm):
    """The filters of the log. No other input reaches a query."""

    author = PersonChoice(queryset=User.objects.none(), required=False, empty_label="any")
    reviewer = PersonChoice(queryset=User.objects.none(), required=False, empty_label="any")
    reason = forms.ChoiceField(choices=[ANY, *Reason.choices], required=False)
    category = forms.ChoiceField(choices=[ANY, *Category.choices], required=False, label="Kind")
    domain = forms.CharField(max_length=80, required=False)
    source = PersonChoice(queryset=Source.objects.none(), required=False, empty_label="any")
    month = forms.RegexField(
        r"^\d{4}-\d{2}$",
        required=False,
        widget=forms.TextInput(attrs={"placeholder": "2026-03", "inputmode": "numeric"}),
        error_messages={"invalid": "Write a month like 2026-03."},
    )
    origin = forms.ChoiceField(
        choices=[ANY, ("people", "people"), ("machine", "machine-written")], required=False, label="Written by"
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        people = User.objects.filter(memberships__project=project).distinct().order_by("name", "pk")
        offer_rows(self, "author", people)
        offer_rows(self, "reviewer", people)
        sources = Source.objects.filter(project=project).order_by("name")
        offer_rows(self, "source", sources)

    @property
    def narrowed(self) -> LogFilter:
        """The filters; invalid ones filter nothing, and the page shows so."""
        values = self.cleaned_data if self.is_valid() else {}
        chosen = {name: value for name, value in values.items() if value and name in LogFilter._fields}
        return LogFilter(**{name: getattr(value, "pk", value) for name, value in chosen.items()})


class OpenForm(KaratForm):
    """A lead opens a calibration by hand."""

    subject = PersonChoice(queryset=User.objects.none(), label="Person", empty_label="choose")
    side = forms.ChoiceField(choices=RateSide.choices, label="Role")
    partner = PersonChoice(queryset=User.objects.none(), label="Partner", empty_label="choose")
    reason = forms.CharField(max_length=300, required=False, label="Why")

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        people = able_people(project)
        offer_rows(self, "subject", people)
        offer_rows(self, "partner", people)


class TextForm(forms.Form):
    text = forms.CharField(max_length=NOTE_LENGTH, required=False)
