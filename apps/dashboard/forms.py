"""The settings of a project."""

from typing import Any

from django import forms

from apps.accounts.models import Project, default_policies
from apps.accounts.rules import deletion_refusal
from apps.common.web.forms import KaratForm, parsed
from apps.corpus.enums import BlockField
from apps.corpus.selectors.corpora import field_names
from apps.evaluation.rules import fields_refusal
from apps.goldsets.enums import CheckLevel, LeadCheckKind
from apps.queries.core.variants import pairs_in
from apps.queries.enums import CheckEffect, QueryCheck
from apps.triples.core.checks import CAN_WARN

MOST_GRADES = 6


def settings_of(project: Project) -> dict[str, Any]:
    """The values of the form's fields as they are now."""
    known = {"name": project.name, **default_policies(), **project.policies}
    return {name: known[name] for name in SettingsForm.base_fields}


class SettingsForm(KaratForm):
    """Name and policies. Each policy field has the name of its policy."""

    name = forms.CharField(max_length=120)
    copied_run_limit = forms.IntegerField(
        label="Longest copied run",
        min_value=2,
        max_value=50,
        help_text="How many words in a row a question or a query may copy from a passage before it is warned of.",
    )
    near_duplicate_limit = forms.FloatField(
        label="Near-duplicate questions and queries",
        min_value=0.5,
        max_value=1,
        help_text="Warn when a similar question or query exists: 0.5 is loosely similar, 1 the same words.",
    )
    blocking_checks = forms.MultipleChoiceField(
        label="Checks that block submission",
        required=False,
        choices=list(CAN_WARN.items()),
        widget=forms.CheckboxSelectMultiple(),
        help_text="A check that is not ticked is a warning only: the author gives a reason and can still submit.",
    )
    review_assignment = forms.ChoiceField(
        label="Who reviews",
        choices=[("load", "Assigned at once, to the least busy"), ("pull", "Taken from a queue, one at a time")],
        widget=forms.RadioSelect(),
        help_text="Never the author or a co-author. A change applies from the next Q&A that is submitted.",
    )
    review_lease_hours = forms.IntegerField(
        label="Time to review one from the queue",
        min_value=1,
        max_value=720,
        help_text="After that, an unanswered review goes back to the queue.",
    )
    escalation_days = forms.IntegerField(
        label="Overdue after",
        min_value=1,
        max_value=365,
        help_text="Leads are notified about older reviews and see them on the review board.",
    )
    dispute_days = forms.IntegerField(
        label="Days to settle a dispute",
        min_value=0,
        max_value=365,
        help_text="Author and flagger have so long; then leads find the dispute among their work. A lead may decide it "
        "earlier.",
    )
    review_guideline = forms.CharField(
        label="Guideline for reviewers",
        required=False,
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text="In Markdown, shown beside every review. If empty, Karat’s three questions are shown.",
    )
    calibrating_reviews = forms.IntegerField(
        label="Reviews until calibrated",
        min_value=0,
        max_value=1000,
        help_text="A new person is marked as calibrating until they have done this many reviews.",
    )
    calibration_reviews = forms.IntegerField(
        label="Fewest reviews for a flag rate",
        min_value=1,
        max_value=1000,
        help_text="A flag rate outside its limits opens a calibration only after this many reviews.",
    )
    calibration_items = forms.IntegerField(
        label="Q&As per calibration",
        min_value=2,
        max_value=50,
        help_text="Past Q&As that both people review again, blind.",
    )
    regression_bar = forms.FloatField(
        label="Drop that needs an explanation",
        min_value=0.01,
        max_value=1,
        help_text="A query that gets worse by more than this must be explained before a comparison can be closed.",
    )
    test_step = forms.FloatField(
        label="Step for scores on test",
        required=False,
        min_value=0.0001,
        max_value=1,
        help_text="A score on test is published only if it beats the best published one by at least this much. The "
        "others stay sealed for good. Empty: every score is published.",
    )
    refresh_months = forms.IntegerField(
        label="Months until a gold set is due",
        min_value=0,
        max_value=60,
        help_text="After its release. Then leads are told to refresh it: new queries, a newer snapshot, a new version."
        " 0: never.",
    )
    internal_words = forms.CharField(
        label="Internal words",
        required=False,
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text="One a line: names of products, customers, projects. A public release removes them, or leaves out "
        "what contains them. Names of people, and of sources that are not public, are looked for anyway.",
    )
    acronyms = forms.CharField(
        label="Acronyms",
        required=False,
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One a line: TLS = transport layer security. Variants of queries swap the two.",
    )
    terms = forms.CharField(
        label="Terms in another language",
        required=False,
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One a line: key rotation = Schlüsselwechsel. Variants of queries have them in that language.",
    )
    lit_terms = forms.BooleanField(
        label="Highlight the query’s words while judging",
        required=False,
        help_text="Helps to find the place in the text. Switch it off if judges look at words instead of meaning.",
    )

    date_field, type_field, provider_field, audience_field = (
        forms.CharField(
            label=field.label, max_length=60, required=False, widget=forms.TextInput({"list": "found-fields"})
        )
        for field in BlockField
    )

    leads_decide_own = forms.BooleanField(
        label="A lead may decide pairs that they judged",
        required=False,
        help_text="For small teams. Such a decision is marked on pages and in exports: by a lead who also judged it.",
    )

    agents_may_work = forms.BooleanField(
        label="Agents may work",
        required=False,
        help_text="Programs that ask at /mcp with the token of a member. Untick it to stop all of them at once; what "
        "they did stays in the audit.",
    )

    query_personal, query_duplicate, query_copied, query_stop_words, query_language = (
        forms.ChoiceField(label=check.label, choices=CheckEffect.choices) for check in QueryCheck
    )
    freeze_relevant, freeze_confusers, freeze_strata, freeze_terms = (
        forms.ChoiceField(label=kind.label, choices=CheckLevel.choices) for kind in LeadCheckKind
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        kwargs.setdefault("initial", settings_of(project))
        super().__init__(*args, **kwargs)
        self.project = project

    def clean_acronyms(self) -> str:
        return parsed(self.cleaned_data["acronyms"], pairs_in)

    def clean_terms(self) -> str:
        return parsed(self.cleaned_data["terms"], pairs_in)

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        known = field_names(self.project)
        for field in BlockField:
            values[field.policy] = values.get(field.policy) or field.value
        changed = [field for field in BlockField if values[field.policy] != known[field]]
        for field, reason in fields_refusal(self.project, changed).items():
            self.add_error(field.policy, reason)
        return values

    @property
    def block_fields(self) -> list[forms.BoundField]:
        return [self[field.policy] for field in BlockField]

    @property
    def query_checks(self) -> list[forms.BoundField]:
        return [self[f"query_{check}"] for check in QueryCheck]

    @property
    def freeze_checks(self) -> list[forms.BoundField]:
        return [self[kind] for kind in LeadCheckKind]

    @property
    def policies(self) -> dict[str, Any]:
        return {name: value for name, value in self.cleaned_data.items() if name != "name"}


class DeletionForm(KaratForm):
    """The project's name, typed by who deletes it."""

    typed = forms.CharField(
        label="Name of the project", max_length=120, widget=forms.TextInput({"autocomplete": "off"})
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._project = project
        self.fields["typed"].help_text = f"Type it as it is here: {project.name}"

    def clean_typed(self) -> str:
        typed: str = self.cleaned_data["typed"]
        if reason := deletion_refusal(self._project, typed):
            raise forms.ValidationError(reason)
        return typed


class ScaleForm(KaratForm):
    """Name and hint for each grade from 0 up; a grade without a name ends the scale."""

    def __init__(self, *args: Any, scale: list[dict], **kwargs: Any) -> None:
        start = {}
        for entry in scale:
            start[f"name_{entry['grade']}"] = entry["name"]
            start[f"hint_{entry['grade']}"] = entry.get("hint", "")
        super().__init__(*args, initial=start, **kwargs)
        for grade in range(MOST_GRADES):
            for part, length in (("name", 40), ("hint", 80)):
                widget = forms.TextInput(attrs={"class": "input", "aria-label": f"Grade {grade}, {part}"})
                self.fields[f"{part}_{grade}"] = forms.CharField(
                    max_length=length, required=part == "name" and grade < 2, widget=widget
                )

    @property
    def rows(self) -> list[tuple[int, forms.BoundField, forms.BoundField]]:
        return [(grade, self[f"name_{grade}"], self[f"hint_{grade}"]) for grade in range(MOST_GRADES)]

    @property
    def scale(self) -> list[dict]:
        return [
            {"grade": grade, "name": name, "hint": self.cleaned_data[f"hint_{grade}"]}
            for grade in range(MOST_GRADES)
            if (name := self.cleaned_data[f"name_{grade}"])
        ]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        named = [bool(values.get(f"name_{grade}")) for grade in range(MOST_GRADES)]
        if named != sorted(named, reverse=True):
            raise forms.ValidationError("Grades count up from 0 without a gap. Name the empty one in between.")
        return values
