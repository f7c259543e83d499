"""What an annotator reads: a query and a block, in groups, and in a long text the paragraph to read first.

Nothing here has a rank, a score, a system or another judge.
"""

import json
import re
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from django.db.models import Q, QuerySet, Subquery

from apps.accounts.models import User
from apps.common.text.words import words_of
from apps.corpus.core.passage_ids import Place, document_names, path_of
from apps.corpus.models import BlockVersion
from apps.judging.core.plan import seeded_number
from apps.judging.enums import SeatState
from apps.judging.models import Judgement, Round, Seat
from apps.queries.models import Query
from apps.retrieval.models import PoolEntry

FIRST = 1
CHECK = 0
APART = -1


class PairPlace(NamedTuple):
    """What decides the place of a pair."""

    seat: int
    query: int
    entry: int
    pass_number: int


def groups(places: Iterable[PairPlace], *, seed: int, who: int) -> dict[int, str]:
    """The group of each seat: one for each query, and another for a pair that is in the first group already.

    A blind duplicate next to the grade it repeats would not be blind. The names come from the seed, so nobody can read
    from them which is which.
    """
    names = {}
    placed: set[tuple[int, int]] = set()
    for place in sorted(places, key=lambda place: (place.pass_number != FIRST, place.pass_number, place.seat)):
        turn = FIRST if place.pass_number in (FIRST, CHECK) else place.pass_number
        if (place.query, place.entry) in placed and turn == FIRST:
            turn = APART
        placed.add((place.query, place.entry))
        names[place.seat] = f"{seeded_number(seed, who, place.query, turn):x}"
    return names


_BREAK = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
# Whole runs of full stops at once, so that a million dots take no longer than a million letters.
_SENTENCE = re.compile(r"\S.*?(?:(?<![.!?…。！？])[.!?…。！？]++[\"'”’)\]]*+(?=\s|$)|(?<=[。！？])|$)", re.DOTALL)
_FEW = 7
_SHORT = 3_000
_AFTER = 3
_LONG = 700
_ENOUGH = 200
_MOST = 2_000


class Paragraph(NamedTuple):
    """A paragraph and where it starts in the block's text, in code points."""

    start: int
    text: str

    @property
    def end(self) -> int:
        """The end of the paragraph, in code points of the block's text."""
        return self.start + len(self.text)


class ShownPassage(NamedTuple):
    """A text's paragraphs, the one to read first, and the range that is not folded away."""

    paragraphs: list[Paragraph]
    best: int
    shown: range
    focus: tuple[int, int] | None

    @property
    def before(self) -> int:
        """How many paragraphs are folded away above."""
        return self.shown.start

    @property
    def after(self) -> int:
        """How many paragraphs are folded away below."""
        return len(self.paragraphs) - self.shown.stop


def paragraphs(text: str) -> list[Paragraph]:
    """Split a text at blank lines; every paragraph has its offset in the text."""
    parts = []
    position = 0
    for gap in [*_BREAK.finditer(text), None]:
        end = gap.start() if gap else len(text)
        if text[position:end].strip():
            parts.append(Paragraph(position, text[position:end]))
        position = gap.end() if gap else end
    return parts


def passage(text: str, query: str) -> ShownPassage:
    """The passage, with the paragraph that shares most words with the query; rarer words count more.

    The first of equal ones wins; a text of up to seven paragraphs that is not long is shown whole. The focus is the
    paragraph, or in a long one the sentences to begin with; None for a text without words. Only query and text are
    used: no system, rank or score can influence it.
    """
    parts = paragraphs(text)
    best = _best(parts, query)
    focus = _focus(parts[best], query) if parts else None
    if len(parts) <= _FEW and len(text) <= _SHORT:
        return ShownPassage(parts, best, range(len(parts)), focus)
    return ShownPassage(parts, best, range(best, min(len(parts), best + 1 + _AFTER)), focus)


def _focus(part: Paragraph, query: str) -> tuple[int, int]:
    """The paragraph; of a long one its best sentence, with the sentences after it until there is enough to read."""
    if len(part.text) <= _LONG:
        return part.start, part.end
    matches = islice(_SENTENCE.finditer(part.text), _MOST)
    sentences = [Paragraph(part.start + match.start(), match.group()) for match in matches]
    best = _best(sentences, query)
    start = sentences[best].start
    end = next((sentence.end for sentence in sentences[best:] if sentence.end - start >= _ENOUGH), sentences[-1].end)
    return start, end


def _best(parts: Sequence[Paragraph], query: str) -> int:
    bags = [_stems(part.text) for part in parts]
    wanted = _stems(query)
    weights = {word: 1 / sum(word in bag for bag in bags) for word in wanted if any(word in b for b in bags)}
    scores = [sum(weights[word] for word in weights if word in bag) for bag in bags]
    return scores.index(max(scores)) if scores else 0


def _stems(text: str) -> set[str]:
    return {part[:6] for word in words_of(text.casefold()) for part in word.split("_") if part}


DOCUMENT = ("version__block__document__title", "version__block__document__outside_id")
SHOWN = ("query", "entry__version__block__document")
OF_ANSWER = tuple(f"seat__{name}" for name in SHOWN)


