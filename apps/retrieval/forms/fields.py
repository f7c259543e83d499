"""Fields of several forms."""

from django import forms

from apps.corpus.models import Snapshot
from apps.retrieval import rules
from apps.retrieval.models import Run


class SnapshotField(forms.ModelChoiceField):
    """Snapshots, labelled with corpus and size."""

    def label_from_instance(self, snapshot: Snapshot) -> str:
        return f"{snapshot.corpus.name}: {snapshot.name}, {snapshot.block_count:,} passages"


class RunsField(forms.ModelMultipleChoiceField):
    """Runs, labelled with tag, number of queries and depth."""

    def label_from_instance(self, run: Run) -> str:
        queries = "1 query" if run.query_count == 1 else f"{run.query_count:,} queries"
        return f"{run.tag}, {queries}, {run.effective_depth:,} deep"


def depth_field(initial: int, help_text: str, label: str = "Depth") -> forms.IntegerField:
    """A depth, from 1 to the largest possible."""
    return forms.IntegerField(
        label=label,
        min_value=1,
        max_value=rules.DEEPEST,
        initial=initial,
        help_text=help_text,
        widget=forms.NumberInput(attrs={"class": "input"}),
    )


def count_field(label: str, help_text: str, most: int = rules.MOST_SAMPLED) -> forms.IntegerField:
    """A number from 0; an empty field is 0."""
    return forms.IntegerField(
        label=label, min_value=0, max_value=most, required=False, initial=0, help_text=help_text, widget=number_input()
    )


def number_input() -> forms.NumberInput:
    return forms.NumberInput(attrs={"inputmode": "numeric"})


def note_field(help_text: str) -> forms.CharField:
    """The note of a run in the ledger."""
    widget = forms.Textarea(attrs={"rows": 2})
    return forms.CharField(required=False, max_length=2_000, widget=widget, help_text=help_text)


def commit_field() -> forms.CharField:
    """The version that was run, such as a commit; any text."""
    return forms.CharField(max_length=80, required=False)
