"""Judged pairs: answers and resolved grades, the matrix for agreement, and what is left for a lead to decide."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, NamedTuple

from django.db.models import BigIntegerField, Count, Exists, Max, OuterRef, Q, QuerySet, Value

from apps.accounts.models import User
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import TextKey, texts_in
from apps.judging.core.resolution import PairState, Resolution, Resolved, Ruling, resolve, spread
from apps.judging.core.seeded_order import shuffled
from apps.judging.enums import RoundKind, RoundState, SeatState
from apps.judging.models import Adjudication, Judgement, Round, Seat, UndecidedPair
from apps.judging.selectors.placeholders import selves_of
from apps.retrieval.models import Pool, PoolEntry

ROWS = 2_000


class ResolvedPair(NamedTuple):
    """A pair and the resolution of its judgements."""

    entry_id: int
    query_id: int
    version_id: int
    round_id: int
    state: PairState
    resolution: Resolution
    grade: int | None
    judges: int

    @property
    def is_ruled_out(self) -> bool:
        """Whether a lead decided that the pair can't be judged."""
        return self.grade is None and self.resolution is Resolution.ADJUDICATED


@dataclass
class JudgedPair:
    """One pair of a round with its live answers, in the order in which they were first given."""

    entry_id: int
    planned: int
    judgements: list[Judgement] = field(default_factory=list)
    decision: Adjudication | None = None

    @property
    def answers(self) -> list[int | None]:
        """The grades, None for "can't judge"."""
        return [judgement.grade for judgement in self.judgements]

    @property
    def resolved(self) -> Resolved:
        """The resolution of the answers."""
        ruling = Ruling(self.decision.grade) if self.decision else None
        return resolve(self.answers, planned=self.planned, ruling=ruling)

    @property
    def spread(self) -> float:
        """How far apart the answers are."""
        return spread(self.answers)


def live_judgements(round_: Round) -> QuerySet[Judgement]:
    """The judgements of a round that no later one supersedes."""
    return Judgement.objects.filter(round=round_, superseded_by=None)


def pair_of(round_: Round, entry: PoolEntry) -> JudgedPair:
    """One pair of the round; planned for 0 judges where the round has no seats of the first pass for it."""
    return next(iter(pairs_of(round_, [entry.pk])), JudgedPair(entry.pk, planned=0))


def pairs_of(round_: Round, entries: Sequence[int]) -> list[JudgedPair]:
    """The pairs with these entries' keys, in that order. A pair without seats in this round is left out."""
    pairs = {pair.entry_id: pair for pair in _pairs(round_, Q(entry__in=entries))}
    return [pairs[pk] for pk in entries if pk in pairs]


def _pairs(round_: Round, which: Q) -> Iterator[JudgedPair]:
    """Pairs in the order of their entries."""
    answers = live_judgements(round_).filter(which, pass_number=1).order_by("entry", "seat__number")
    rows = answers.select_related("annotator").iterator(chunk_size=ROWS)
    decisions = Adjudication.objects.filter(which, round=round_, superseded_by=None)
    ruled = {decision.entry_id: decision for decision in decisions}
    row = next(rows, None)
    for _, entry_id, n in _planned([round_], which):
        pair = JudgedPair(entry_id, n, decision=ruled.get(entry_id))
        while row is not None and row.entry_id == entry_id:
            pair.judgements.append(row)
            row = next(rows, None)
        yield pair


def _planned(rounds: Iterable[Round], which: Q) -> Iterator[tuple[int, int, int]]:
    """Round and entry with the number of judges, in their order."""
    planned = _seats(rounds).filter(which).values("round", "entry").annotate(n=Count("pk")).order_by("round", "entry")
    return planned.values_list("round", "entry", "n").iterator(chunk_size=ROWS)


def _seats(rounds: Iterable[Round]) -> QuerySet[Seat]:
    """The seats of the first pass. In a closed round, the answers so far count as all."""
    closed: dict[bool, list[int]] = {True: [], False: []}
    for round_ in rounds:
        closed[round_.state == RoundState.CLOSED].append(round_.pk)
    counted = Q(round__in=closed[False]) | Q(round__in=closed[True], state=SeatState.DONE)
    return Seat.objects.filter(counted, pass_number=1)


