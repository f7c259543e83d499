"""What an annotator reads: a query and a block. Nothing here knows a rank, a score, a system or another judge."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from apps.corpus.models import BlockVersion
from apps.judging.models import Judgement, Seat
from apps.judging.passages import passage
from apps.queries.models import Query


class Reading(NamedTuple):
    """One pair as it stands on the screen. `judgement` is the person's own, when they come back to it."""

    seat_id: int
    query: Query
    version: BlockVersion
    document: str
    best: tuple[int, int] | None
    shown: tuple[int, int]
    judgement: Judgement | None

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
        """Headings from the outermost in, ending with the block's own title."""
        headings = list(self.version.section_path)
        if self.version.title and self.version.title not in (self.document, *headings):
            headings.append(self.version.title)
        return headings

    @property
    def is_readable(self) -> bool:
        """False for a block without text, or one whose text was taken away."""
        return bool(self.version.text.strip())


def readings(seats: Sequence[Seat], *, annotator_id: int) -> list[Reading]:
    """The pairs of these seats, in the order given, with the person's own judgement where there is one."""
    pks = [seat.pk for seat in seats]
    rows = Seat.objects.filter(pk__in=pks).select_related("query", "entry__version__block__document")
    full = {seat.pk: seat for seat in rows}
    given = Judgement.objects.filter(seat__in=pks, annotator=annotator_id, superseded_by=None)
    own = {judgement.seat_id: judgement for judgement in given}
    return [reading(full[pk], own.get(pk)) for pk in pks]


def reading(seat: Seat, judgement: Judgement | None = None) -> Reading:
    """Lay out one pair: the paragraph to read first, and how much of the text is open at once."""
    version = seat.entry.version
    found = passage(version.text, f"{seat.query.text} {seat.query.intent}")
    parts = found.paragraphs
    best = (parts[found.best].start, parts[found.best].end) if parts else None
    shown = (parts[found.shown.start].start, parts[found.shown.stop - 1].end) if parts else (0, 0)
    return Reading(
        seat_id=seat.pk,
        query=seat.query,
        version=version,
        document=str(version.block.document),
        best=best,
        shown=shown,
        judgement=judgement,
    )
