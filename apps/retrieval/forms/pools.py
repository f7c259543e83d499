"""The forms of new and growing pools."""

from typing import Any

from django import forms
from django.utils.text import capfirst

from apps.accounts.models import Project
from apps.common.web.forms import KaratForm, offer_rows
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import snapshots_in
from apps.retrieval import rules
from apps.retrieval.core.sampling import PoolPlan, plan_of
from apps.retrieval.enums import ADAPTIVE, BUILT_IN, WITHOUT_BUDGET, PoolMethod
from apps.retrieval.forms.runs import QueryChoiceForm, RunsField, SnapshotField, count_field, depth_field, number_input
from apps.retrieval.models import Pool, Run, System
from apps.retrieval.selectors.pools import pool_runs
from apps.retrieval.selectors.question_sets import query_sets
from apps.retrieval.selectors.runs import complete_runs_on
from apps.retrieval.selectors.systems import engines_in

IN_SIGHT = frozenset({"name", "snapshot", "systems", "runs", "built_in", "depth"})
"""The fields of a new pool that are not under Advanced."""


class SamplingForm(KaratForm):
    """The numbers of blocks that are sampled in addition to those that runs found."""

    random = count_field(
        "Random passages", "Per query, from outside the pool. They let you estimate what the pool misses."
    )
    edge = count_field("Random from just below", "Per query, from results ranked below the pool.")
    easy = count_field("Easy negatives", "Per query, from far down the rankings; counted as not relevant until judged.")

    @property
    def sampling_fields(self) -> list[forms.BoundField]:
        return [self["random"], self["edge"], self["easy"]]

    def counts(self, *names: str) -> dict[str, Any]:
        return {name: self.cleaned_data.get(name) or 0 for name in names}


class PoolForm(SamplingForm, QueryChoiceForm):
    """The systems and complete runs of a new pool, and how its pairs are chosen."""

    sets_of = staticmethod(query_sets)
    name = forms.CharField(max_length=120, required=False)
    snapshot = SnapshotField(Snapshot.objects.none(), empty_label=None)
    systems = forms.ModelMultipleChoiceField(System.objects.none(), required=False, widget=forms.CheckboxSelectMultiple)
    runs = RunsField(Run.objects.none(), required=False, widget=forms.CheckboxSelectMultiple)
    built_in = forms.BooleanField(
        label="BM25 and TF-IDF",
        required=False,
        help_text="Two ways of searching that are built in. Karat sets both up, and runs them first.",
    )
    depth = depth_field(
        10, "How many top results of each are judged. With a budget: how many it chooses from.", label="How deep"
    )
    method = forms.ChoiceField(
        label="Method",
        choices=[
            *((one.value, capfirst(one.label)) for one in PoolMethod if one not in ADAPTIVE),
            *((one.value, capfirst(one.label)) for one in ADAPTIVE),
        ],
        required=False,
        initial=PoolMethod.DEPTH.value,
        help_text="A budget limits the number of pairs. A random sample estimates P@k, and nothing else. Adaptive"
        " methods choose by the grades so far: start with a part of the budget, have it judged, then grow the pool.",
    )
    pairs = count_field("Budget", "How many pairs to choose from the runs.", rules.LARGEST_BUDGET)
    each = forms.ChoiceField(
        label="Applies to",
        choices=[("query", "each query"), ("all", "all queries together")],
        required=False,
        initial="query",
        help_text="All together: queries with more relevant passages get more pairs.",
    )
    half_width = forms.FloatField(
        label="Precision wanted",
        min_value=0.005,
        max_value=0.5,
        required=False,
        initial=0.1,
        help_text="Of P@k, k being the depth: ± so much, with 95 % confidence. The page then says what it costs.",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=2**31 - 1,
        required=False,
        initial=0,
        widget=number_input(),
        help_text="The same seed gives the same sample.",
    )
    same_once = forms.BooleanField(
        label="Judge duplicate texts only once",
        required=False,
        help_text="Of passages with the same or nearly the same text, people judge the one ranked best. A lead can"
        " carry its grade over to the others.",
    )

    def __init__(self, *args: Any, project: Project, snapshot: Snapshot | None, **kwargs: Any) -> None:
        super().__init__(*args, project=project, **kwargs)
        systems = engines_in(project)
        offer_rows(self, "snapshot", snapshots_in(project))
        offer_rows(self, "systems", systems)
        if systems.exists():
            del self.fields["built_in"]
        if snapshot is not None:
            offer_rows(self, "runs", complete_runs_on(snapshot))

    @property
    def is_advanced(self) -> bool:
        """Whether a field under Advanced has another value than its default, or an error."""
        return any(
            self[name].errors or str(self[name].value() or "") != str(self.fields[name].initial or "")
            for name in self.fields
            if name not in IN_SIGHT
        )

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        if values.get("method") not in {None, "", *WITHOUT_BUDGET} and not values.get("pairs"):
            self.add_error("pairs", "Enter the budget: how many pairs.")
        return values

    @property
    def sources(self) -> list[System]:
        """The chosen systems of a valid form; those that are built in are not saved while they do not exist."""
        made = [System(name=kind.label, kind=kind) for kind in BUILT_IN] if self.cleaned_data.get("built_in") else []
        return [*self.cleaned_data["systems"], *made]

    @property
    def plan(self) -> PoolPlan:
        """The plan of a valid form. The defaults are the plain union and the seed 0."""
        values = self.cleaned_data
        method = values.get("method") or PoolMethod.DEPTH.value
        budget = 0 if method in WITHOUT_BUDGET else values["pairs"]
        counts = self.counts("random", "edge", "easy", "seed")
        same_once = bool(values.get("same_once"))
        return PoolPlan(method=method, pairs=budget, each=values.get("each") != "all", same_once=same_once, **counts)


class GrowForm(SamplingForm):
    """Additions to a pool: systems, complete runs on its snapshot, a greater depth, and more pairs."""

    systems = forms.ModelMultipleChoiceField(System.objects.none(), required=False, widget=forms.CheckboxSelectMultiple)
    runs = RunsField(Run.objects.none(), required=False, widget=forms.CheckboxSelectMultiple)
    depth = depth_field(20, "It can only grow: a pool never loses pairs.")
    pairs = count_field("Pairs to add", "", rules.LARGEST_BUDGET)

    def __init__(self, *args: Any, pool: Pool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        runs = pool_runs(pool)
        offer_rows(self, "systems", engines_in(pool.project).exclude(pk__in=[run.system_id for run in runs]))
        offer_rows(self, "runs", complete_runs_on(pool.snapshot).exclude(pk__in=[run.pk for run in runs]))
        self.fields["depth"].initial = pool.depth
        plan = plan_of(pool.plan)
        if not plan.has_budget:
            del self.fields["pairs"]
        else:
            self.fields["pairs"].help_text = "Per query." if plan.each else "In all queries together."
        if plan.random and not plan.edge:
            del self.fields["edge"]

    @property
    def sampling_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in ("random", "edge", "easy") if name in self.fields]

    @property
    def more(self) -> PoolPlan:
        """The counts to add to the pool's plan."""
        return PoolPlan(**self.counts("pairs", "random", "edge", "easy"))
