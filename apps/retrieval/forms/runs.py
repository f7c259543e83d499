"""The forms of runs that Karat makes, and of uploaded runs."""

from dataclasses import replace
from typing import Any

from django import forms
from django.utils.text import capfirst

from apps.accounts.models import Project
from apps.common.web.forms import KaratForm, offer_rows
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import snapshots_in
from apps.retrieval.forms.fields import SnapshotField, commit_field, depth_field, note_field
from apps.retrieval.forms.queries import QueryChoiceForm
from apps.retrieval.rules import choice_refusal
from apps.retrieval.selectors.queries import QueryChoice
from apps.retrieval.selectors.question_sets import question_sets


class RunForm(QueryChoiceForm):
    """A run that Karat makes."""

    questions = forms.ChoiceField(
        label="Which queries",
        required=False,
        help_text="The questions of a version are its queries and the questions of its Q&As. A version scores runs on"
        " its own snapshot.",
    )
    snapshot = SnapshotField(Snapshot.objects.none(), empty_label=None)
    depth = depth_field(1_000, "How many results to keep per query.")
    tag = forms.CharField(
        max_length=110, required=False, help_text="One word. If empty, made from system and snapshot."
    )
    note = note_field("What changed. The ledger shows it until somebody writes an entry there.")
    commit = commit_field()

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, project=project, **kwargs)
        self._field("snapshot").queryset = snapshots_in(project)
        sets = [(one.key, capfirst(one.name)) for one in question_sets(project)]
        self._field("questions").choices = [("", "All queries, or those of the filters below"), *sets]

    @property
    def choice(self) -> QueryChoice:
        return replace(super().choice, questions=self.cleaned_data.get("questions", ""))

    def clean(self) -> dict[str, Any]:
        if reason := choice_refusal(self.choice):
            self.add_error("questions", reason)
        return self.cleaned_data


IF_EMPTY = "If empty, the tag in the file, or the name of a file without tags."


class UploadForm(KaratForm):
    """A run made elsewhere: a table with a heading, TREC's six columns, or results with passages of its own."""

    file = forms.FileField(
        label="Run file",
        help_text="A table with a heading that names the query's id, the passage's id, and the score or the rank; or"
        " TREC's six columns: query id, Q0, passage id, rank, score, tag. Plain or gzip. Passages of your own come as"
        " JSON lines with qid, rank and what you have of id, document_id, pages and text, or as a table with these"
        " columns.",
    )
    snapshot = SnapshotField(
        Snapshot.objects.none(), empty_label=None, help_text="The snapshot that the system searched."
    )
    system = forms.CharField(max_length=120, required=False, help_text=f"What made it. {IF_EMPTY}")
    tag = forms.CharField(max_length=110, required=False, help_text=f"The run's name, one word. {IF_EMPTY}")
    note = note_field("What changed. The ledger shows it until somebody writes an entry there.")
    commit = commit_field()

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_rows(self, "snapshot", snapshots_in(project))


class TagForm(KaratForm):
    """The tag of an uploaded run, which the preview proposes."""

    tag = forms.CharField(max_length=110, help_text="The run's name, one word.")


class LedgerForm(KaratForm):
    """The note and commit of an existing run in the ledger."""

    note = note_field("What changed.")
    commit = commit_field()
