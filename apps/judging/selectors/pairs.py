"""Judged pairs: their answers, the grades they resolve to, and the decisions on them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from django.db.models import Count, F, JSONField, Q, QuerySet, SmallIntegerField, Value

from apps.common.digests import digest_of_lines
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import TextKey, texts_in, texts_of
from apps.judging.core.plan import shuffled
from apps.judging.core.resolution import PairState, Resolution, Resolved, Ruling, resolve, settled_facets, spread
from apps.judging.enums import RoundKind, RoundState, SeatState
from apps.judging.models import Adjudication, Judgement, Round, Seat, SecondGrade
from apps.retrieval.models import Pool, PoolEntry

ROWS = 2_000


PairKey = tuple[int, TextKey]
"""A query, by its key, and a text."""


class ResolvedPair(NamedTuple):
    """A pair and the resolution of its judgements. `facets` are its subtopics, None where nobody was asked."""

    entry_id: int
    query_id: int
    version_id: int
    round_id: int
    state: PairState
    resolution: Resolution
    grade: int | None
    judges: int
    facets: list[str] | None = None

    @property
    def is_ruled_out(self) -> bool:
        """Whether a lead decided that the pair can't be judged."""
        return self.grade is None and self.resolution is not Resolution.UNRESOLVED


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
        ruling = Ruling(self.decision.grade, self.decision.decided_by) if self.decision else None
        return resolve(self.answers, planned=self.planned, ruling=ruling)

    @property
    def facets(self) -> list[str] | None:
        """The subtopics of the pair; None where nobody was asked."""
        if self.decision is not None and self.decision.facets is not None:
            chosen: list[str] = self.decision.facets
            return chosen
        return settled_facets([judgement.facets for judgement in self.judgements], self.resolved.grade)

    @property
    def mark(self) -> str:
        """A digest of the answers in force: another one once any of them has changed."""
        return digest_of_lines(str(judgement.pk) for judgement in self.judgements)

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
    pairs = {pair.entry_id: pair for pair in pairs_where(round_, Q(entry__in=entries))}
    return [pairs[pk] for pk in entries if pk in pairs]


def pairs_where(round_: Round, which: Q) -> Iterator[JudgedPair]:
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


@lru_cache(maxsize=4_096)
def _resolved(answers: tuple[int | None, ...], planned: int, ruling: Ruling | None) -> Resolved:
    """As `resolve`: among many pairs most have the answers of another one."""
    return resolve(answers, planned=planned, ruling=ruling)


ANSWER, UNFILLED = "answer", "unfilled"
"""What a row is; of a decision it is who decided. Words, which a row has as the database gave them."""


@dataclass(slots=True)
class _Given:
    """What was given to a pair: the live answers, None for "can't judge", a ruling, and how many seats are unfilled.

    `facets` are those of the answers that were asked for them, `ruled_facets` those of the ruling.
    """

    query_id: int
    version_id: int
    answers: list[int | None] = field(default_factory=list)
    ruling: Ruling | None = None
    unfilled: int = 0
    facets: list[list[str]] = field(default_factory=list)
    ruled_facets: list[str] | None = None


def _given_in(rounds: Iterable[Round]) -> dict[int, dict[int, _Given]]:
    """By round, then by entry, in the order of entries, and all as it is at one time: in one statement.

    A judgement is a wide row with a note and marked evidence; of a million of them only the grades are read. In a
    closed round nobody waits for the seats that are left, and those of pairs without an answer are not read.
    """
    given: dict[int, dict[int, _Given]] = {round_.pk: {} for round_ in rounds}
    running = [round_.pk for round_ in rounds if round_.state != RoundState.CLOSED]
    live = Judgement.objects.filter(round__in=given, superseded_by=None, pass_number=1).annotate(what=Value(ANSWER))
    rulings = Adjudication.objects.filter(round__in=given, superseded_by=None).annotate(what=F("decided_by"))
    answered = Judgement.objects.filter(round__in=running, pass_number=1)
    seats = Seat.objects.filter(entry__in=answered.values("entry"), round__in=running, pass_number=1)
    unfilled = seats.exclude(state=SeatState.DONE).annotate(
        grade=Value(None, SmallIntegerField()), facets=Value(None, JSONField()), what=Value(UNFILLED)
    )
    columns = ("round", "entry", "entry__query", "entry__version", "grade", "facets", "what")
    rows = live.values_list(*columns).union(rulings.values_list(*columns), unfilled.values_list(*columns), all=True)
    for round_id, entry, query, version, grade, facets, what in rows.order_by("round", "entry").iterator(
        chunk_size=ROWS
    ):
        pairs = given[round_id]
        if (pair := pairs.get(entry)) is None:
            pair = pairs[entry] = _Given(query, version)
        if what == ANSWER:
            pair.answers.append(grade)
            if facets is not None:
                pair.facets.append(facets)
        elif what == UNFILLED:
            pair.unfilled += 1
        else:
            pair.ruling, pair.ruled_facets = Ruling(grade, what), facets
    return given