def _resolved_in(rounds: Sequence[Round]) -> Iterator[tuple[ResolvedPair, TextKey]]:
    """Every pair that has an answer, with its resolution and its text; round after round by key, in two statements."""
    kinds = {round_.pk: round_.kind for round_ in rounds}
    given = _given(kinds)
    answered, answers, ruling = next(given, NOTHING)
    texts: dict[int, TextKey] = {}
    for round_id, entry, planned, query, version, block, digest in _planned_texts(rounds):
        here = (round_id, entry)
        while answered is not None and answered < here:
            answered, answers, ruling = next(given, NOTHING)
        if answered != here:
            continue
        state, resolution, grade = _resolved(answers, planned=planned, ruling=ruling)
        if kinds[round_id] == RoundKind.PROPAGATED:
            resolution = Resolution.CARRIED
        pair = ResolvedPair(entry, query, version, round_id, state, resolution, grade, len(answers))
        yield pair, texts.get(version) or texts.setdefault(version, TextKey(block, digest))


_resolved = lru_cache(maxsize=4_096)(resolve)
"""Among many pairs most have the answers of another one."""
Place = tuple[int, int]
"""A round and an entry, by their keys."""
Given = tuple[Place | None, tuple[int | None, ...], Ruling | None]
NOTHING: Given = (None, (), None)


def _planned_texts(rounds: Iterable[Round]) -> Iterator[tuple[Any, ...]]:
    """As `_planned`, with query, block version and text of each pair, which are the same for all of its seats."""
    version = "entry__version"
    text = {"block": Max(f"{version}__block"), "digest": Max(f"{version}__text_digest")}
    of_pair = {"asked": Max("query"), "version": Max(version), **text}
    planned = _seats(rounds).values("round", "entry").annotate(n=Count("pk"), **of_pair).order_by("round", "entry")
    return planned.values_list("round", "entry", "n", *of_pair).iterator(chunk_size=ROWS)


def _given(rounds: Collection[int]) -> Iterator[Given]:
    """The live answers to each pair, None for "can't judge", and a lead's ruling, in the order of rounds and entries.

    A judgement is a wide row with a note and marked evidence; of a million of them only the grades are read.
    """
    columns = ("round", "entry", "seat", "grade")
    live = Judgement.objects.filter(round__in=rounds, superseded_by=None, pass_number=1)
    ruled = Adjudication.objects.filter(round__in=rounds, superseded_by=None)
    rulings = ruled.annotate(seat=Value(None, BigIntegerField())).values_list(*columns)  # only a judge has a seat
    rows = live.values_list(*columns).union(rulings, all=True)
    for place, of_pair in groupby(rows.order_by("round", "entry").iterator(chunk_size=ROWS), key=itemgetter(0, 1)):
        both = [*of_pair]
        grades = tuple([grade for _, _, seat, grade in both if seat])
        yield place, grades, next((Ruling(grade) for _, _, seat, grade in both if not seat), None)


def resolved_grades(source: Round | Snapshot | Iterable[Round]) -> list[ResolvedPair]:
    """What may go into a gold version: one line for each judged query and text.

    `source` is a round, several, or a snapshot, which means all rounds of its corpus on texts in it: an unchanged text
    keeps its grade, and is listed under its block version in that snapshot. Where rounds overlap the later one counts,
    unless it has not finished a pair that an earlier one settled; a grade that was carried over counts where nobody
    judged the pair itself. A pair whose grade is None is unresolved and needs a lead; one that a lead ruled out as not
    judgeable is left out: no row is none.
    """
    pairs = settled_texts(source)
    if isinstance(source, Snapshot):
        texts = texts_in(source)
        pairs = [(pair._replace(version_id=texts[text]), text) for pair, text in pairs if text in texts]
    return [pair for pair, _ in pairs if not pair.is_ruled_out]


