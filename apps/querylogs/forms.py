"""Forms for reading a search log."""

from typing import Any

from django import forms

from apps.accounts.models import Project
from apps.common.web.forms import KaratForm, offer
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import snapshots_in
from apps.queries.core.masking import BY_PEOPLE
from apps.querylogs.rules import MOST_NAME

KEEP, SAME, REJECT, MASK, UNDO = STEPS = ("keep", "same", "reject", "mask", "undo")
NOTE = 400


class DecideForm(KaratForm):
    """What is done with one offered query."""

    step = forms.ChoiceField(choices=[(step, step) for step in STEPS])
    text = forms.CharField(
        required=False,
        max_length=4_000,
        help_text="Other words for a query that is kept; its masks stay. Empty: its own.",
    )
    query = forms.CharField(
        required=False, max_length=200, help_text="The id of the query that it is the same as, for the step `same`."
    )
    words = forms.CharField(required=False, max_length=400, help_text="The words to mask, for the step `mask`.")
    kind = forms.ChoiceField(
        required=False,
        choices=[(kind, kind) for kind in BY_PEOPLE],
        initial=BY_PEOPLE[0],
        help_text="What the words tell of, for the step `mask`.",
    )
    listed = forms.BooleanField(
        required=False, initial=False, help_text="Mask the words in later logs too: they go on the project's list."
    )
    note = forms.CharField(required=False, max_length=NOTE, help_text="Why, for others.")

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if values.get("step") == SAME and not values.get("query"):
            self.add_error("query", "Say which query it is the same as.")
        if values.get("step") == MASK and not values.get("words"):
            self.add_error("words", "Say which words to mask.")
        return values


class RunsForm(KaratForm):
    """The documents in which what systems returned is located."""

    snapshot = forms.ChoiceField(
        required=False,
        label="On the documents",
        help_text="The snapshot that the systems searched, as `corpus@number`. Empty: the passages that they returned"
        " become a corpus, “as returned”.",
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.by_name = {f"{one.corpus.slug}@{one.number}": one for one in snapshots_in(project)}
        known = [(name, f"{one.corpus.name}: {one.name}") for name, one in self.by_name.items()]
        offer(self, "snapshot", [*known, ("", "their passages, as they were returned")])

    def clean_snapshot(self) -> Snapshot | None:
        return self.by_name.get(self.cleaned_data["snapshot"])


class NamesForm(KaratForm):
    names = forms.CharField(
        label="Names, one a line",
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text=f"Of customers, people, products that must not be seen; up to {MOST_NAME} characters each.",
    )

    def listed(self) -> list[str]:
        names: str = self.cleaned_data["names"]
        return names.splitlines()
