"""Forms that choose runs and measures to score and to compare."""

from collections.abc import Iterable
from typing import Any

from django import forms

from apps.common.web.forms import KaratForm, offer
from apps.evaluation.models import RegressionNote, RunNote
from apps.evaluation.rules import (
    EVERY_SPLIT,
    LONGEST_COMMIT,
    SPLIT_WORDS,
    figures_refusal,
    grades_refusal,
    names_for_versions,
    usual_measures,
    version_measures,
)
from apps.evaluation.selectors.evaluations import SlicePart, ladder_shown, last_asked, requested_on, scorable_runs
from apps.goldsets.enums import Split
from apps.goldsets.models import Version
from apps.goldsets.selectors.slices import slices_of
from apps.metrics.expected.rules import BY_GRADES, counts_questions, is_by_text
from apps.metrics.measures.notation import MeasureError
from apps.metrics.measures.registry import DEFAULT_MEASURES
from apps.metrics.statistics.usage import PRICES, priced
from apps.retrieval.models import Run

PRICE = "price_"


def known_measures(hit: str) -> str:
    """The hint below the measures of a form."""
    if counts_questions(hit):
        return f"By Q&As: {', '.join(names_for_versions(hit))}, each with @ and a number but RR."
    if is_by_text(hit):
        return f"Of grades: {', '.join(names_for_versions(hit))}. Those of words begin with Token."
    return f"Also P(rel=2)@5 or nDCG(dcg='exp-log2')@10. Known here: {', '.join(names_for_versions())}."


def _known_measures(text: str, hit: str = BY_GRADES) -> str:
    try:
        version_measures(text, hit)
    except MeasureError as fault:
        raise forms.ValidationError(str(fault)) from fault
    return text


def runs_offered(runs: Iterable[Run]) -> list[tuple[int, str]]:
    """Runs to choose from, by tag and system."""
    return [(run.pk, f"{run.tag}, {run.system.name}") for run in runs]


