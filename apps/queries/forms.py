"""Forms for queries, sources and permissions."""

from datetime import datetime, time
from typing import Any

from django import forms
from django.utils import timezone

from apps.accounts.models import Project
from apps.common.web.forms import KaratForm, offer, offer_rows
from apps.queries.core.bulk_changes import BulkChange
from apps.queries.core.naming import parse_facets, stored_facets
from apps.queries.core.strata import TYPED, checked_day
from apps.queries.enums import Difficulty, PermissionScope, QueryCheck, SourceKind, VariantKind
from apps.queries.models import Query, Source
from apps.queries.rules import WORDS
from apps.queries.selectors import ANY_REMARK, NO_SOURCE, STATES, QueryFilters, choices_in

ANY = ("", "any")
ALIKE = ("difficulty", *TYPED, "group_key")


def _tags(text: str) -> tuple[str, ...]:
    """The different words between commas, in their order."""
    words = (word.strip() for word in text.split(","))
    return tuple(dict.fromkeys(word for word in words if word))


class QueryForm(KaratForm):
    """A query's fields. The words of a used query are shown and cannot be changed."""

    text = forms.CharField(label="Query", max_length=4_000, widget=forms.Textarea(attrs={"rows": 2, "class": "serif"}))
    intent = forms.CharField(
        required=False,
        max_length=4_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="What the asker needs, in a sentence or two. Judges read it beside the query.",
    )
    description = forms.CharField(required=False, max_length=8_000, widget=forms.Textarea(attrs={"rows": 3}))
    label = forms.CharField(required=False, max_length=200, help_text="A short name shown in lists.")
    source = forms.ModelChoiceField(queryset=Source.objects.none(), required=False, empty_label="none")
    query_type = forms.CharField(label="Type", required=False, max_length=40, help_text="Such as look-up, how-to.")
    difficulty = forms.ChoiceField(required=False, choices=[("", "not set"), *Difficulty.choices])
    domain = forms.CharField(required=False, max_length=80, help_text="Such as security, access.")
    group_key = forms.CharField(
        label="Group",
        required=False,
        max_length=120,
        help_text="Queries about the same thing or time; dev and test never share a group.",
    )
    expertise = forms.CharField(
        required=False, max_length=40, help_text="What the asker knows already, such as layperson, expert."
    )
    answer_format = forms.CharField(
        label="Expected format", required=False, max_length=40, help_text="Such as number, list, steps, table."
    )
    asked_on = forms.CharField(
        label="Day",
        required=False,
        max_length=10,
        widget=forms.TextInput({"type": "date"}),
        help_text="When it was asked, or the day it is about. The age of passages counts to it.",
    )
    tags = forms.CharField(required=False, max_length=1_000, help_text="Separated by commas.")
    facets = forms.CharField(
        label="Subtopics",
        required=False,
        max_length=8_000,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="One a line, at most 12. Judges say which of them a passage answers. Ids are 1, 2, 3 unless each line"
        " begins with one: access = Who may enter.",
    )

    def __init__(self, *args: Any, project: Project, query: Query | None = None, **kwargs: Any) -> None:
        if query is not None:
            given = {name: getattr(query, name) for name in self.base_fields if name != "tags"}
            lines = "\n".join(f"{facet['id']} = {facet['words']}" for facet in query.facets)
            kwargs.setdefault("initial", given | {"tags": ", ".join(query.tags), "facets": lines})
        super().__init__(*args, **kwargs)
        offer_rows(self, "source", Source.objects.filter(project=project).order_by("name"))
        if query is not None and query.locked_at is not None:
            for name in WORDS:
                self.fields[name].disabled = True
                self.fields[name].help_text = "Cannot be changed: this query was used in a run."
        if query is not None and query.facets_locked_at is not None:
            self.fields["facets"].disabled = True
            self.fields["facets"].help_text = "Cannot be changed: passages were judged by them."

    def clean_facets(self) -> list[dict[str, str]]:
        try:
            return stored_facets(parse_facets(self.cleaned_data["facets"], are_lines=True))
        except ValueError as fault:
            raise forms.ValidationError(f"{fault}.") from None

    def clean_asked_on(self) -> str:
        try:
            return checked_day(self.cleaned_data["asked_on"])
        except ValueError:
            raise forms.ValidationError("Write a day as 2026-03-01.") from None

    def clean_tags(self) -> list[str]:
        return list(_tags(self.cleaned_data["tags"]))


KEEP = ("", "as it is")
CLEAR = "-"


class BulkForm(KaratForm):
    """A change of many queries: an empty field keeps what each query has."""

    source = forms.ChoiceField(required=False)
    difficulty = forms.ChoiceField(required=False, choices=[KEEP, *Difficulty.choices, (CLEAR, "not set")])
    query_type = forms.CharField(
        label="Type", required=False, max_length=40, help_text="Leave empty to keep it. A hyphen clears it."
    )
    domain = forms.CharField(required=False, max_length=80, help_text="Leave empty to keep it. A hyphen clears it.")
    group_key = forms.CharField(
        label="Group", required=False, max_length=120, help_text="Leave empty to keep it. A hyphen clears it."
    )
    expertise = forms.CharField(required=False, max_length=40, help_text="Leave empty to keep it. A hyphen clears it.")
    answer_format = forms.CharField(
        label="Expected format", required=False, max_length=40, help_text="Leave empty to keep it. A hyphen clears it."
    )
    add_tags = forms.CharField(required=False, max_length=1_000, help_text="Separated by commas.")
    remove_tags = forms.CharField(required=False, max_length=1_000, help_text="Separated by commas.")

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sources = {source.slug: source for source in Source.objects.filter(project=project).order_by("name")}
        names = [(slug, source.name) for slug, source in self.sources.items()]
        offer(self, "source", [KEEP, *names, (NO_SOURCE, "none")])

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if not self.errors and not self.change.fields:
            raise forms.ValidationError("Nothing would change. Fill in at least one field.")
        return values

    @property
    def change(self) -> BulkChange:
        """The change that a valid form describes."""
        values = self.cleaned_data
        cleared = {name: "" if values[name] == CLEAR else values[name] for name in ALIKE if values[name]}
        source = {"source": self.sources.get(values["source"])} if values["source"] else {}
        return BulkChange(source | cleared, _tags(values["add_tags"]), _tags(values["remove_tags"]))


