"""The number that a draft would get, and its changelog as Karat would write it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from apps.corpus.models import Snapshot
from apps.goldsets.core.numbering import Changes, Numbered, draft_changelog, first_number, next_number
from apps.goldsets.enums import Split
from apps.goldsets.models import VersionQuery, VersionTriple
from apps.goldsets.selectors.assembly import Gathered, places_of
from apps.goldsets.selectors.diffs import Diff, ItemChange, diff_of_draft

FIRST_CHANGELOG = "- First version."


class NumberedDraft(NamedTuple):
    numbered: Numbered
    changelog: str


def number_of(gathered: Gathered) -> NumberedDraft:
    """By what changed since the version that was frozen last before this one, in both splits."""
    former = gathered.former
    if former is None:
        return NumberedDraft(first_number(), FIRST_CHANGELOG)
    changes = _changes(diff_of_draft(former, gathered), other_passages=_has_other_passages(gathered, former.snapshot))
    return NumberedDraft(next_number(former.numbered, changes), draft_changelog(changes, named=_dev_names(gathered)))


def _changes(diff: Diff, *, other_passages: bool) -> Changes:
    return Changes(
        retired=_names(diff.removed),
        regraded=_names(diff.regraded),
        reworded=_names(diff.reworded),
        repinned=_names(diff.repinned),
        remarked=_names(diff.remarked),
        added=_names(diff.added),
        redescribed=_names(diff.redescribed),
        other_passages=other_passages,
    )


def _names(changes: Sequence[ItemChange]) -> list[str]:
    return [change.name for change in changes]


def _has_other_passages(gathered: Gathered, former: Snapshot) -> bool:
    if former == gathered.version.snapshot:
        return False
    before = {(place.outside_id, place.text_digest) for place in places_of(former).values()}
    return before != {(place.outside_id, place.text_digest) for place in gathered.places.values()}


def _dev_names(gathered: Gathered) -> frozenset[str]:
    """The queries and triples of dev, now or in the version before. Judged pairs are counted, never named."""
    now = [query.outside_id for query in gathered.queries.values() if gathered.split_of_query(query) == Split.DEV]
    now += [triple.label for triple in gathered.triples if gathered.split_of_triple(triple) == Split.DEV]
    before = VersionQuery.objects.filter(version=gathered.former, split=Split.DEV).values_list("outside_id", flat=True)
    labels = VersionTriple.objects.filter(version=gathered.former, split=Split.DEV).values_list("label", flat=True)
    return frozenset([*now, *before, *labels])
