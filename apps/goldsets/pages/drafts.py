"""What the page of a draft tells: what it would hold, what it would leave out, and what stops its freeze."""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from django.urls import reverse

from apps.goldsets import rules
from apps.goldsets.enums import Split, StopKind
from apps.goldsets.execution.freezing import split_facts
from apps.goldsets.models import Version
from apps.goldsets.selectors import versions
from apps.goldsets.selectors.assembly import gather
from apps.goldsets.selectors.freeze_checks import Blocker, find_stops, find_warnings
from apps.goldsets.selectors.losses import losses_facts

SHOWN = 50


def draft_facts(version: Version, *, at: datetime) -> dict[str, Any]:
    found = gather(version)
    stops = find_stops(found, at=at)
    sides = split_facts(found)
    losses = losses_facts(found.losses)
    return {
        "version": version,
        "left_out": rules.counted_losses(losses),
        "losses": found.losses[:SHOWN],
        "losses_total": len(found.losses),
        "rounds": version.rounds.order_by("number"),
        "found": found,
        "splits": [(side, sides[side]) for side in Split.values],
        "stops": _by_kind(version, stops),
        "counted": rules.counted(stops),
        "warnings": find_warnings(found),
        "former": found.former,
        "waiting": versions.triples_on_their_way(version),
    }


def _by_kind(version: Version, stops: Sequence[Blocker]) -> list[dict[str, Any]]:
    slug = version.gold_set.project.slug
    return [
        {"heading": rules.counted(listed), "stops": [(stop.sentence, _place(slug, stop)) for stop in listed]}
        for listed in (list(group) for _, group in groupby(stops, key=lambda stop: stop.kind))
    ]


def _place(slug: str, stop: Blocker) -> str:
    """Where a stop is cleared; empty when there is no page for it."""
    if stop.kind in {StopKind.STALE, StopKind.NOT_ACCEPTED, StopKind.MACHINE}:
        return reverse("review:triple", args=[slug, stop.object_id])
    if stop.kind == StopKind.UNRESOLVED and stop.object_id is not None:
        return reverse("judging:adjudicate-pair", args=[slug, stop.round_id, stop.object_id])
    if stop.kind == StopKind.UNRESOLVED:
        return reverse("judging:round", args=[slug, stop.round_id])
    if stop.kind == StopKind.PERMISSION and stop.object_id is not None:
        return reverse("queries:source", args=[slug, stop.object_id])
    if stop.kind in {StopKind.PERMISSION, StopKind.LEAK}:
        return reverse("queries:list", args=[slug])
    return ""
