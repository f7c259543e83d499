"""What people say about systems, runs and pools."""

from typing import Any

from django import forms

from apps.accounts.models import Project
from apps.common.forms import KaratForm
from apps.corpus.models import Snapshot
from apps.corpus.selectors import snapshots_in
from apps.queries.enums import Difficulty
from apps.queries.models import Source
from apps.retrieval import rules, selectors
from apps.retrieval.engines import Parameter, parameters_of
from apps.retrieval.enums import BlockText
from apps.retrieval.models import Pool, Run, System
from apps.retrieval.selectors import QueryChoice

WORDS = {
    "words": "whole words",
    "trigrams": "windows of three characters",
    "english": "English stop words",
    "none": "none",
    "s": "English plurals",
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
        for parameter in parameters_of(kind):
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
    number = forms.NumberInput(attrs={"class": "input", "step": "any", "inputmode": "decimal"})
    return forms.FloatField(
        label=parameter.label,
        initial=parameter.default,
        min_value=parameter.low,
        max_value=parameter.high,
        widget=number,
        help_text=f"From {parameter.low:g} to {parameter.high:g}.",
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
        self.fields["snapshot"].queryset = snapshots_in(project)  # type: ignore[attr-defined]


class LedgerForm(KaratForm):
    note = forms.CharField(
        required=False, max_length=2_000, widget=forms.Textarea(attrs={"rows": 2}), help_text="What was tried."
    )
    commit = forms.CharField(max_length=80, required=False)


class PoolForm(QueryChoiceForm):
    """Systems and runs to draw from. Runs of other snapshots are offered too and refused with the reason."""

    name = forms.CharField(max_length=120, required=False)
    snapshot = SnapshotField(Snapshot.objects.none(), empty_label=None)
    systems = forms.ModelMultipleChoiceField(System.objects.none(), required=False, widget=forms.CheckboxSelectMultiple)
    runs = RunsField(
        Run.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    depth = _depth_field(20, "How far into each ranking people judge.")

    def __init__(self, *args: Any, project: Project, snapshot: Snapshot | None, **kwargs: Any) -> None:
        super().__init__(*args, project=project, **kwargs)
        self._field("snapshot").queryset = snapshots_in(project)
        self._field("systems").queryset = selectors.engines_in(project)
        if snapshot is not None:
            self._field("runs").queryset = selectors.complete_runs_on(snapshot)


class GrowForm(KaratForm):
    """What a pool may still gain: systems, complete runs on its snapshot, and depth."""

    systems = forms.ModelMultipleChoiceField(System.objects.none(), required=False, widget=forms.CheckboxSelectMultiple)
    runs = RunsField(Run.objects.none(), required=False, widget=forms.CheckboxSelectMultiple)
    depth = _depth_field(20, "Never less than it is: a pool loses no pairs.")

    def __init__(self, *args: Any, pool: Pool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        drawn = selectors.pool_runs(pool)
        fields: dict[str, Any] = self.fields
        fields["systems"].queryset = selectors.engines_in(pool.project).exclude(pk__in=[run.system_id for run in drawn])
        fields["runs"].queryset = selectors.complete_runs_on(pool.snapshot).exclude(pk__in=[run.pk for run in drawn])
        fields["depth"].initial = pool.depth
