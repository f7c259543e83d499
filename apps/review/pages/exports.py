"""Export of triples: the page that previews a file, and the file."""

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.accounts.edges.access import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.review.edges.exports import export_response
from apps.review.selectors.exports import STATES, Selection
from apps.triples.enums import State
from apps.triples.formats import FORMATS, WRITTEN

READERS = (Role.ANNOTATOR, Role.REVIEWER, Role.LEAD)


@member_view(*READERS)
@require_safe
def export(request: HttpRequest, project: Project) -> HttpResponse:
    state = request.GET.get("state", State.ACCEPTED.value)
    selection = Selection(project, state, member=member_of(request), at=timezone.now())
    context = {
        "section": "Q&A",
        "state": state,
        "states": STATES,
        "forms": {form: FORMATS[form] for form in WRITTEN},
        "label": STATES[state],
        "held": selection.held(),
        "left_out": selection.left_out(),
    }
    return render(request, "review/export.html", context)


@member_view(*READERS)
@require_safe
def export_file(request: HttpRequest, project: Project) -> StreamingHttpResponse:
    wanted = request.GET
    return export_response(
        member_of(request), state=wanted.get("state", State.ACCEPTED.value), form=wanted.get("format", "jsonl")
    )
