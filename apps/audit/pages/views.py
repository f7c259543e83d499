"""The list of events, with what each changed."""

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.accounts.edges.access import member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.audit.forms import FilterForm
from apps.audit.models import Event
from apps.audit.selectors.events import events_in, page_of


@require_safe
@member_view(Role.LEAD)
def event_list(request: HttpRequest, project: Project) -> HttpResponse:
    form = FilterForm(request.GET, project=project)
    events, before = page_of(events_in(project, form.filters), before=form.cursor)
    chosen = {name: value for name, value in form.filters._asdict().items() if value}
    context = {
        "form": form,
        "rows": [(event, changes(event)) for event in events],
        "is_filtered": bool(chosen),
        "older": urlencode({**chosen, "before": before}) if before else "",
        "section": "Audit",
    }
    return render(request, "audit/list.html", context, status=200 if form.is_valid() else 400)


def changes(event: Event) -> list[tuple[str, object, object]]:
    """The changes of an event: name, value before, value after. None for a missing value."""
    before, after = event.before or {}, event.after or {}
    names = [*before, *(name for name in after if name not in before)]
    return [(name, before.get(name), after.get(name)) for name in names]
