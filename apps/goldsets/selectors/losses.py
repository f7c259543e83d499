"""What a version leaves out of what was judged: each pair and each query, with the reason.

Candidates are the pairs of the chosen rounds, those that the rounds kept from other rounds, and those of the version
before.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from apps.common.files.csvsafe import safe_cell
from apps.corpus.selectors.corpora import TextKey
from apps.goldsets.enums import CURE_OF_WAITING, CURES, LossKind, LossReason
from apps.goldsets.models import Version, VersionGrade, VersionQuery
from apps.judging.models import KeptPair, Round
from apps.judging.selectors.unanswered import WaitingIn
from apps.queries.models import Query

ROWS = 5_000
COLUMNS = ("kind", "query_id", "block_id", "grade", "reason", "why", "cure")


class SnapshotPlace(NamedTuple):
    """A block in the version's snapshot, with its position."""

    position: int
    version_id: int
    text_digest: str
    outside_id: str


class Successor(NamedTuple):
    """A block of the version's snapshot, by key and name."""

    block_id: int
    name: str


class MissablePair(NamedTuple):
    """A pair that a version may leave out: its grade, if any, and the round it was judged in, if any."""

    query_id: int
    text: TextKey
    block_name: str
    grade: int | None = None
    round_name: str = ""

    @property
    def key(self) -> tuple[int, TextKey]:
        return self.query_id, self.text

    @property
    def pair(self) -> tuple[int, int]:
        return self.query_id, self.text.block_id


class Loss(NamedTuple):
    """A pair or a query that a version leaves out. A query has no block and no grade.

    `round_id` is the round in which the new text of the pair waits to be judged.
    """

    kind: LossKind
    query_name: str
    block_name: str
    grade: int | None
    reason: LossReason
    sentence: str
    round_id: int | None = None

    @property
    def cure(self) -> str:
        """What can be done about it."""
        return CURES[self.reason] if self.round_id is None else CURE_OF_WAITING

    def as_row(self) -> dict[str, Any]:
        """The fields that a frozen version keeps: a round that still judged it then is of no use later."""
        row = self._asdict()
        del row["round_id"]
        return row


Pair = tuple[int, int]
"""A query and a block, whatever its text."""

CHOICES = frozenset({LossReason.NOT_CHOSEN, LossReason.RULED_OUT})
"""Reasons about the text that the snapshot holds: they say more than that an older text is gone."""