class RunsForm(KaratForm):
    """Complete runs, with the measures and the split of the version to show them by."""

    runs = forms.TypedMultipleChoiceField(
        coerce=int,
        widget=forms.CheckboxSelectMultiple,
        label="Runs",
        error_messages={"required": "Choose at least one run."},
    )
    measures = forms.CharField(max_length=400, initial=DEFAULT_MEASURES)
    split = forms.ChoiceField(choices=[(key, word) for key, word in SPLIT_WORDS.items()], required=False)

    def __init__(self, *args: Any, version: Version, hit: str = BY_GRADES, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.hit = hit
        self.known = scorable_runs(version, hit)
        offer(self, "runs", runs_offered(self.known))
        self.fields["measures"].widget.attrs["class"] = "input id"

    def clean_measures(self) -> str:
        return _known_measures(self.cleaned_data["measures"], self.hit)


class ScoreForm(RunsForm):
    """Runs to score on a version by grades or a hit rule, initially those in `chosen`.

    Else those without a score on the split or slice, and without such those that were asked for last: to be scored by
    other measures, or on another split. A step lets no run be tried on test twice, so there none is. The measures are
    initially those of the last request.
    """

    slice = forms.ChoiceField(label="Questions", required=False, help_text="A slice has dev questions only.")

    def __init__(
        self, *args: Any, version: Version, hit: str = BY_GRADES, part: SlicePart | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, version=version, hit=hit, **kwargs)
        offered = [(one.name, f"{one.words} slice") for one in slices_of(version)]
        offer(self, "slice", [("", "all of the split"), *offered])
        self.fields["slice"].initial = part.slice.name if part else ""
        self.version = version
        self.fields["measures"].help_text = known_measures(hit)
        split = kwargs.get("initial", {}).get("split", EVERY_SPLIT)
        self.fields["split"].initial = split
        requested = {one.run_id for one in requested_on(version, split, hit, part)}
        if ladder := ladder_shown(version, split, hit):
            requested |= set(ladder.sealed.values())
        known, last = [run.pk for run in self.known], last_asked(version, hit)
        meant = [pk for pk in known if str(pk) in kwargs.get("initial", {}).get("chosen", ())]
        again = [] if ladder else [pk for pk in known if pk in last.runs]
        self.fields["runs"].initial = meant or [pk for pk in known if pk not in requested] or again
        proposed = [run for run in self.known if run.pk in self.fields["runs"].initial]
        self.fields["measures"].initial = usual_measures(proposed, version, hit, last.measures)

    def clean_measures(self) -> str:
        text = super().clean_measures()
        if not counts_questions(self.hit) and (
            reason := grades_refusal(version_measures(text, self.hit), self.version)
        ):
            raise forms.ValidationError(reason)
        return text

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if values.get("slice") and values.get("split") == Split.TEST:
            self.add_error("split", "A slice has dev questions only. Choose dev.")
        return values


class PairForm(KaratForm):
    """The two evaluations of a comparison."""

    baseline = forms.IntegerField(min_value=1)
    candidate = forms.IntegerField(min_value=1)


class PlanForm(KaratForm):
    """The number of queries, or questions, at which the fixed test of a comparison decides by a measure."""

    measure = forms.CharField(max_length=80)
    queries = forms.IntegerField(min_value=1)


class DropForm(KaratForm):
    """A decision on a query whose score fell."""

    measure = forms.CharField(max_length=80)
    query = forms.CharField(max_length=200)
    decision = forms.ChoiceField(choices=RegressionNote.Decision.choices)
    explanation = forms.CharField(max_length=2_000, required=False)
    then = forms.ChoiceField(choices=[("next", "on to the next open drop")], required=False)


class RestForm(KaratForm):
    """The split on which to score all runs without the measure; without any measure, where none is named."""

    hit = forms.CharField(max_length=60, required=False)
    split = forms.ChoiceField(choices=[(key, word) for key, word in SPLIT_WORDS.items()], required=False)
    measure = forms.CharField(max_length=200, required=False)


class LedgerForm(KaratForm):
    """The ledger entry of a run, initially with what was noted when the run was created."""

    tried = forms.CharField(
        max_length=4_000, required=False, widget=forms.Textarea(attrs={"rows": 3}), label="What changed"
    )
    commit = forms.CharField(max_length=LONGEST_COMMIT, required=False)
    configuration = forms.CharField(
        max_length=8_000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="What is not in the system’s own settings: flags, model versions, the machine.",
    )
    cost = forms.DecimalField(
        min_value=0,
        max_digits=12,
        decimal_places=4,
        required=False,
        label="Cost of 1,000 queries",
        help_text="Use one currency for all runs of the project. Leave it empty where prices are given.",
    )
    verdict = forms.CharField(
        max_length=4_000, required=False, widget=forms.Textarea(attrs={"rows": 3}), label="Outcome"
    )
    figures = forms.CharField(
        max_length=4_000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        label="Outside figures",
        help_text="What was measured elsewhere, one a line, such as “clicks = 0.31”. The Trend page compares them.",
    )

    def __init__(self, *args: Any, run: Run, note: RunNote | None, **kwargs: Any) -> None:
        given: dict[str, Any] = {"tried": run.note, "commit": run.commit}
        if note is not None:
            given = {name: getattr(note, name) for name in ("tried", "commit", "configuration", "cost", "verdict")}
            given |= {PRICE + name: price for name, price in (note.prices or {}).items()}
            given["cost"] = None if note.prices else note.cost
            given["figures"] = "\n".join(f"{name} = {value}" for name, value in (note.figures or {}).items())
        super().__init__(*args, initial=given, **kwargs)
        self.fields["commit"].widget.attrs["class"] = "input id"
        for name in priced(run.usage, run.latency.get("mean")):
            self.fields[PRICE + name] = forms.DecimalField(
                min_value=0,
                max_digits=12,
                decimal_places=6,
                required=False,
                label=f"Price of {PRICES[name]}",
                widget=forms.NumberInput(attrs={"class": "input", "step": "any", "inputmode": "decimal"}),
            )
        prices = [name for name in self.fields if name.startswith(PRICE)]
        self.order_fields(["tried", "commit", "configuration", "cost", *prices])

    def clean_figures(self) -> dict[str, float]:
        figures: dict[str, float] = {}
        for number, line in enumerate(self.cleaned_data["figures"].splitlines(), 1):
            name, sign, written = (part.strip() for part in line.rpartition("="))
            if not line.strip():
                continue
            if not sign or name in figures:
                reason = "is there twice" if sign else "is not “name = number”, such as “clicks = 0.31”"
                raise forms.ValidationError(f"Line {number}: “{name if sign else written}” {reason}.")
            try:
                figures[name] = float(written)
            except ValueError:
                raise forms.ValidationError(f"Line {number}: {name} is “{written}”, which is no number.") from None
        if refusal := figures_refusal(figures):
            raise forms.ValidationError(refusal)
        return figures

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        names = [name for name in PRICES if PRICE + name in self.fields]
        prices = {name: values.pop(PRICE + name, None) for name in names}
        values["prices"] = {name: price for name, price in prices.items() if price is not None}
        if values["prices"] and values.get("cost") is not None:
            self.add_error("cost", "Give the cost of 1,000 queries or prices, not both.")
        return values
