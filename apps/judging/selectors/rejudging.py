"""Grades that are known already: as checks of a round, and those that a new version of a guideline touches."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from django.db.models import Count, Exists, F, Max, Min, OuterRef, QuerySet

from apps.audit.models import Event
from apps.audit.selectors.events import EventFilters, events_in
from apps.common.text.worddiff import Piece, word_diff
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import TextKey, texts_in, texts_of
from apps.judging.core.guidelines import GradeChange, changes
from apps.judging.core.plan import seeded_number
from apps.judging.enums import RoundKind, RoundState
from apps.judging.models import Adjudication, Guideline, Judgement, Round
from apps.judging.selectors.pairs import live_judgements
from apps.retrieval.models import Pool

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


KEPT = "guideline.grades_kept"


class GradeToRejudge(NamedTuple):
    """A grade, how many earlier judgements gave it, and whether the new version defines it differently."""

    grade: int
    judgements: int
    is_touched: bool


class SnapshotToRejudge(NamedTuple):
    """The earlier grades of one snapshot."""

    snapshot: Snapshot
    grades: list[GradeToRejudge]
    judgements: int


class Touched(NamedTuple):
    """How many judgements gave a grade on a snapshot under earlier versions of the guideline."""

    snapshot_id: int
    grade: int
    judgements: int


def earlier_grades(guideline: Guideline) -> QuerySet[Judgement]:
    """Live grades given under an earlier version, of pairs that nobody has judged under this one or a later one."""
    grades = Judgement.objects.filter(
        round__project=guideline.project_id,
        round__kind=RoundKind.JUDGING,
        guideline__number__lt=guideline.number,
        superseded_by=None,
        pass_number=1,
        grade__isnull=False,
    )
    since = Judgement.objects.filter(
        guideline__project=guideline.project_id, guideline__number__gte=guideline.number, pass_number=1
    )
    if not since.exists():
        return grades
    same = since.filter(entry__query=OuterRef("entry__query"), entry__version=OuterRef("entry__version"))
    return grades.exclude(Exists(same))


def touched(guideline: Guideline) -> list[Touched]:
    """The earlier grades counted by snapshot and grade, the latest snapshot first."""
    rows = earlier_grades(guideline).values_list("round__pool__snapshot", "grade").annotate(n=Count("pk"))
    return [Touched(*row) for row in rows.order_by("-round__pool__snapshot", "grade")]


def pairs_to_rejudge(guideline: Guideline, snapshot: Snapshot, grades: Sequence[int]) -> list[tuple[int, int]]:
    """The pairs of the snapshot with one of these grades under an earlier version: query and block version."""
    rows = earlier_grades(guideline).filter(round__pool__snapshot=snapshot, grade__in=list(grades))
    return list(rows.order_by().values_list("entry__query", "entry__version").distinct())


def version_before(guideline: Guideline) -> Guideline | None:
    earlier = Guideline.objects.filter(project=guideline.project_id, number__lt=guideline.number)
    return earlier.order_by("-number").first()


def open_under_earlier(guideline: Guideline) -> list[Round]:
    """Rounds that use an earlier version until they are closed."""
    rounds = Round.objects.filter(project=guideline.project_id, guideline__number__lt=guideline.number)
    return list(rounds.exclude(state=RoundState.CLOSED).select_related("guideline").order_by("number"))


def rejudging_pools(guideline: Guideline) -> list[Pool]:
    """The pools made to judge again what this version touches, latest first."""
    return list(Pool.objects.filter(project=guideline.project_id, plan__again_under=guideline.number).order_by("-pk"))


def keep_decision(guideline: Guideline) -> Event | None:
    """The event of the decision to keep the earlier grades; None when nobody decided that."""
    filters = EventFilters(action=KEPT, object_id=str(guideline.pk))
    return events_in(guideline.project, filters).first()


def changes_of(before: Guideline | None, guideline: Guideline) -> list[GradeChange]:
    """The differences on each grade, highest first."""
    return changes(before.grades if before else [], guideline.grades)


def changes_of_text(before: Guideline | None, guideline: Guideline) -> list[Piece]:
    """The differences of the text on all grades; empty where it is the same."""
    if before is None or before.markdown == guideline.markdown:
        return []
    return word_diff(before.markdown, guideline.markdown)


def earlier_by_snapshot(guideline: Guideline) -> list[SnapshotToRejudge]:
    """Earlier grades by snapshot. A change of the general text touches every grade."""
    before = version_before(guideline)
    new = {change.grade for change in changes_of(before, guideline) if change.is_touched}
    new |= set(guideline.project.grades) if changes_of_text(before, guideline) else set()
    rows: dict[int, list[GradeToRejudge]] = {}
    for row in touched(guideline):
        rows.setdefault(row.snapshot_id, []).append(GradeToRejudge(row.grade, row.judgements, row.grade in new))
    snapshots = Snapshot.objects.select_related("corpus").in_bulk(rows)
    return [
        SnapshotToRejudge(snapshots[pk], of_snapshot, sum(row.judgements for row in of_snapshot))
        for pk, of_snapshot in rows.items()
    ]
