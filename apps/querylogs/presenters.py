"""What the page shows on which the queries of a search log are read."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from apps.common.text.words import words_of
from apps.queries.core.masking import BY_PEOPLE, with_masks
from apps.querylogs.enums import OfferState
from apps.querylogs.models import MaskedName, OfferedQuery, QueryLog
from apps.querylogs.selectors.logs import Tally, nearest, offered_in, tally_of

AROUND = 8
"""Queries of the list before the one that is read; as many and more follow."""
GLYPHS = {
    OfferState.KEPT: "done",
    OfferState.SAME: "same",
    OfferState.REJECTED: "out",
    OfferState.WAITING: "todo",
    OfferState.EXPIRED: "out",
}
BAR_WIDTH = 252


class QueueRow(NamedTuple):
    """A line of the list: what stands there, and whether that is the query itself."""

    offered: OfferedQuery
    parts: list[tuple[str, bool]]
    is_text: bool
    glyph: str


def reading_context(log: QueryLog, offered: OfferedQuery) -> dict[str, Any]:
    """Context of `querylogs/read.html`."""
    every = list(offered_in(log))
    tally = tally_of(every)
    start = max(0, min(offered.position - 1 - AROUND, len(every) - 2 * AROUND - 1))
    last = next((one for one in every if one.text and one.state != OfferState.WAITING), None)
    places = {one.position: number for number, one in enumerate(every)}
    here = places[offered.position]
    return {
        "log": log,
        "offered": offered,
        "parts": _readable(offered),
        "queue": [_queued(one) for one in every[start : start + 2 * AROUND + 1]],
        "before": every[here - 1] if here else None,
        "following": every[here + 1] if here + 1 < len(every) else None,
        "tally": tally,
        "bars": _bars(tally),
        "ticks": [(number * 1200 / len(every), one.state != OfferState.WAITING) for number, one in enumerate(every)],
        "near": nearest(log.project, offered.text) if offered.state == OfferState.WAITING else [],
        "last": last,
        "kinds": BY_PEOPLE,
        "names": MaskedName.objects.filter(project=log.project).count(),
        "stands_for": round(1 / offered.chance) if offered.chance < 1 else 1,
        "weeks": _weeks(offered),
        "masks": _counted(offered.masks),
    }


def _readable(offered: OfferedQuery) -> list[tuple[str, str]]:
    """The words of a query, each with what it is: "mask", "doubt" or "word"."""
    parts = []
    doubts = set(offered.doubts)
    for text, is_mask in with_masks(offered.text or (offered.query.text if offered.query else "")):
        if is_mask:
            parts.append((text, "mask"))
        else:
            parts += [(word, "doubt" if doubts.intersection(words_of(word)) else "word") for word in text.split()]
    return parts


def _queued(one: OfferedQuery) -> QueueRow:
    glyph = GLYPHS[OfferState(one.state)]
    if one.state == OfferState.SAME and one.query is not None:
        return QueueRow(one, [(f"same as {one.query.outside_id}", False)], False, glyph)
    text = one.query.text if one.query else one.text if one.state == OfferState.WAITING else ""
    return QueueRow(one, with_masks(text) if text else [("text deleted", False)], bool(text), glyph)


def _bars(tally: Tally) -> list[tuple[str, float, float]]:
    """(class, start, width) of each part of the bar."""
    bars, start = [], 0.0
    for name, number in (("in", tally.kept), ("same", tally.same), ("out", tally.rejected + tally.expired)):
        width = BAR_WIDTH * number / max(1, tally.total)
        bars.append((name, start, width))
        start += width
    return [*bars, ("open", start, BAR_WIDTH - start)]


def _weeks(offered: OfferedQuery) -> int:
    if not (offered.first_week and offered.last_week):
        return 0
    return (offered.last_week - offered.first_week).days // 7 + 1


def _counted(masks: Sequence[str]) -> list[tuple[str, int]]:
    return sorted(Counter(masks).items())
