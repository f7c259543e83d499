"""What a version leaves out of what was judged: each pair and each query, with the reason.

Candidates are the pairs of the chosen rounds, those that the rounds kept from other rounds, and those of the version
before.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple

from apps.common.files.csvsafe import csv_lines
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import TextKey, texts_of
from apps.goldsets.enums import (
    CURE_OF_EARLIER,
    CURE_OF_EARLIER_GONE,
    CURE_OF_POOLED,
    CURE_OF_TAKEN,
    CURE_OF_WAITING,
    CURES,
    LossKind,
    LossReason,
)
from apps.goldsets.models import Version, VersionGrade
from apps.judging.models import KeptPair, Round
from apps.judging.selectors.pairs import PairKey
from apps.judging.selectors.pending_work import PooledIn, WaitingIn
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
    """A pair that a version may leave out: its grade, if any, and the round it was judged in, if any.

    `version_id` is the block version that was graded: of two texts of a block the later one has the higher.
    """

    query_id: int
    text: TextKey
    block_name: str
    grade: int | None = None
    round_name: str = ""
    version_id: int = 0

    @property
    def key(self) -> PairKey:
        return self.query_id, self.text

    @property
    def pair(self) -> tuple[int, int]:
        return self.query_id, self.text.block_id


class JudgedIn(NamedTuple):
    """A grade that a pair has, and the round it is from."""

    grade: int | None
    name: str


class Ways(NamedTuple):
    """Where a grade of a pair that the version leaves out can come from.

    Of pairs on texts of the version's snapshot: the rounds that judged them, those in which they wait, and pools of
    editions that have them. Of texts that it does not hold: the snapshot in which they went; `taken` are the keys of
    those whose edition was taken. `latest` is the version's snapshot.
    """

    judged: Mapping[PairKey, JudgedIn]
    waiting: Mapping[PairKey, WaitingIn]
    pooled: Mapping[PairKey, PooledIn]
    editions: Mapping[TextKey, Snapshot]
    latest: Snapshot
    taken: frozenset[int]


class Loss(NamedTuple):
    """A pair or a query that a version leaves out. A query has no block and no grade.

    `round_id` is the round in which the new text of the pair waits to be judged, `pool_id` the pool that has it without
    a round, `edition_id` the snapshot in which its text went; `remedy` are the words for them.
    """

    kind: LossKind
    query_name: str
    block_name: str
    grade: int | None
    reason: LossReason
    sentence: str
    round_id: int | None = None
    pool_id: int | None = None
    edition_id: int | None = None
    is_taken: bool = False
    remedy: str = ""

    @property
    def cure(self) -> str:
        """What can be done about it."""
        return self.remedy or CURES[self.reason]

    def as_row(self) -> dict[str, Any]:
        """The fields that a frozen version keeps: what could have been done then is of no use later."""
        row = self._asdict()
        return {name: row[name] for name in KEPT}


KEPT = ("kind", "query_name", "block_name", "grade", "reason", "sentence")
Pair = tuple[int, int]
"""A query and a block, whatever its text."""

REPLACED = frozenset({LossReason.TEXT_CHANGED, LossReason.BLOCK_GONE})
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
        self._texts: dict[Pair, set[TextKey]] = defaultdict(set)
        self._graded: dict[Pair, int] = {}

    def reason(self, query_id: int, text: TextKey) -> LossReason | None:
        """Why a pair is not part of the version, whatever its grade; None when its query and its text are."""
        place = self._places.get(text.block_id)
        if self._queries[query_id].retired_at is not None:
            return LossReason.QUERY_RETIRED
        if place is None:
            return LossReason.BLOCK_GONE
        return None if place.text_digest == text.digest else LossReason.TEXT_CHANGED

    def miss(self, pair: MissablePair, reason: LossReason) -> None:
        name, sentence = self._queries[pair.query_id].outside_id, str(reason.label)
        if reason == LossReason.NOT_CHOSEN and pair.round_name:
            sentence = f"It was judged in {pair.round_name}, which is not chosen."
        loss = Loss(LossKind.PAIR, name, pair.block_name, pair.grade, reason, sentence)
        self._texts[pair.pair].add(pair.text)
        known = self._pairs.get(pair.pair)
        if known is None or self._says_more(pair, reason, known[0]):
            self._pairs[pair.pair] = (loss, pair.text.digest)
            self._graded[pair.pair] = pair.version_id if pair.grade is not None else 0

    def _says_more(self, pair: MissablePair, reason: LossReason, known: Loss) -> bool:
        """A reason about the present text before others; of other texts the grade on the latest, which is in force."""
        if (reason in CHOICES) != (known.reason in CHOICES):
            return reason in CHOICES
        return pair.grade is not None and pair.version_id > self._graded[pair.pair]

    @property
    def queries(self) -> set[int]:
        """The queries of the pairs that were missed."""
        return {query for query, _ in self._pairs}

    @property
    def missed_texts(self) -> set[TextKey]:
        """The texts of pairs that are left out because the snapshot does not hold them."""
        replaced = (pair for pair, (loss, _) in self._pairs.items() if loss.reason in REPLACED)
        return {text for pair in replaced for text in self._texts[pair]}

    def show_ways(self, ways: Ways) -> None:
        """Say of each pair whose text the snapshot does not hold where its grade can come from."""
        for pair, (loss, digest) in self._pairs.items():
            if loss.reason in REPLACED:
                self._pairs[pair] = (self._with_way(pair, loss, ways), digest)

    def _with_way(self, pair: Pair, loss: Loss, ways: Ways) -> Loss:
        query, block = pair
        if (place := self._places.get(block)) is not None:
            key = query, TextKey(block, place.text_digest)
            if (judged := ways.judged.get(key)) is not None:
                sentence = f"{loss.sentence} The new text was judged in {judged.name}, which is not chosen."
                return loss._replace(reason=LossReason.NOT_CHOSEN, sentence=sentence, grade=judged.grade)
            if (waiting := ways.waiting.get(key)) is not None:
                sentence = f"{loss.sentence} The new text waits to be judged in {waiting.name}."
                return loss._replace(sentence=sentence, round_id=waiting.round_id, remedy=CURE_OF_WAITING)
            if (pooled := ways.pooled.get(key)) is not None:
                sentence = f"{loss.sentence} The new text is in the pool {pooled.name}, without a round."
                return loss._replace(sentence=sentence, pool_id=pooled.pool_id, remedy=CURE_OF_POOLED)
        return self._with_edition(pair, loss, ways)

    def _with_edition(self, pair: Pair, loss: Loss, ways: Ways) -> Loss:
        """The loss with the latest edition in which a text of the pair went: there its grades are decided on."""
        editions = [ways.editions[text] for text in self._texts[pair] if text in ways.editions]
        if not editions:
            return loss
        edition = max(editions, key=lambda snapshot: snapshot.number)
        loss = loss._replace(edition_id=edition.pk)
        if edition.pk in ways.taken and loss.reason == LossReason.TEXT_CHANGED:
            return loss._replace(is_taken=True, remedy=CURE_OF_TAKEN.format(name=edition.name))
        if edition.pk == ways.latest.pk:
            return loss
        words = CURE_OF_EARLIER if loss.reason == LossReason.TEXT_CHANGED else CURE_OF_EARLIER_GONE
        return loss._replace(remedy=words.format(name=edition.name))

    def listed(self, pairs: Iterable[Pair], queries: Iterable[int], before: Iterable[int]) -> list[Loss]:
        """The queries first, then the pairs, each by name.

        `queries` are those that the version has, `before` those of the version before, and `pairs` those that it has of
        the queries of missed pairs.
        """
        included = set(pairs)
        self._pairs = {pair: loss for pair, loss in self._pairs.items() if not self._goes_on(pair, *loss, included)}
        missed = [self._with_new_name(loss, digest) for loss, digest in self._pairs.values()]
        missed.sort(key=lambda loss: (loss.query_name.encode(), loss.block_name.encode()))
        return [*self._queries_missed(set(queries), set(before)), *missed]

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

    def _queries_missed(self, included: set[int], before: set[int]) -> list[Loss]:
        counts = Counter(query for query, _ in self._pairs)
        missed = []
        for pk in (counts.keys() | before) - included:
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


FormerPair = tuple[int, str, int, str, int, str | None]
"""Of a judged pair of the version before as it is stored: block version, name of the block, grade, resolution, judges.