class PairReading(NamedTuple):
    """One pair as the screen shows it. `judgement` is the person's own, when they return to it.

    `others` is what other judges marked, where the person may see it.
    """

    seat_id: int
    query: Query
    version: BlockVersion
    document: str
    best: tuple[int, int] | None
    shown: tuple[int, int]
    judgement: Judgement | None
    group: str = ""
    others: Sequence[tuple[int, int]] = ()

    @property
    def given(self) -> str:
        """This person's answer, as the script writes it: the grade, x for can't judge, or empty."""
        if self.judgement is None:
            return ""
        return "x" if self.judgement.grade is None else str(self.judgement.grade)

    @property
    def spans(self) -> list[list[int]]:
        """The evidence this person marked."""
        return self.judgement.spans if self.judgement else []

    @property
    def facets(self) -> list[str]:
        """The subtopics this person chose, by id."""
        return (self.judgement.facets if self.judgement else None) or []

    @property
    def spans_json(self) -> str:
        """The evidence, for the script."""
        return json.dumps(self.spans)

    @property
    def path(self) -> list[str]:
        """Headings from the outermost to the block's own title."""
        return path_of(self.document, self.version.section_path, self.version.title)[1:]

    @property
    def is_readable(self) -> bool:
        """False for a block without text, or with a redacted text."""
        return bool(self.version.text.strip())


class ReadSeats(NamedTuple):
    """A person's own judgements by key of the seat, and the names of documents by key of the entry."""

    own: dict[int, Judgement]
    documents: dict[int, str]


def with_texts(seats: QuerySet[Seat]) -> QuerySet[Seat]:
    """These seats, each with the query and the text that its reading shows."""
    return seats.select_related(*SHOWN)


def read_seats(seats: Collection[Seat], *, annotator_id: int, answers: Collection[Judgement] = ()) -> ReadSeats:
    """What `readings` need besides the seats, which come from `with_texts`, for all that a page shows.

    `answers` are this person's in force, as far as they were read. A seat that is not done has none.
    """
    own = {answer.seat_id: answer for answer in answers}
    if unread := [seat.pk for seat in seats if seat.state == SeatState.DONE and seat.pk not in own]:
        judgements = Judgement.objects.filter(seat__in=unread, annotator=annotator_id, superseded_by=None)
        own |= {judgement.seat_id: judgement for judgement in judgements}
    pools, queries = {seat.entry.pool_id for seat in seats}, {seat.query_id for seat in seats}
    return ReadSeats(own, document_names_of(pools, queries))


def readings(
    seats: Sequence[Seat], *, annotator_id: int, seed: int | None = None, known: ReadSeats | None = None
) -> list[PairReading]:
    """The pairs of these seats of `with_texts`, in the order given, with the person's own judgement if there is one.

    With the round's seed, `group` is that of the view of all pairs of a query. `known` is what was read for these seats
    and others.
    """
    own, documents = known or read_seats(seats, annotator_id=annotator_id)
    places = [PairPlace(seat.pk, seat.query_id, seat.entry_id, seat.pass_number) for seat in seats]
    named = {} if seed is None else groups(places, seed=seed, who=annotator_id)
    return [reading(seat, documents[seat.entry_id], own.get(seat.pk), named.get(seat.pk, "")) for seat in seats]


def document_names_of(pools: Collection[int], queries: Collection[int]) -> dict[int, str]:
    """The document of each pair of these queries, by key of its entry: its id where another pair's has its title.

    So a pair looks the same whichever others are served with it.
    """
    entries = PoolEntry.objects.filter(pool__in=pools, query__in=queries).order_by("pk")
    of_query: dict[tuple[int, int], dict[int, Place]] = {}
    for pool, query, pk, title, outside_id in entries.values_list("pool", "query", "pk", *DOCUMENT):
        of_query.setdefault((pool, query), {})[pk] = Place("", title, outside_id, (), "")
    named: dict[int, str] = {}
    for places in of_query.values():
        named.update(zip(places, document_names(list(places.values())), strict=True))
    return named


def earlier_answers(round_: Round, annotator: User, *, before: int | None, n: int) -> list[Judgement]:
    """What this person graded last, latest first, each with its seat and text.

    With `before`, what they graded before that seat: nothing, where they have not graded it. A changed grade counts at
    the time of its change.
    """
    mine = _answers(round_, annotator)
    if before is not None:
        last = mine.filter(seat=before)
        given_at, pk = Subquery(last.values("given_at")[:1]), Subquery(last.values("pk")[:1])
        mine = mine.filter(Q(given_at__lt=given_at) | Q(given_at=given_at, pk__lt=pk))
    return list(mine.select_related(*OF_ANSWER).order_by("-given_at", "-pk")[:n])


def own_answer(round_: Round, annotator: User, seat: int) -> Judgement | None:
    """What this person answered on a seat, with the seat and its text; None where they have not."""
    return _answers(round_, annotator).filter(seat=seat).select_related(*OF_ANSWER).first()


def _answers(round_: Round, annotator: User) -> QuerySet[Judgement]:
    return Judgement.objects.filter(round=round_, annotator=annotator, superseded_by=None)


def reading(seat: Seat, document: str, judgement: Judgement | None = None, group: str = "") -> PairReading:
    """The layout of one pair: the paragraph to read first, and how much of the text is open at once."""
    version = seat.entry.version
    layout = passage(version.text, f"{seat.query.text} {seat.query.intent}")
    parts = layout.paragraphs
    shown = (parts[layout.shown.start].start, parts[layout.shown.stop - 1].end) if parts else (0, 0)
    return PairReading(
        seat_id=seat.pk,
        query=seat.query,
        version=version,
        document=document,
        best=layout.focus,
        shown=shown,
        judgement=judgement,
        group=group,
    )
