"""What people say about systems, runs and pools."""

from typing import Any

from django import forms
from django.conf import settings

from apps.accounts.models import Project
from apps.common.forms import KaratForm, offer_rows
from apps.corpus.models import Snapshot
from apps.corpus.selectors import snapshots_in
from apps.queries.enums import Difficulty
from apps.queries.models import Source
from apps.retrieval import rules, selectors
from apps.retrieval.engines import Parameter, model_names, parameters_of
from apps.retrieval.enums import BlockText, PoolMethod
from apps.retrieval.models import Pool, Run, System
from apps.retrieval.sampling import PoolPlan, plan_of
from apps.retrieval.selectors import QueryChoice

WORDS = {
    "words": "whole words",
    "trigrams": "windows of three characters",
    "english": "English stop words",
    "german": "German stop words",
    "french": "French stop words",
    "spanish": "Spanish stop words",
    "none": "none",
    "s": "English plurals",
    "mean": "the mean of all",
    "cls": "that of the first token",
}


class SnapshotField(forms.ModelChoiceField):
    def label_from_instance(self, snapshot: Snapshot) -> str:
        return f"{snapshot.corpus.name}: {snapshot.name}, {snapshot.block_count:,} blocks"


class RunsField(forms.ModelMultipleChoiceField):
    def label_from_instance(self, run: Run) -> str:
        queries = "1 query" if run.query_count == 1 else f"{run.query_count:,} queries"
        return f"{run.tag}, {queries}, {run.depth:,} deep"


class SystemForm(KaratForm):
    """A system of one kind, with that kind's parameters as fields named `p_<parameter>`."""

    name = forms.CharField(max_length=120, help_text="As it stands in tables, such as “BM25, long blocks”.")
    words = forms.ChoiceField(label="Reads", choices=BlockText.choices)

    def __init__(self, *args: Any, kind: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kind = kind
        for parameter in (one for one in parameters_of(kind) if one.is_asked):
            self.fields[f"p_{parameter.name}"] = _parameter_field(parameter)

    @property
    def parameter_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith("p_")]

    @property
    def parameters(self) -> dict[str, Any]:
        return {name[2:]: value for name, value in self.cleaned_data.items() if name.startswith("p_")}


def _parameter_field(parameter: Parameter) -> forms.Field:
    if isinstance(parameter.default, bool):
        return forms.BooleanField(label=parameter.label, required=False, initial=parameter.default)
    if parameter.choices:
        choices = [(value, WORDS.get(value, value)) for value in parameter.choices]
        select = forms.Select(attrs={"class": "input"})
        return forms.ChoiceField(label=parameter.label, choices=choices, initial=parameter.default, widget=select)
    if parameter.is_model:
        names = [(name, name) for name in model_names(settings.MODELS_DIR)]
        return forms.ChoiceField(label=parameter.label, choices=names, widget=forms.Select(attrs={"class": "input"}))
    if isinstance(parameter.default, str):
        return _text_field(parameter)
    low, high = parameter.low, parameter.high
    said: dict[str, Any] = {
        "label": parameter.label,
        "initial": parameter.default,
        "help_text": f"From {low:,.12g} to {high:,.12g}.",
    }
    attrs = {"class": "input", "step": "any", "inputmode": "decimal"}
    if not parameter.is_whole:
        return forms.FloatField(min_value=low, max_value=high, widget=forms.NumberInput(attrs=attrs), **said)
    attrs |= {"step": "1", "inputmode": "numeric"}
    return forms.IntegerField(min_value=int(low), max_value=int(high), widget=forms.NumberInput(attrs=attrs), **said)


def _text_field(parameter: Parameter) -> forms.Field:
    """Taken to the letter: a blank at the end counts."""
    return forms.CharField(
        label=parameter.label,
        required=False,
        strip=False,
        max_length=parameter.longest,
        widget=forms.TextInput(attrs={"class": "input"}),
        help_text="To the letter, blanks too, such as “query: ”.",
    )


