"""Rules of search logs. Each returns the reason against an action as a sentence, or None."""

from collections.abc import Iterable, Mapping
from typing import Any

from apps.common.text.wording import plural
from apps.querylogs.enums import USUAL_PEOPLE, OfferState
from apps.querylogs.models import OfferedQuery, QueryLog

UNREAD_DAYS = 14
MOST_OFFERED = 2_000
MOST_NAME = 120


def people_refusal(least: int, *, is_permitted: bool) -> str | None:
    """Why queries of so few people cannot be offered; `is_permitted`: the source has a permission on record."""
    if least >= USUAL_PEOPLE or is_permitted:
        return None
    return (
        f"Fewer than {USUAL_PEOPLE} people are enough only for a source with a permission on record. Choose such a"
        " source, or record its permission under Permissions first."
    )


def draw_refusal(*, least: int, has_people: bool, queries: int, is_permitted: bool) -> str | None:
    """Why nothing can be drawn: `queries` are those that enough people asked."""
    if reason := people_refusal(least, is_permitted=is_permitted):
        return reason
    if least > 1 and not has_people:
        return (
            "No column says who searched, so nobody knows how many people asked a query. Choose the column of the"
            " people; or, for a source with a permission on record, 1 person."
        )
    if not queries:
        asked = "was asked by 1 person" if least == 1 else f"was asked by {least} people"
        return f"No query {asked}. Choose fewer people, or bring a longer log."
    return None


def open_refusal(log: QueryLog) -> str | None:
    """Why the log's queries cannot be decided any more."""
    return None if log.closed_at is None else f"{log.name} is closed: its unread queries are deleted."


def decide_refusal(offered: OfferedQuery) -> str | None:
    """Why this query cannot be decided now."""
    if offered.state == OfferState.WAITING:
        return None
    return f"Query {offered.position} was {offered.get_state_display()} meanwhile. Undo that first."


def undo_refusal(offered: OfferedQuery) -> str | None:
    """Why the decision on this query cannot be taken back."""
    if offered.state == OfferState.WAITING:
        return f"Query {offered.position} is not decided."
    if not offered.text:
        return f"The text of query {offered.position} is deleted, so its decision stays."
    if offered.state == OfferState.KEPT and offered.query is not None and offered.query.locked_at is not None:
        return f"{offered.query.outside_id} was used in a run or graded since. Retire it instead."
    return None


def log_undo_refusal(log: QueryLog) -> str | None:
    """Why the import of a log cannot be undone: queries of it have come in."""
    came = log.offered.exclude(query=None).count()
    if not came:
        return None
    return f"{plural(came, 'query has', 'queries have')} come in from it. Retire what is not wanted instead."


def runs_refusal(log: QueryLog) -> str | None:
    """Why no runs can be made of what a log tells that systems returned."""
    if log.offered.filter(state=OfferState.KEPT).exclude(returned={}).exists():
        return None
    return "No query that was kept has results of a system. Keep some first, or import traces that list passages."


def fetch_refusal(origin: Mapping[str, Any], others: Iterable[Mapping[str, Any]]) -> str | None:
    """Why traces are not fetched: their searches are in the project from there, or on their way to it."""
    since, until = origin["wanted"]["since"], origin["wanted"]["until"]
    for other in others:
        there = other["wanted"]
        is_same = {**other, "wanted": {**there, "since": since, "until": until}} == origin
        if is_same and there["since"] < until and since < there["until"]:
            return (
                f"The searches from {there['since']} to {there['until']} were fetched with this filter already. Choose"
                " another time; or discard or undo that import first."
            )
    return None