def grades_for_pool(pool: Pool) -> dict[tuple[int, int], int]:
    """The settled grade of every (query, block version) on the pool's snapshot, of any round."""
    grades = resolved_grades(pool.snapshot)
    return {(pair.query_id, pair.version_id): pair.grade for pair in grades if pair.grade is not None}


def settled_texts(source: Round | Snapshot | Iterable[Round]) -> list[tuple[ResolvedPair, TextKey]]:
    """As `resolved_grades`, with the pairs that were ruled out, each from the round that counts and with its text.

    In as many statements for many rounds as for one.
    """
    rounds = _rounds(source)
    if not rounds:
        return []
    by_round: dict[int, list[tuple[ResolvedPair, TextKey]]] = {round_.pk: [] for round_ in rounds}
    for pair, text in _resolved_in(rounds):
        by_round[pair.round_id].append((pair, text))
    settled: dict[tuple[int, TextKey], ResolvedPair] = {}
    for pair, text in chain.from_iterable(by_round.values()):
        key = (pair.query_id, text)
        if pair.state is not PairState.PARTLY or key not in settled:
            settled[key] = pair
    return [(pair, text) for (_, text), pair in settled.items()]


def _rounds(source: Round | Snapshot | Iterable[Round]) -> list[Round]:
    if isinstance(source, Round):
        return [source]
    if isinstance(source, Snapshot):
        source = Round.objects.in_force().filter(pool__snapshot__corpus=source.corpus_id)
    return sorted(source, key=lambda round_: (round_.kind != RoundKind.PROPAGATED, round_.number))


def adjudicable(round_: Round, user: User) -> list[JudgedPair]:
    """The pairs this lead can adjudicate, lowest agreement first: not settled, and not judged by them.

    None of a round that was withdrawn.
    """
    pairs = _pairs(round_, Q(entry__in=_undecided(round_).exclude(_judged_by(user)).values("entry")))
    return sorted(pairs, key=lambda pair: (-pair.spread, pair.entry_id))


def left_to_another_lead(round_: Round, user: User) -> int:
    """How many pairs another lead must decide, because this lead judged them. 0 before the round is closed."""
    if round_.state != RoundState.CLOSED:
        return 0
    return judged_undecided(round_, user).count()


def judged_undecided(round_: Round, user: User) -> QuerySet[UndecidedPair]:
    """The undecided pairs that this lead judged, and so can't decide."""
    return _undecided(round_).filter(_judged_by(user))


def undecided_by_others(round_: Round, user: User) -> QuerySet[UndecidedPair]:
    """The pairs that this lead can adjudicate."""
    return _undecided(round_).exclude(_judged_by(user))


def _undecided(round_: Round) -> QuerySet[UndecidedPair]:
    """The pairs whose judges have all answered without settling them, and which have no decision."""
    pairs = UndecidedPair.objects.filter(round=round_)
    return pairs if round_.withdrawn_at is None else pairs.none()


def _judged_by(user: User) -> Exists:
    """Whether this person has answered the undecided pair of the outer row, under whatever name."""
    mine = Judgement.objects.filter(annotator__in=selves_of(user).values("pk"))
    return Exists(mine.filter(round=OuterRef("round"), entry=OuterRef("entry")))


def adjudicated(round_: Round) -> QuerySet[Adjudication]:
    """The decisions in force, latest first."""
    decisions = Adjudication.objects.filter(round=round_, superseded_by=None)
    return decisions.select_related("adjudicator", "entry__query").order_by("-pk")


LETTERS = "ABCDEFGHI"


class Voice(NamedTuple):
    """One judge's answer, under a letter for a name."""

    letter: str
    judgement: Judgement
    spans: list[list[int]]


def voices(round_: Round, judged: JudgedPair) -> list[Voice]:
    """The answers under letters; who is A changes from pair to pair."""
    mixed = shuffled(judged.judgements, seed=round_.seed, who=f"voices {judged.entry_id}", key=lambda j: j.annotator_id)
    return [Voice(letter, judgement, judgement.spans) for letter, judgement in zip(LETTERS, mixed, strict=False)]
