"""The fields that choose queries."""

from typing import Any

from django import forms

from apps.accounts.models import Project
from apps.common.web.forms import KaratForm
from apps.queries.enums import Difficulty
from apps.queries.models import Source
from apps.retrieval.selectors.queries import QueryChoice, query_strata


class QueryChoiceForm(KaratForm):
    """Fields that filter the queries of the project; empty fields do not filter."""

    source = forms.ModelChoiceField(Source.objects.none(), required=False, empty_label="All sources")
    domain = forms.ChoiceField(required=False)
    query_type = forms.ChoiceField(label="Type", required=False)
    difficulty = forms.ChoiceField(required=False, choices=[("", "All difficulties"), *Difficulty.choices])

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project
        self._field("source").queryset = Source.objects.filter(project=project).order_by("name")
        for name, empty_label in (("domain", "All domains"), ("query_type", "All types")):
            values = query_strata(project, name)
            self._field(name).choices = [("", empty_label), *((value, value) for value in values)]

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
