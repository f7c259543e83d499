from typing import Any

from django import forms

from apps.common.forms import KaratForm
from apps.evaluation.actions import DEFAULT_MEASURES
from apps.evaluation.measures import parse_measures
from apps.evaluation.models import RegressionNote
from apps.evaluation.notation import MeasureError
from apps.evaluation.rules import EVERY_SPLIT, SPLIT_WORDS
from apps.evaluation.selectors import scorable_runs
from apps.goldsets.models import Version


class ScoreForm(KaratForm):
    """Which runs to score on a version, and with what."""

    runs = forms.TypedMultipleChoiceField(coerce=int, widget=forms.CheckboxSelectMultiple, label="Runs")
    measures = forms.CharField(max_length=400, initial=DEFAULT_MEASURES)
    split = forms.ChoiceField(choices=[(key, word) for key, word in SPLIT_WORDS.items()], required=False)

    def __init__(self, *args: Any, version: Version, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(run.pk, f"{run.tag}, {run.system.name}") for run in scorable_runs(version)]
        self.fields["runs"].choices = choices  # type: ignore[attr-defined]
        self.fields["measures"].widget.attrs["class"] = "input id"
        self.fields["split"].initial = kwargs.get("initial", {}).get("split", EVERY_SPLIT)

    def clean_measures(self) -> str:
        text = self.cleaned_data["measures"]
        try:
            parse_measures(text)
        except MeasureError as fault:
            raise forms.ValidationError(str(fault)) from fault
        return text


class PairForm(KaratForm):
    """The two evaluations of a comparison."""

    baseline = forms.IntegerField(min_value=1)
    candidate = forms.IntegerField(min_value=1)


class DropForm(KaratForm):
    """What becomes of a query that fell."""

    measure = forms.CharField(max_length=80)
    query = forms.CharField(max_length=200)
    decision = forms.ChoiceField(choices=RegressionNote.Decision.choices)
    explanation = forms.CharField(max_length=2_000, required=False)
