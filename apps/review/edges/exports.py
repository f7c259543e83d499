"""The download of triples, for pages and the API."""

from django.http import StreamingHttpResponse
from django.utils import timezone

from apps.accounts.selectors import Member
from apps.review.actions.reminding import export_triples
from apps.review.selectors.exports import CONTENT_TYPES, Selection, file_name


def export_response(member: Member, *, state: str, form: str) -> StreamingHttpResponse:
    """The file, streamed and not stored. The same for pages and the API."""
    at = timezone.now()
    selection = Selection(member.project, state, member=member, at=at)
    pieces = export_triples(selection, form=form, actor=member.user, at=at)
    answer = StreamingHttpResponse(pieces, content_type=f"{CONTENT_TYPES[form]}; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{file_name(selection, form)}"'
    answer["X-Content-Type-Options"] = "nosniff"
    return answer