A version has hundreds of thousands of them."""


def pairs_before(
    former: Version | None, queries: Mapping[int, int], known: Mapping[int, TextKey]
) -> dict[PairKey, FormerPair]:
    """The judged pairs of the version before; none without one.

    `queries` are the keys of its queries by those of their rows, `known` texts by their block version.
    """
    columns = ("query_id", "block_version_id", "block_id", "grade", "resolution", "judges", "facets")
    rows = list(VersionGrade.objects.filter(version=former).values_list(*columns).iterator(chunk_size=ROWS))
    texts = {**known, **texts_of({row[1] for row in rows} - known.keys())}
    return {(queries[row[0]], texts[row[1]]): (*row[1:6], facets_in_one(row[6])) for row in rows}


def facets_in_one(facets: Sequence[str] | None) -> str | None:
    """The subtopics of a pair as one text, by which two are compared; None where nobody was asked."""
    return None if facets is None else ", ".join(facets)


def missable(pairs: Mapping[PairKey, FormerPair], *, but: Container[PairKey]) -> Iterator[MissablePair]:
    """The pairs of the version before, but those with these keys: nearly all, so nothing is made of them."""
    for key, pair in pairs.items():
        if key not in but:
            version, block, grade, *_ = pair
            yield MissablePair(*key, block, grade, version_id=version)


def losses_facts(losses: Iterable[Any]) -> dict[str, Any]:
    """The numbers of lost pairs and queries, and of pairs by reason."""
    rows = list(losses)
    reasons = Counter(str(loss.reason) for loss in rows if loss.kind == LossKind.PAIR)
    return {
        "pairs": reasons.total(),
        "queries": len(rows) - reasons.total(),
        "by_reason": dict(sorted(reasons.items())),
    }


def losses_by_cure(losses: Iterable[Loss]) -> list[list[Loss]]:
    """The losses with the same reason and the same cure together, the largest group first, equal ones as they came."""
    groups: dict[Loss, list[Loss]] = defaultdict(list)
    for loss in losses:
        groups[loss._replace(query_name="", block_name="", grade=None)].append(loss)
    return sorted(groups.values(), key=len, reverse=True)


def losses_as_csv(losses: Iterable[Any]) -> str:
    """All losses as a file."""
    cells = attrgetter("kind", "query_name", "block_name", "grade", "reason", "sentence", "cure")
    return "".join(csv_lines([COLUMNS, *map(cells, losses)]))
