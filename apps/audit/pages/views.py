"""The list of events with its filters, and what each event changed."""

from urllib.parse import urlencode

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.accounts.access.pages import member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.audit.models import Event
from apps.audit.selectors.events import (
    EventFilters,
    actions_in,
    actors_in,
    agents_behind,
    events_in,
    object_types_in,
    page_of,
)
from apps.common.database.statements import LARGEST_KEY
from apps.common.web.forms import offer


class FilterForm(forms.Form):
    """The filters of the audit page. Choices are the values in this project's history."""

    actor = forms.ChoiceField(label="Person", required=False)
    action = forms.ChoiceField(label="Action", required=False)
    object_type = forms.ChoiceField(label="Kind of object", required=False)
    object_id = forms.CharField(label="Object", required=False, max_length=64, strip=True)
    before = forms.IntegerField(required=False, min_value=1, max_value=LARGEST_KEY, widget=forms.HiddenInput)

    def __init__(self, *args, project: Project, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        everyone = [(str(actor.pk), str(actor)) for actor in actors_in(project)]
        offer(self, "actor", [("", "Everybody"), *everyone])
        offer(self, "action", [("", "Every action"), *_pairs(actions_in(project))])
        types = [(name, name.rpartition(".")[2]) for name in object_types_in(project)]
        offer(self, "object_type", [("", "Every kind"), *types])
        for field in self.fields.values():
            field.widget.attrs["class"] = "input"

    @property
    def filters(self) -> EventFilters:
        """The chosen filters; none for an invalid form, which shows its errors."""
        if not self.is_valid():
            return EventFilters()
        values = self.cleaned_data
        actor = int(values["actor"]) if values["actor"] else None
        return EventFilters(actor, values["action"], values["object_type"], values["object_id"])

    @property
    def cursor(self) -> int | None:
        return self.cleaned_data.get("before") if self.is_valid() else None


def _pairs(values: list[str]) -> list[tuple[str, str]]:
    return [(value, value) for value in values]


@require_safe
@member_view(Role.LEAD)
def event_list(request: HttpRequest, project: Project) -> HttpResponse:
    form = FilterForm(request.GET, project=project)
    events, before = page_of(events_in(project, form.filters), before=form.cursor)
    chosen = {name: value for name, value in form.filters._asdict().items() if value}
    agents = agents_behind(events)
    context = {
        "form": form,
        "rows": [(event, changes(event), agents.get(event.pk)) for event in events],
        "is_filtered": bool(chosen),
        "older": urlencode({**chosen, "before": before}) if before else "",
    }
    return render(request, "audit/list.html", context, status=200 if form.is_valid() else 400)


def changes(event: Event) -> list[tuple[str, object, object]]:
    """The changes of an event: name, value before, value after. None for a missing value."""
    before, after = event.before or {}, event.after or {}
    names = [*before, *(name for name in after if name not in before)]
    return [(name, _shown(before.get(name)), _shown(after.get(name))) for name in names]


def _shown(value: object) -> object:
    return ", ".join(map(str, value)) if isinstance(value, list) else value