class Losses:
    """Collects the pairs left out, each query and block once.

    A pair whose text changed and was judged again is no loss, nor one whose text went on under another id with its
    grade: see `listed`.
    """

    def __init__(self, places: Mapping[int, SnapshotPlace], queries: Mapping[int, Query]) -> None:
        self._places = places
        self._queries = queries
        self._pairs: dict[Pair, tuple[Loss, str]] = {}

    def includes(self, pair: MissablePair) -> bool:
        """Whether its query and its text are part of the version; if not, the pair is recorded as lost."""
        reason = self._reason(pair)
        if reason is not None:
            self.miss(pair, reason)
        return reason is None

    def miss(self, pair: MissablePair, reason: LossReason) -> None:
        name, sentence = self._queries[pair.query_id].outside_id, str(reason.label)
        if reason == LossReason.NOT_CHOSEN and pair.round_name:
            sentence = f"It was judged in {pair.round_name}, which is not chosen."
        loss = Loss(LossKind.PAIR, name, pair.block_name, pair.grade, reason, sentence)
        known = self._pairs.get(pair.pair)
        if known is None or (reason in CHOICES and known[0].reason not in CHOICES):
            self._pairs[pair.pair] = (loss, pair.text.digest)

    def _reason(self, pair: MissablePair) -> LossReason | None:
        place = self._places.get(pair.text.block_id)
        if self._queries[pair.query_id].retired_at is not None:
            return LossReason.QUERY_RETIRED
        if place is None:
            return LossReason.BLOCK_GONE
        return None if place.text_digest == pair.text.digest else LossReason.TEXT_CHANGED

    @property
    def has_changed_texts(self) -> bool:
        return any(loss.reason == LossReason.TEXT_CHANGED for loss, _ in self._pairs.values())

    def wait(self, waiting: Mapping[tuple[int, TextKey], WaitingIn]) -> None:
        """Say of each pair whose text changed in which round its new text waits to be judged."""
        for (query, block), (loss, digest) in self._pairs.items():
            if loss.reason != LossReason.TEXT_CHANGED:
                continue
            place = waiting.get((query, TextKey(block, self._places[block].text_digest)))
            if place is not None:
                sentence = f"{loss.sentence} The new text waits to be judged in {place.name}."
                loss = loss._replace(sentence=sentence, round_id=place.round_id)
                self._pairs[query, block] = (loss, digest)

    def listed(self, pairs: Iterable[Pair], queries: Iterable[int], former: Version | None) -> list[Loss]:
        """The queries first, then the pairs, each by name. `pairs` and `queries` are those that the version has."""
        included = set(pairs)
        self._pairs = {pair: loss for pair, loss in self._pairs.items() if not self._goes_on(pair, *loss, included)}
        missed = [self._with_new_name(loss, digest) for loss, digest in self._pairs.values()]
        missed.sort(key=lambda loss: (loss.query_name.encode(), loss.block_name.encode()))
        return [*self._queries_missed(set(queries), former), *missed]

    def _goes_on(self, pair: Pair, loss: Loss, digest: str, included: set[Pair]) -> bool:
        """Whether the version has this pair, or the pair of the block that has the text of a block that is gone."""
        if pair in included:
            return True
        successor = self._blocks_of.get(digest) if loss.reason == LossReason.BLOCK_GONE else None
        return successor is not None and (pair[0], successor.block_id) in included

    def _with_new_name(self, loss: Loss, digest: str) -> Loss:
        """The loss; where another block now has the same text, its sentence names it."""
        if loss.reason != LossReason.BLOCK_GONE or digest not in self._blocks_of:
            return loss
        sentence = f"{loss.sentence} Its text is now in {self._blocks_of[digest].name}, without its grade."
        return loss._replace(sentence=sentence)

    @cached_property
    def _blocks_of(self) -> dict[str, Successor]:
        """The block that has each text in the snapshot."""
        return {place.text_digest: Successor(block, place.outside_id) for block, place in self._places.items()}

    def _queries_missed(self, included: set[int], former: Version | None) -> list[Loss]:
        counts = Counter(query for query, _ in self._pairs)
        known = set(counts)
        if former is not None:
            known |= set(VersionQuery.objects.filter(version=former).values_list("query_id", flat=True))
        missed = []
        for pk in known - included:
            query = self._queries[pk]
            reason = LossReason.NOTHING_LEFT if query.retired_at is None else LossReason.QUERY_RETIRED
            sentence = str(reason.label)
            if reason == LossReason.NOTHING_LEFT and counts[pk]:
                pairs = "Its judged pair is not" if counts[pk] == 1 else f"None of its {counts[pk]:,} judged pairs is"
                sentence = f"{pairs} in this version, and no Q&A of it."
            missed.append(Loss(LossKind.QUERY, query.outside_id, "", None, reason, sentence))
        return sorted(missed, key=lambda loss: loss.query_name.encode())


def kept_elsewhere(rounds: Iterable[Round]) -> list[MissablePair]:
    """The pairs that these rounds did not assign because other rounds had judged them, as judged there."""
    chosen = [round_.pk for round_ in rounds]
    rows = KeptPair.objects.filter(round__in=chosen).exclude(kept_from__in=chosen)
    named = rows.values_list(
        "entry__query_id",
        "entry__version__block_id",
        "entry__version__text_digest",
        "entry__version__block__outside_id",
        "kept_from__name",
    )
    return [
        MissablePair(query, TextKey(block, digest), name, round_name=origin)
        for query, block, digest, name, origin in named.iterator(chunk_size=ROWS)
    ]


def pairs_before(former: Version | None) -> list[MissablePair]:
    """The pairs of the version before."""
    rows = VersionGrade.objects.filter(version=former).values_list(
        "query__query_id", "block_version__block_id", "block_version__text_digest", "block_id", "grade"
    )
    if former is None:
        return []
    return [
        MissablePair(query, TextKey(block, digest), name, grade)
        for query, block, digest, name, grade in rows.iterator(chunk_size=ROWS)
    ]


def losses_facts(losses: Iterable[Any]) -> dict[str, Any]:
    """The numbers of lost pairs and queries, and of pairs by reason."""
    rows = list(losses)
    reasons = Counter(str(loss.reason) for loss in rows if loss.kind == LossKind.PAIR)
    return {
        "pairs": reasons.total(),
        "queries": len(rows) - reasons.total(),
        "by_reason": dict(sorted(reasons.items())),
    }


def losses_as_csv(losses: Iterable[Any]) -> str:
    """All losses as a file; cells that a spreadsheet would execute are made safe."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for loss in losses:
        grade = "" if loss.grade is None else loss.grade
        row = [loss.kind, loss.query_name, loss.block_name, grade, loss.reason, loss.sentence, loss.cure]
        writer.writerow([safe_cell(str(cell)) for cell in row])
    return file.getvalue()
