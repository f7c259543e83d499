"""Fields that several forms ask for."""

from django import forms

from apps.corpus.models import Snapshot
from apps.retrieval import rules
from apps.retrieval.models import Run


class SnapshotField(forms.ModelChoiceField):
    """Snapshots with their corpus and their size."""

    def label_from_instance(self, snapshot: Snapshot) -> str:
        return f"{snapshot.corpus.name}: {snapshot.name}, {snapshot.block_count:,} passages"


class RunsField(forms.ModelMultipleChoiceField):
    """Runs by tag, with how much they answer and how deep."""

    def label_from_instance(self, run: Run) -> str:
        queries = "1 query" if run.query_count == 1 else f"{run.query_count:,} queries"
        return f"{run.tag}, {queries}, {run.depth:,} deep"


def depth_field(initial: int, help_text: str) -> forms.IntegerField:
    """How far into a ranking: 1 to the deepest that is kept."""
    return forms.IntegerField(
        min_value=1,
        max_value=rules.DEEPEST,
        initial=initial,
        help_text=help_text,
        widget=forms.NumberInput(attrs={"class": "input"}),
    )


def count_field(label: str, help_text: str, most: int = rules.MOST_DRAWN) -> forms.IntegerField:
    """A number that is 0 when it is left open."""
    return forms.IntegerField(
        label=label, min_value=0, max_value=most, required=False, initial=0, help_text=help_text, widget=number_input()
    )


def number_input() -> forms.NumberInput:
    return forms.NumberInput(attrs={"inputmode": "numeric"})


def note_field(help_text: str) -> forms.CharField:
    """What stands beside a run in the ledger."""
    widget = forms.Textarea(attrs={"rows": 2})
    return forms.CharField(required=False, max_length=2_000, widget=widget, help_text=help_text)


def commit_field() -> forms.CharField:
    """What was run, as its authors name it; any word."""
    return forms.CharField(max_length=80, required=False)