class QueryChoiceForm(KaratForm):
    """Fields that narrow the query set; left open they mean all queries."""

    source = forms.ModelChoiceField(Source.objects.none(), required=False, empty_label="All sources")
    domain = forms.ChoiceField(required=False)
    query_type = forms.ChoiceField(label="Type", required=False)
    difficulty = forms.ChoiceField(required=False, choices=[("", "All difficulties"), *Difficulty.choices])

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project
        self._field("source").queryset = Source.objects.filter(project=project).order_by("name")
        for name, everything in (("domain", "All domains"), ("query_type", "All types")):
            values = selectors.query_strata(project, name)
            self._field(name).choices = [("", everything), *((value, value) for value in values)]

    def _field(self, name: str) -> Any:
        return self.fields[name]

    @property
    def choice_fields(self) -> list[forms.BoundField]:
        return [self["source"], self["domain"], self["query_type"], self["difficulty"]]

    @property
    def choice(self) -> QueryChoice:
        source = self.cleaned_data.get("source")
        return QueryChoice(
            source_id=source.pk if source else None,
            domain=self.cleaned_data.get("domain", ""),
            difficulty=self.cleaned_data.get("difficulty", ""),
            query_type=self.cleaned_data.get("query_type", ""),
        )


def _depth_field(initial: int, help_text: str) -> forms.IntegerField:
    return forms.IntegerField(
        min_value=1,
        max_value=rules.DEEPEST,
        initial=initial,
        help_text=help_text,
        widget=forms.NumberInput(attrs={"class": "input"}),
    )


class RunForm(QueryChoiceForm):
    snapshot = SnapshotField(Snapshot.objects.none(), empty_label=None)
    depth = _depth_field(1_000, "Most results kept for a query.")
    tag = forms.CharField(
        max_length=110, required=False, help_text="One word. Made of system and snapshot when left open."
    )
    note = forms.CharField(
        required=False,
        max_length=2_000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="What is tried here, for the ledger of runs.",
    )
    commit = forms.CharField(max_length=80, required=False)

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, project=project, **kwargs)
        self._field("snapshot").queryset = snapshots_in(project)


class UploadForm(KaratForm):
    """A run made elsewhere, as a file in TREC's six columns."""

    file = forms.FileField(
        label="Run file", help_text="Six columns: query, Q0, block, rank, score, tag. Plain or gzip."
    )
    snapshot = SnapshotField(
        Snapshot.objects.none(), empty_label=None, help_text="The texts the system retrieved from."
    )
    system = forms.CharField(max_length=120, required=False, help_text="The file's tag when left open.")
    tag = forms.CharField(max_length=110, required=False, help_text="The file's tag when left open.")
    note = forms.CharField(
        required=False,
        max_length=2_000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="What was tried, for the ledger of runs.",
    )
    commit = forms.CharField(max_length=80, required=False)

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_rows(self, "snapshot", snapshots_in(project))


class LedgerForm(KaratForm):
    note = forms.CharField(
        required=False, max_length=2_000, widget=forms.Textarea(attrs={"rows": 2}), help_text="What was tried."
    )
    commit = forms.CharField(max_length=80, required=False)


def _count_field(label: str, help_text: str, most: int = rules.MOST_DRAWN) -> forms.IntegerField:
    """A number that is 0 when it is left open."""
    return forms.IntegerField(
        label=label, min_value=0, max_value=most, required=False, initial=0, help_text=help_text, widget=_number()
    )


def _number() -> forms.NumberInput:
    return forms.NumberInput(attrs={"inputmode": "numeric"})


class DrawnForm(KaratForm):
    """How many blocks are drawn beside what runs found."""

    random = _count_field("Random blocks", "For each query, from outside the pool: they tell what it misses.")
    edge = _count_field("Random at the edge", "For each query, from what runs found below the pool.")
    easy = _count_field("Easy negatives", "For each query, from far down; not relevant until judged.")

    @property
    def drawn_fields(self) -> list[forms.BoundField]:
        return [self["random"], self["edge"], self["easy"]]

    def counts(self, *names: str) -> dict[str, Any]:
        return {name: self.cleaned_data.get(name) or 0 for name in names}


