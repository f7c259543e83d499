"""Known grades: decided by a lead, or given by everybody alike, in an earlier round on the same texts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from django.db.models import Count, F, Max, Min

from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import TextKey, texts_in, texts_of
from apps.judging.core.seeded_order import seeded_number
from apps.judging.enums import RoundState
from apps.judging.models import Adjudication, Round
from apps.judging.selectors.pairs import live_judgements

ENOUGH = 20


class KnownGrade(NamedTuple):
    """A query and a text with their known grade, and its source."""

    query_id: int
    version_id: int
    grade: int
    origin: str


def known_pairs(snapshot: Snapshot, n: int, *, seed: int) -> list[KnownGrade]:
    """`n` known pairs, chosen by a hash of their ids under the seed; fewer where no more are known.

    Rounds are read newest first, until there are twenty times as many to choose from. A pair known in several rounds
    has its grade of the newest.
    """
    if n <= 0:
        return []
    by_pair: dict[tuple[int, int], KnownGrade] = {}
    texts = texts_in(snapshot)
    rounds = Round.objects.in_force().filter(pool__snapshot__corpus=snapshot.corpus_id, state=RoundState.CLOSED)
    for round_ in rounds.order_by("-number"):
        for known in _in_snapshot(list(_settled(round_)), texts):
            by_pair.setdefault((known.query_id, known.version_id), known)
        if len(by_pair) >= ENOUGH * n:
            break
    ranked = sorted(by_pair.values(), key=lambda known: (seeded_number(seed, "check", *known[:2]), known[:2]))
    return ranked[:n]


def _in_snapshot(known: Sequence[KnownGrade], of_snapshot: Mapping[TextKey, int]) -> Iterator[KnownGrade]:
    """Those whose text is in the snapshot, by its block version there."""
    texts = texts_of(each.version_id for each in known)
    for each in known:
        if (version := of_snapshot.get(texts[each.version_id])) is not None:
            yield each._replace(version_id=version)


def _settled(round_: Round) -> Iterator[KnownGrade]:
    """Decisions first, then what two or more people graded alike; pairs ruled out by a lead are not known."""
    decided = Adjudication.objects.filter(round=round_, superseded_by=None)
    rows = decided.values_list("entry_id", "entry__query_id", "entry__version_id", "grade")
    seen = set()
    for entry_id, query_id, version_id, grade in rows.iterator():
        seen.add(entry_id)
        if grade is not None:
            yield KnownGrade(query_id, version_id, grade, f"decided in {round_.name}")
    alike = (
        live_judgements(round_)
        .filter(pass_number=1)
        .values("entry_id", "entry__query_id", "entry__version_id")
        .annotate(low=Min("grade"), high=Max("grade"), given=Count("pk"), graded=Count("grade"))
        .filter(given__gt=1, given=F("graded"), low=F("high"))
        .order_by()
    )
    for row in alike.iterator():
        if row["entry_id"] not in seen:
            yield KnownGrade(
                row["entry__query_id"], row["entry__version_id"], row["low"], f"all alike in {round_.name}"
            )
