"""What a manifest keeps of the work behind a version: its number, disagreement, open work, warnings of checks.

Counted when the version is frozen, since none of it can be counted later: people go on. Nobody and no item is named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from apps.corpus.selectors.corpora import texts_of
from apps.goldsets.core.numbering import FIRST, Changes, Numbered, draft_changelog, next_number
from apps.goldsets.enums import CheckLevel, Split
from apps.goldsets.models import Version
from apps.goldsets.selectors.assembly import Gathered, places_of
from apps.goldsets.selectors.diffs import diff_of_draft
from apps.goldsets.selectors.freeze_policy import LeadCheck
from apps.metrics.agreement.counting import MISSING
from apps.metrics.agreement.ratings import Ratings
from apps.queries.models import Source
from apps.review.enums import VerdictChoice
from apps.review.models import Verdict
from apps.review.selectors.elsewhere import elsewhere_sets
from apps.triples.enums import ELSEWHERE, State
from apps.triples.models import USABLE, Triple

FIRST_CHANGELOG = "- First version."
SAME_NAMES = ("regraded", "reworded", "repinned", "remarked", "added", "redescribed")


class NumberedDraft(NamedTuple):
    numbered: Numbered
    changelog: str


def number_of(gathered: Gathered) -> NumberedDraft:
    """By what changed since the version that was frozen last before this one, in both splits."""
    former = gathered.former
    if former is None:
        return NumberedDraft(FIRST, FIRST_CHANGELOG)
    diff = diff_of_draft(former, gathered)
    named = {kind: [change.name for change in getattr(diff, kind)] for kind in SAME_NAMES}
    retired, other_passages = [change.name for change in diff.removed], _has_other_passages(gathered, former)
    changes = Changes(retired=retired, other_passages=other_passages, **named)
    return NumberedDraft(next_number(former.numbered, changes), draft_changelog(changes, named=_dev_names(gathered)))


def _has_other_passages(gathered: Gathered, former: Version) -> bool:
    if former.snapshot_id == gathered.version.snapshot_id:
        return False
    before = {(place.outside_id, place.text_digest) for place in places_of(former.snapshot).values()}
    return before != {(place.outside_id, place.text_digest) for place in gathered.places.values()}


def _dev_names(gathered: Gathered) -> frozenset[str]:
    """The queries and triples of dev, now or in the version before. Judged pairs are counted, never named."""
    now = [query.outside_id for query in gathered.queries.values() if gathered.split_of_query(query) == Split.DEV]
    now += [triple.label for triple in gathered.triples if gathered.split_of_triple(triple) == Split.DEV]
    before = [*gathered.queries_before, *gathered.triples_before]
    return frozenset([*now, *(item.name for item in before if item.split == Split.DEV)])


WAITING = (State.IN_REVIEW, State.DISPUTED)


def disagreement_facts(gathered: Gathered, ratings: Ratings) -> dict[str, Any]:
    """Of the pairs that several people graded and of the triples: how many they differed on, how far, what ended it."""
    return {"grades": _of_grades(gathered, ratings), "verdicts": _of_verdicts(gathered)}


def _of_grades(gathered: Gathered, ratings: Ratings) -> dict[str, Any]:
    """`by_distance` counts by the difference between the highest and the lowest grade of a pair."""
    scale, codes = np.array(ratings.grades), ratings.codes
    given = codes != MISSING
    shared = given.sum(axis=1) >= 2
    highest = np.where(given, codes, -1).max(axis=1, initial=-1)
    lowest = np.where(given, codes, len(scale)).min(axis=1, initial=len(scale))
    apart = np.flatnonzero(shared & (highest > lowest))
    distances = Counter((scale[highest[apart]] - scale[lowest[apart]]).tolist())
    texts = texts_of(ratings.items[apart, 1].tolist())
    differing = {(query, texts[text]) for query, text in ratings.items[apart].tolist()}
    resolutions = Counter(pair.resolution for pair in gathered.pairs if pair.key in differing)
    return {
        "shared": int(shared.sum()),
        "differing": len(apart),
        "by_distance": {str(distance): n for distance, n in sorted(distances.items())},
        "by_resolution": dict(sorted(resolutions.items())),
    }


def _of_verdicts(gathered: Gathered) -> dict[str, Any]:
    """The triples that a reviewer flagged in any round, by what the flags named: a triple can count several times.

    Flags that were taken back count too: there was a dispute.
    """
    flags = Verdict.objects.filter(
        revision__triple__in=[triple.pk for triple in gathered.triples], choice=VerdictChoice.FLAG
    )
    reasons, categories = set(), set()
    for triple, named, category in flags.values_list("revision__triple_id", "reasons", "category"):
        reasons |= {(triple, reason) for reason in named}
        categories |= {(triple, category)} if category else set()
    flagged = {triple for triple, _ in reasons}
    ended = Counter(triple.resolution for triple in gathered.triples if triple.pk in flagged)
    return {
        "reviewed": sum(triple.resolution != ELSEWHERE for triple in gathered.triples),
        "differing": len(flagged),
        "by_reason": dict(sorted(Counter(reason for _, reason in reasons).items())),
        "by_category": dict(sorted(Counter(category for _, category in categories).items())),
        "by_resolution": dict(sorted(ended.items())),
    }


def elsewhere_facts(gathered: Gathered) -> dict[str, Any]:
    """How many triples were reviewed elsewhere, and of the sets they came with how many are wrong; empty without any.

    A set counts as a whole: those of it that were reviewed here since, and those that were dropped, tell of the rest.
    """
    number = sum(triple.resolution == ELSEWHERE for triple in gathered.triples)
    if not number:
        return {}
    sets = [found.as_json for found in elsewhere_sets(gathered.version.gold_set.project)]
    return {"elsewhere": {"triples": number, "sets": sets}}


def waiting_facts(version: Version) -> dict[str, int]:
    """How many triples on the corpus were not decided yet, by their state, and so are not in the version."""
    triples = Triple.objects.filter(project=version.gold_set.project, snapshot__corpus=version.snapshot.corpus_id)
    counts = Counter(triples.filter(state__in=WAITING).exclude(USABLE).values_list("state", flat=True))
    return {state.value: counts[state] for state in WAITING}


def checks_facts(checks: Iterable[LeadCheck]) -> dict[str, int]:
    """What each check of the project that warned had found, in number. One that refuses lets nothing be frozen."""
    counts: Counter[str] = Counter()
    for check in checks:
        if check.answer is CheckLevel.WARN:
            counts[check.kind.value] += check.found
    return dict(sorted(counts.items()))


def unused_targets(gathered: Gathered) -> list[dict[str, Any]]:
    """The sources that were to give a share and gave neither a query nor a Q&A."""
    used = {query.source for query in gathered.queries.values()}
    used |= {triple.counted_source for triple in gathered.triples}
    aimed = Source.objects.filter(project=gathered.version.gold_set.project, target_share__gt=0).order_by("slug")
    return [{"source": source.slug, "target_share": source.target_share} for source in aimed if source not in used]