class PoolForm(DrawnForm, QueryChoiceForm):
    """Systems and runs to draw from. Runs of other snapshots are offered too and refused with the reason."""

    name = forms.CharField(max_length=120, required=False)
    snapshot = SnapshotField(Snapshot.objects.none(), empty_label=None)
    systems = forms.ModelMultipleChoiceField(System.objects.none(), required=False, widget=forms.CheckboxSelectMultiple)
    runs = RunsField(
        Run.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    depth = _depth_field(20, "How far into each ranking people judge; of a budget, how far it may look.")
    method = forms.ChoiceField(
        label="Pairs that runs found",
        choices=[(value, label.capitalize()) for value, label in PoolMethod.choices],
        required=False,
        help_text="A budget by fused rank is spent at once. Move to front and bandit follow the grades: start with a"
        " part of the budget, have it judged, then grow the pool.",
    )
    pairs = _count_field("Budget", "How many pairs runs may bring in.", rules.LARGEST_BUDGET)
    each = forms.ChoiceField(
        label="Counted",
        choices=[("query", "for each query"), ("all", "in all queries together")],
        required=False,
        help_text="In all: queries compete, and those with relevant blocks get more.",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=2**31 - 1,
        required=False,
        initial=0,
        widget=_number(),
        help_text="The same seed chooses the same blocks.",
    )
    same_once = forms.BooleanField(
        label="Judge texts that are the same once",
        required=False,
        help_text="Of a query’s blocks that say the same, the one that runs rank best is judged. Its grade goes to the"
        " others only when a lead carries it over.",
    )

    def __init__(self, *args: Any, project: Project, snapshot: Snapshot | None, **kwargs: Any) -> None:
        super().__init__(*args, project=project, **kwargs)
        self._field("snapshot").queryset = snapshots_in(project)
        self._field("systems").queryset = selectors.engines_in(project)
        if snapshot is not None:
            self._field("runs").queryset = selectors.complete_runs_on(snapshot)

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        if values.get("method") not in {None, "", PoolMethod.DEPTH} and not values.get("pairs"):
            self.add_error("pairs", "Say how many pairs the budget is.")
        return values

    @property
    def plan(self) -> PoolPlan:
        """How pairs are chosen, once the form is valid. Left open, a seed is 0 and a method the plain union."""
        values = self.cleaned_data
        method = values.get("method") or PoolMethod.DEPTH.value
        budget = values["pairs"] if method != PoolMethod.DEPTH else 0
        counts = self.counts("random", "edge", "easy", "seed")
        same_once = bool(values.get("same_once"))
        return PoolPlan(method=method, pairs=budget, each=values.get("each") != "all", same_once=same_once, **counts)


class GrowForm(DrawnForm):
    """What a pool may still gain: systems, complete runs on its snapshot, depth, and further pairs."""

    systems = forms.ModelMultipleChoiceField(System.objects.none(), required=False, widget=forms.CheckboxSelectMultiple)
    runs = RunsField(Run.objects.none(), required=False, widget=forms.CheckboxSelectMultiple)
    depth = _depth_field(20, "Never less than it is: a pool loses no pairs.")
    pairs = _count_field("Pairs to add", "", rules.LARGEST_BUDGET)

    def __init__(self, *args: Any, pool: Pool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        drawn = selectors.pool_runs(pool)
        fields: dict[str, Any] = self.fields
        fields["systems"].queryset = selectors.engines_in(pool.project).exclude(pk__in=[run.system_id for run in drawn])
        fields["runs"].queryset = selectors.complete_runs_on(pool.snapshot).exclude(pk__in=[run.pk for run in drawn])
        fields["depth"].initial = pool.depth
        plan = plan_of(pool.plan)
        if not plan.has_budget:
            del fields["pairs"]
        else:
            fields["pairs"].help_text = "For each query." if plan.each else "In all queries together."
        if plan.random and not plan.edge:
            del fields["edge"]

    @property
    def drawn_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in ("random", "edge", "easy") if name in self.fields]

    @property
    def more(self) -> PoolPlan:
        """What is added to the pool's plan."""
        return PoolPlan(**self.counts("pairs", "random", "edge", "easy"))
