"""Shared by pages and the API: the download, reasons and categories that forms offer, what came from elsewhere."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from django.http import StreamingHttpResponse
from django.utils import timezone

from apps.accounts.selectors import Member
from apps.corpus.models import Import
from apps.corpus.presenters import ImportPanel
from apps.review.actions.elsewhere import running_job
from apps.review.actions.exporting import export_triples
from apps.review.enums import CATEGORY_KEYS, POLICIES, REASON_HELP, REASON_KEYS, Category, Reason
from apps.review.rules import draw_refusal
from apps.review.selectors.elsewhere import a_tenth_of, drawing_order, elsewhere_sets, is_applied
from apps.review.selectors.exports import CONTENT_TYPES, Selection, file_name
from apps.triples.selectors.imported import reviewed_elsewhere


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


def elsewhere_panel(item: Import, member: Member) -> ImportPanel | None:
    """What a lead can do with the Q&As of an import that were reviewed elsewhere, and what is known of them."""
    if not is_applied(item):
        return None
    to_take = reviewed_elsewhere(item).count()
    found = next(iter(elsewhere_sets(member.project, [item])), None)
    if not (to_take or found):
        return None
    panel: dict[str, Any] = {"to_take": to_take, "found": found, "taken": item.result.get("taken")}
    panel["job"] = running_job(item)
    if found:
        order = drawing_order(item)
        drawn, all_of_them = len(order.drawn), len(order.drawn) + len(order.left)
        proposed = a_tenth_of(found.taken) if not drawn else min(drawn * 2, all_of_them)
        panel |= {
            "seed": order.seed,
            "least": drawn + 1,
            "most": all_of_them,
            "proposed": max(drawn + 1, min(proposed, all_of_them)),
            "draw_refusal": draw_refusal(len(order.left), drawn, drawn + 1),
        }
    return ImportPanel("review/_elsewhere.html", panel)


def export_response(member: Member, *, state: str, form: str) -> StreamingHttpResponse:
    """The file, streamed and not stored. The same for pages and the API."""
    at = timezone.now()
    selection = Selection(member.project, state, member=member, at=at)
    pieces = export_triples(selection, form=form, actor=member.user, at=at)
    answer = StreamingHttpResponse(pieces, content_type=f"{CONTENT_TYPES[form]}; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{file_name(selection, form)}"'
    answer["X-Content-Type-Options"] = "nosniff"
    return answer
