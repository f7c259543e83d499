"""What an annotator reads: a query and a block. Nothing here has a rank, a score, a system or another judge."""

import json
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from django.db.models import Q

from apps.accounts.models import User
from apps.corpus.core.naming import Place, document_names
from apps.corpus.models import BlockVersion
from apps.judging.core.groups import PairPlace, groups
from apps.judging.core.passages import passage
from apps.judging.models import Judgement, Round, Seat
from apps.queries.models import Query
from apps.retrieval.models import PoolEntry

DOCUMENT = ("version__block__document__title", "version__block__document__outside_id")


class PairReading(NamedTuple):
    """One pair as the screen shows it. `judgement` is the person's own, when they return to it."""

    seat_id: int
    query: Query
    version: BlockVersion
    document: str
    best: tuple[int, int] | None
    shown: tuple[int, int]
    judgement: Judgement | None
    group: str = ""

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
    def spans_json(self) -> str:
        """The evidence, for the script."""
        return json.dumps(self.spans)

    @property
    def path(self) -> list[str]:
        """Headings from the outermost to the block's own title."""
        headings = list(self.version.section_path)
        if self.version.title and self.version.title not in (self.document, *headings):
            headings.append(self.version.title)
        return headings

    @property
    def is_readable(self) -> bool:
        """False for a block without text, or with a redacted text."""
        return bool(self.version.text.strip())


class ReadSeats(NamedTuple):
    """Seats with their query and text, a person's own judgements, and the names of documents by key of the entry."""

    seats: dict[int, Seat]
    own: dict[int, Judgement]
    documents: dict[int, str]


def read_seats(seats: Iterable[Seat], *, annotator_id: int) -> ReadSeats:
    """What `readings` are made of, read for all the seats that a page shows."""
    pks = [seat.pk for seat in seats]
    rows = Seat.objects.filter(pk__in=pks).select_related("query", "entry__version__block__document")
    full = {seat.pk: seat for seat in rows}
    judgements = Judgement.objects.filter(seat__in=pks, annotator=annotator_id, superseded_by=None)
    pools, queries = {seat.entry.pool_id for seat in full.values()}, {seat.query_id for seat in full.values()}
    own = {judgement.seat_id: judgement for judgement in judgements}
    return ReadSeats(full, own, document_names_of(pools, queries))


def readings(
    seats: Sequence[Seat], *, annotator_id: int, seed: int | None = None, known: ReadSeats | None = None
) -> list[PairReading]:
    """The pairs of these seats, in the order given, with the person's own judgement where there is one.

    With the round's seed, `group` is that of the view of all pairs of a query. `known` are these seats and others, for
    a caller that has read them.
    """
    full, own, documents = known or read_seats(seats, annotator_id=annotator_id)
    places = [PairPlace(seat.pk, seat.query_id, seat.entry_id, seat.pass_number) for seat in seats]
    named = {} if seed is None else groups(places, seed=seed, who=annotator_id)
    pks = [seat.pk for seat in seats]
    return [reading(full[pk], documents[full[pk].entry_id], own.get(pk), named.get(pk, "")) for pk in pks]


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


def earlier_seats(round_: Round, annotator: User, *, before: int | None, n: int) -> list[Seat]:
    """The pairs this person graded last, latest first; with `before`, those graded before that seat's grade.

    A changed grade counts at the time of its change. Empty for a seat that this person has not graded.
    """
    mine = Judgement.objects.filter(round=round_, annotator=annotator, superseded_by=None)
    if before is not None:
        last = mine.filter(seat=before).values_list("given_at", "pk").first()
        if last is None:
            return []
        mine = mine.filter(Q(given_at__lt=last[0]) | Q(given_at=last[0], pk__lt=last[1]))
    rows = mine.select_related("seat").order_by("-given_at", "-pk")[:n]
    return [row.seat for row in rows]


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