def resolved_grades(source: Round | Snapshot | Iterable[Round]) -> list[ResolvedPair]:
    """What may go into a gold version: one line for each judged query and text.

    `source` is a round, several, or a snapshot, which means all rounds of its corpus on texts in it: an unchanged text
    keeps its grade, and is listed under its block version in that snapshot. Where rounds overlap the later one counts,
    unless it has not finished a pair that an earlier one settled; a grade that was carried over counts where nobody
    judged the pair itself. A pair whose grade is None is unresolved and needs a lead; one that a lead ruled out as not
    judgeable is left out: no row is none.
    """
    settled = settled_texts(source)
    pairs: Iterable[ResolvedPair] = settled.values()
    if isinstance(source, Snapshot):
        texts = texts_in(source)
        pairs = (pair._replace(version_id=texts[text]) for (_, text), pair in settled.items() if text in texts)
    return [pair for pair in pairs if not pair.is_ruled_out]


def grades_for_pool(pool: Pool) -> dict[tuple[int, int], int]:
    """The settled grade of every (query, block version) on the pool's snapshot, of any round."""
    grades = resolved_grades(pool.snapshot)
    return {(pair.query_id, pair.version_id): pair.grade for pair in grades if pair.grade is not None}


def settled_texts(
    source: Round | Snapshot | Iterable[Round], known: Mapping[int, TextKey] | None = None
) -> dict[PairKey, ResolvedPair]:
    """As `resolved_grades`, with the pairs that were ruled out, each from the round that counts, by query and text.

    `known` are texts by their block version that were read already. In as many statements for many rounds as for one.
    """
    rounds = _rounds(source)
    given, texts = _given_in(rounds), dict(known or {})
    texts |= texts_of({pair.version_id for pairs in given.values() for pair in pairs.values()} - texts.keys())
    settled: dict[PairKey, ResolvedPair] = {}
    for round_ in rounds:
        carried = Resolution.CARRIED if round_.kind == RoundKind.PROPAGATED else None
        for entry, pair in given[round_.pk].items():
            if not (judges := len(pair.answers)):
                continue
            key = pair.query_id, texts[pair.version_id]
            state, resolution, grade = _resolved(tuple(pair.answers), judges + pair.unfilled, pair.ruling)
            if state is not PairState.PARTLY or key not in settled:
                facets = pair.ruled_facets if pair.ruled_facets is not None else settled_facets(pair.facets, grade)
                settled[key] = ResolvedPair(
                    entry, key[0], pair.version_id, round_.pk, state, carried or resolution, grade, judges, facets
                )
    return settled


def _rounds(source: Round | Snapshot | Iterable[Round]) -> list[Round]:
    if isinstance(source, Round):
        return [source]
    if isinstance(source, Snapshot):
        source = Round.objects.in_force().filter(pool__snapshot__corpus=source.corpus_id)
    return sorted(source, key=lambda round_: (round_.kind != RoundKind.PROPAGATED, round_.number))


def adjudicated(round_: Round) -> QuerySet[Adjudication]:
    """The decisions in force, latest first."""
    decisions = Adjudication.objects.filter(round=round_, superseded_by=None)
    return decisions.select_related("adjudicator", "entry__query").order_by("-pk")


LETTERS = "ABCDEFGHI"


class Voice(NamedTuple):
    """One judge's answer, under a letter for a name. `since` is their last answer after seeing those of the others."""

    letter: str
    judgement: Judgement
    spans: list[list[int]]
    since: SecondGrade | None = None


def voices(round_: Round, judged: JudgedPair) -> list[Voice]:
    """The answers under letters; who is A changes from pair to pair."""
    mixed = shuffled(judged.judgements, seed=round_.seed, who=f"voices {judged.entry_id}", key=lambda j: j.annotator_id)
    return [Voice(letter, judgement, judgement.spans) for letter, judgement in zip(LETTERS, mixed, strict=False)]


def voices_since(round_: Round, judged: JudgedPair) -> list[Voice]:
    """The same, with what each has answered to the difference."""
    given = SecondGrade.objects.filter(look__round=round_, look__entry=judged.entry_id).select_related("look")
    last = {each.look.judge_id: each for each in given.order_by("pk")}
    return [voice._replace(since=last.get(voice.judgement.annotator_id)) for voice in voices(round_, judged)]
