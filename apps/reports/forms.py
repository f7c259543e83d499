"""Forms for bias and stability reports, for a pool of what to judge first, and for negatives."""

from collections.abc import Iterable
from typing import Any

from django import forms

from apps.common.web.forms import KaratForm, offer
from apps.evaluation.forms import RunsForm, runs_offered
from apps.evaluation.rules import SPLIT_WORDS
from apps.goldsets.enums import Split
from apps.goldsets.models import Version
from apps.metrics.measures.registry import DEFAULT_MEASURES
from apps.metrics.statistics.significance import DEFAULT_SEED
from apps.reports.core.negatives import NegativesChoice
from apps.reports.rules import DEEPEST_REPORT, MOST_FIRST, MOST_NEGATIVES, MOST_RUNS
from apps.reports.selectors.analyses import has_finders
from apps.retrieval.enums import SystemKind
from apps.retrieval.models import Run

USUAL_DEPTH = 10
LARGEST_SEED = 2**31 - 1


class BiasForm(RunsForm):
    """Which runs to compare with each system left out."""

    measures = forms.CharField(
        max_length=400, initial=DEFAULT_MEASURES, help_text="The first one also decides what to judge first."
    )
    depth = forms.IntegerField(
        min_value=0,
        max_value=DEEPEST_REPORT,
        label="Source of a pair",
        help_text="0: the runs named in the pools of this version's rounds. Another number: every run that ranks the "
        "pair that high, for grades without a known pool.",
    )

    def __init__(self, *args: Any, version: Version, **kwargs: Any) -> None:
        super().__init__(*args, version=version, **kwargs)
        self.fields["runs"].initial = [run.pk for run in self.known]
        self.fields["depth"].initial = 0 if has_finders(version) else USUAL_DEPTH


class StabilityForm(RunsForm):
    """Which runs to order under each person's grades."""

    def __init__(self, *args: Any, version: Version, **kwargs: Any) -> None:
        super().__init__(*args, version=version, **kwargs)
        self.fields["runs"].initial = [run.pk for run in self.known[:MOST_RUNS]]


class FirstForm(KaratForm):
    """How many unjudged blocks to judge first."""

    most = forms.IntegerField(min_value=1, max_value=MOST_FIRST, label="Passages")


class NegativesForm(KaratForm):
    """A baseline, and how many negatives to propose for each query of a version."""

    run = forms.TypedChoiceField(coerce=int, label="Baseline")
    hard = forms.IntegerField(min_value=0, max_value=MOST_NEGATIVES, initial=10, label="Hard ones per query")
    easy = forms.IntegerField(min_value=0, max_value=MOST_NEGATIVES, initial=5, label="Easy ones per query")
    depth = forms.IntegerField(min_value=1, max_value=DEEPEST_REPORT, initial=100, label="Ranks that count as high")
    seed = forms.IntegerField(min_value=0, max_value=LARGEST_SEED, initial=DEFAULT_SEED)
    split = forms.ChoiceField()

    def __init__(self, *args: Any, runs: Iterable[Run], is_lead: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.runs = sorted(runs, key=lambda run: (run.system.kind != SystemKind.BM25, run.tag))
        offer(self, "run", runs_offered(self.runs))
        self.fields["run"].initial = self.runs[0].pk if self.runs else None
        splits = SPLIT_WORDS if is_lead else {Split.DEV: SPLIT_WORDS[Split.DEV]}
        offer(self, "split", splits.items())
        self.fields["split"].required = not is_lead
        self.fields["split"].initial = Split.DEV.value

    @property
    def baseline(self) -> Run:
        """The run that a valid form names."""
        return next(run for run in self.runs if run.pk == self.cleaned_data["run"])

    @property
    def choice(self) -> NegativesChoice:
        values = self.cleaned_data
        return NegativesChoice(values["hard"], values["easy"], values["depth"], values["seed"])
