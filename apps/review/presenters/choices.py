"""Shared by pages and the API: the download, and the reasons and categories that forms offer."""

from collections.abc import Iterable
from typing import NamedTuple

from django.http import StreamingHttpResponse
from django.utils import timezone

from apps.accounts.selectors import Member
from apps.review.actions.exporting import export_triples
from apps.review.enums import CATEGORY_KEYS, POLICIES, REASON_HELP, REASON_KEYS, Category, Reason
from apps.review.selectors.exports import CONTENT_TYPES, Selection, file_name


class ShownChoice(NamedTuple):
    value: str
    label: str
    help: str
    key: str
    checked: bool


def reasons_shown(chosen: Iterable[str]) -> list[ShownChoice]:
    """The six reasons in the order of their keys, those of `chosen` ticked."""
    ticked = set(chosen)
    return [
        ShownChoice(reason.value, reason.label, REASON_HELP[reason], REASON_KEYS[reason], reason.value in ticked)
        for reason in Reason
    ]


def categories_shown(chosen: str) -> list[ShownChoice]:
    """The kinds of entailment in the order of their keys, each with its policy."""
    return [
        ShownChoice(kind.value, kind.label, POLICIES[kind].short, CATEGORY_KEYS[kind], kind.value == chosen)
        for kind in Category
    ]


def export_response(member: Member, *, state: str, form: str) -> StreamingHttpResponse:
    """The file, streamed and not stored. The same for pages and the API."""
    at = timezone.now()
    selection = Selection(member.project, state, member=member, at=at)
    pieces = export_triples(selection, form=form, actor=member.user, at=at)
    answer = StreamingHttpResponse(pieces, content_type=f"{CONTENT_TYPES[form]}; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{file_name(selection, form)}"'
    answer["X-Content-Type-Options"] = "nosniff"
    return answer
