"""Handing triples out: the page that says what a file would hold, and the file."""

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.accounts.access import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.accounts.selectors import Member
from apps.review.exporting import CONTENT_TYPES, STATES, Selection, export_triples, file_name
from apps.triples.enums import State
from apps.triples.formats import FORMATS

READERS = (Role.ANNOTATOR, Role.REVIEWER, Role.LEAD)


def export_response(member: Member, *, state: str, form: str) -> StreamingHttpResponse:
    """The file as it is made; nothing of it is kept. Pages and the API give the same."""
    at = timezone.now()
    selection = Selection(member.project, state, member=member, at=at)
    pieces = export_triples(selection, form=form, actor=member.user, at=at)
    answer = StreamingHttpResponse(pieces, content_type=f"{CONTENT_TYPES[form]}; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{file_name(selection, form)}"'
    answer["X-Content-Type-Options"] = "nosniff"
    return answer


@member_view(*READERS)
@require_safe
def export(request: HttpRequest, project: Project) -> HttpResponse:
    state = request.GET.get("state", State.ACCEPTED.value)
    selection = Selection(project, state, member=member_of(request), at=timezone.now())
    context = {
        "section": "Bench",
        "state": state,
        "states": STATES,
        "forms": FORMATS,
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