class VariantsForm(KaratForm):
    kinds = forms.MultipleChoiceField(
        choices=VariantKind.choices, initial=VariantKind.values, widget=forms.CheckboxSelectMultiple()
    )
    seed = forms.IntegerField(
        initial=1, min_value=0, max_value=2**31 - 1, help_text="The same seed makes the same variants again."
    )


class NewQueryForm(QueryForm):
    outside_id = forms.RegexField(
        r"^\S+$",
        label="Id",
        max_length=200,
        help_text="Such as Q061. Files and runs use it. No spaces; it cannot be changed later.",
        error_messages={"invalid": "An id cannot contain spaces."},
    )
    field_order = ["outside_id", "text", "intent"]


class FailureForm(KaratForm):
    """A search that went wrong. The API takes the same fields."""

    text = forms.CharField(
        label="What did you search for?", max_length=4_000, widget=forms.Textarea(attrs={"rows": 2, "class": "serif"})
    )
    expected = forms.CharField(
        label="What should have been found?",
        required=False,
        max_length=4_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="In your words. If the query is taken, judges read it beside the query.",
    )
    passage = forms.CharField(
        label="Id of a passage that answers",
        required=False,
        max_length=200,
        help_text="If you know it. It is a hint for the lead and never counts as a grade.",
    )
    has_consent = forms.BooleanField(
        label="The project may keep this query and test search with it",
        help_text="Mail addresses, numbers of people and the like are masked before it is stored.",
    )


class SourceForm(KaratForm):
    name = forms.CharField(max_length=120, help_text="Such as search log 2026, interviews in March.")
    kind = forms.ChoiceField(choices=SourceKind.choices)
    target = forms.DecimalField(
        label="Target, %",
        required=False,
        min_value=0,
        max_value=100,
        decimal_places=1,
        help_text="Share of the queries, and of the Q&As, that you aim for.",
    )

    def target_share(self) -> float | None:
        target = self.cleaned_data["target"]
        return None if target is None else float(target) / 100


class PermissionForm(KaratForm):
    owner = forms.CharField(max_length=200, help_text="Who gives the permission: a person, a team or a company.")
    scope = forms.ChoiceField(
        label="Allowed use",
        choices=[
            (PermissionScope.INTERNAL, "Internal: only for people of your organisation"),
            (PermissionScope.PUBLIC, "Public: may be given to anybody"),
        ],
        widget=forms.RadioSelect,
        initial=PermissionScope.INTERNAL,
    )
    evidence = forms.CharField(
        required=False,
        max_length=2_000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Where it is written down: contract, e-mail, policy.",
    )
    licence = forms.CharField(required=False, max_length=80, help_text="Such as CC-BY-4.0.")
    expires_on = forms.DateField(label="Ends on", required=False, widget=forms.DateInput(attrs={"type": "date"}))

    def expires_at(self) -> datetime | None:
        """The end of the typed day."""
        day = self.cleaned_data["expires_on"]
        return None if day is None else timezone.make_aware(datetime.combine(day, time.max))


class FilterForm(KaratForm):
    """The filter of the list. A value that is not a choice is ignored."""

    find = forms.CharField(label="Words or id", required=False, max_length=200)
    state = forms.ChoiceField(choices=list(STATES.items()), required=False)
    source = forms.ChoiceField(required=False)
    query_type = forms.ChoiceField(label="Type", required=False)
    difficulty = forms.ChoiceField(required=False, choices=[ANY, *Difficulty.choices])
    domain = forms.ChoiceField(required=False)
    expertise = forms.ChoiceField(required=False)
    answer_format = forms.ChoiceField(label="Format", required=False)
    remarks = forms.ChoiceField(required=False, choices=[("", "all"), (ANY_REMARK, "any remark"), *QueryCheck.choices])

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        values = choices_in(project)
        self.sources = list(Source.objects.filter(project=project).order_by("name").values_list("slug", "name"))
        offer(self, "source", [ANY, *self.sources, (NO_SOURCE, "none")] if self.sources else [ANY])
        for name in TYPED:
            offer(self, name, [ANY, *((value, value) for value in values[name])])

    def filters(self) -> QueryFilters:
        self.is_valid()
        values = self.cleaned_data
        return QueryFilters(
            text=values.get("find", "").strip(),
            state=values.get("state") or "live",
            source=values.get("source", ""),
            difficulty=values.get("difficulty", ""),
            **{name: values.get(name, "") for name in TYPED},
            remarks=values.get("remarks", ""),
        )
