"""Q&As that were reviewed elsewhere: in which order they are drawn at random, and how often they are wrong."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any, NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from apps.accounts.models import Project
from apps.common.text.wording import plural
from apps.corpus.enums import ImportState
from apps.corpus.models import Import
from apps.metrics.estimate import WILSON, Estimate
from apps.metrics.statistics.proportions import wilson
from apps.review.core.elsewhere import sample_sentence
from apps.review.enums import ResolutionKind
from apps.review.models import CandidateBlock, MissNote, Resolution
from apps.triples.enums import State
from apps.triples.models import Revision, Triple, label_of
from apps.triples.selectors.entry_comparison import IMPORT_KIND
from apps.triples.selectors.imported import made_by, taken_of

ONE_IN = 10


def is_applied(item: Import) -> bool:
    """Whether it is an import of Q&As that has made drafts, and is not undone."""
    return item.kind == IMPORT_KIND and item.state == ImportState.APPLIED and item.undone_at is None


# The order of drawing ----------------------------------------------------------------------------------------------


class DrawingOrder(NamedTuple):
    """The keys of what is drawn, and of what is left in the order in which it would be drawn.

    `seed` is the digest of the file: with it anybody can draw the same again, and nobody can try several.
    """

    seed: str
    drawn: list[int]
    left: list[int]


def drawing_order(item: Import) -> DrawingOrder:
    seed = item.upload.sha256[:12]
    known = made_by(item).filter(Q(sampled_at__isnull=False) | Q(pk__in=taken_of(item).values("pk")))
    rows = list(known.values_list("pk", "number", "sampled_at"))
    left = [
        (hashlib.sha256(f"{seed}:{label_of(number)}".encode()).hexdigest(), pk) for pk, number, at in rows if not at
    ]
    return DrawingOrder(seed, [pk for pk, _, at in rows if at], [pk for _, pk in sorted(left)])


def a_tenth_of(number: int) -> int:
    """Of so many, one in ten, rounded up."""
    return -(-number // ONE_IN)


# How the sample ended ----------------------------------------------------------------------------------------------


class Fate(Enum):
    """How the review of a Q&A that was drawn has ended: accepted unchanged, or not; or it ended before."""

    OPEN = "open"
    RIGHT = "right"
    WRONG = "wrong"
    GONE = "gone"


class Sampled(NamedTuple):
    """A Q&A that was drawn; `revision` is the wording that was taken as accepted."""

    triple: int
    revision: int
    state: str
    current: int


KEPT = {ResolutionKind.CONSENSUS, ResolutionKind.REVISED, ResolutionKind.POLICY, ResolutionKind.ADJUDICATED}
UNDECIDED = {State.IN_REVIEW, State.DISPUTED}


class _Endings:
    """What ended each round of some triples, and their revisions."""

    def __init__(self, triples: Sequence[int]) -> None:
        ends = Resolution.objects.filter(triple__in=triples).exclude(kind=ResolutionKind.ELSEWHERE).order_by("pk")
        self.ends = {revision: (kind, at) for revision, kind, at in ends.values_list("revision", "kind", "resolved_at")}
        self.later: dict[int, list[tuple[int, Any]]] = defaultdict(list)
        rows = Revision.objects.filter(triple__in=triples, submitted_at__isnull=False).order_by("number")
        for triple, pk, at in rows.values_list("triple", "pk", "submitted_at"):
            self.later[triple].append((pk, at))

    def fate(self, one: Sampled) -> Fate:
        """A lead may have sent it back as it is: then the next round, of the same wording, decides."""
        wordings = [row for row in self.later[one.triple] if row[0] >= one.revision]
        for (revision, _), following in zip(wordings, [*wordings[1:], None], strict=True):
            kind, at = self.ends.get(revision, (None, None))
            if kind == ResolutionKind.ADJUDICATED and following is not None and following[1] == at:
                continue
            if kind is not None:
                return Fate.RIGHT if kind in KEPT else Fate.WRONG
            if revision != one.current:
                return Fate.WRONG
            return Fate.OPEN if one.state in UNDECIDED else Fate.GONE
        return Fate.GONE


class ElsewhereSet(NamedTuple):
    """What was taken as accepted of one import, and how the review of those drawn from it stands.

    `error_rate` is the share of the reviewed ones that did not end as accepted unchanged; it has a value once all that
    were drawn are decided, since a review that ends soon is rather one that confirms.
    """

    import_id: int
    file: str
    taken: int
    drawn: int
    reviewed: int
    wrong: int
    error_rate: Estimate

    @property
    def open(self) -> int:
        return self.drawn - self.reviewed

    @property
    def sentence(self) -> str:
        return sample_sentence(self.as_json)

    @property
    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "error_rate": self.error_rate.as_json}


def elsewhere_sets(project: Project, imports: Iterable[Import] | None = None) -> list[ElsewhereSet]:
    """The sets of a project that were reviewed elsewhere, oldest first, or those of some imports; a few statements.

    Nothing of an open round is in here: what is counted as reviewed is decided.
    """
    taken = Resolution.objects.filter(kind=ResolutionKind.ELSEWHERE, triple__project=project)
    key = ("triple__imported__imported_by", "triple__imported__imported_at")
    counts = {row[:2]: row[2] for row in taken.order_by().values_list(*key).annotate(Count("pk"))}
    if imports is None:
        imports = Import.objects.filter(project=project, kind=IMPORT_KIND, state=ImportState.APPLIED, undone_at=None)
        imports = imports.select_related("upload").order_by("pk") if counts else []
    drawn = taken.filter(triple__sampled_at__isnull=False)
    columns = ("triple", "revision", "triple__state", "triple__current")
    sampled: dict[Any, list[Sampled]] = defaultdict(list)
    if counts:
        for person, at, *row in drawn.values_list(*key, *columns):
            sampled[person, at].append(Sampled(*row))
    endings = _Endings([one.triple for some in sampled.values() for one in some]) if sampled else None
    found = [((item.applied_by_id, item.applied_at), item) for item in imports]
    return [_set(item, counts[which], sampled[which], endings) for which, item in found if which in counts]


def _set(item: Import, taken: int, sampled: Sequence[Sampled], endings: _Endings | None) -> ElsewhereSet:
    fates = [endings.fate(one) for one in sampled] if endings else []
    counted = {fate: fates.count(fate) for fate in Fate}
    wrong, reviewed = counted[Fate.WRONG], counted[Fate.WRONG] + counted[Fate.RIGHT]
    return ElsewhereSet(
        import_id=item.pk,
        file=item.upload.filename,
        taken=taken,
        drawn=reviewed + counted[Fate.OPEN],
        reviewed=reviewed,
        wrong=wrong,
        error_rate=_rate(wrong, reviewed, counted[Fate.OPEN]),
    )


def _rate(wrong: int, reviewed: int, still_open: int) -> Estimate:
    if still_open:
        return Estimate(None, n=reviewed, reason=f"{plural(still_open, 'review is', 'reviews are')} still open.")
    if not reviewed:
        return Estimate(None, reason="None of them was drawn for a review.")
    return Estimate.of(wrong / reviewed, wilson(wrong, reviewed), reviewed, WILSON)


# What rests on them ------------------------------------------------------------------------------------------------


def rests_on(triples: QuerySet[Triple]) -> str | None:
    """Why these accepted triples stay: somebody works on what was found about them."""
    asked = CandidateBlock.objects.filter(triple=OuterRef("pk"))
    noted = MissNote.objects.filter(triple=OuterRef("pk"))
    number = triples.filter(Exists(asked) | Exists(noted)).count()
    return f"Questioned since, or asked about a further passage: {plural(number, 'Q&A')}." if number else None
