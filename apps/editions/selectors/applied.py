"""What taking an edition leads to: the people and the plan of its round, and the record that it was taken."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import QuerySet, Subquery

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import members_of
from apps.audit.models import Event
from apps.audit.selectors.events import EventFilters, events_in
from apps.common.database.batched_reads import BatchedRead, CountOf, ListOf
from apps.corpus.models import Snapshot
from apps.judging.core.plan import Plan
from apps.judging.enums import RoundKind, RoundState
from apps.judging.models import Round, RoundAnnotator
from apps.retrieval.enums import ELSEWHERE, RunState, SystemKind
from apps.retrieval.models import Run, System
from apps.retrieval.selectors.pools import pools_in

TAKEN = "edition.taken"
OUTSIDE = ELSEWHERE | {SystemKind.UPLOADED}
"""Kinds of systems whose index or file somebody has to bring up to date first."""


class RoundAsBefore(NamedTuple):
    """How the round of an edition is judged: as the latest round on the corpus, by its people who still judge."""

    former: Round | None
    people: list[User]

    def plan(self, seed: int) -> Plan:
        """The share that more than one person judges is the former round's, as far as there are people."""
        if self.former is None or len(self.people) < self.former.judges:
            return Plan(overlap=0.0, judges=1, seed=seed)
        return Plan(overlap=self.former.overlap_share, judges=self.former.judges, seed=seed)


def as_before_question(project: Project, rounds: Iterable[Round]) -> BatchedRead[RoundAsBefore]:
    """Asks how the round is judged, of its people their key, name and address. `rounds` are all of the corpus."""
    judged = (round_ for round_ in rounds if round_.kind == RoundKind.JUDGING)
    former = max(judged, key=lambda round_: round_.number, default=None)
    columns = ("pk", "name", "email")
    people = ListOf(_people(project, former).values_list(*columns))

    def read(found: Mapping[str, Any]) -> RoundAsBefore:
        return RoundAsBefore(former, [User(**dict(zip(columns, row, strict=True))) for row in found["people"]])

    return BatchedRead({"people": people}, read)


def _people(project: Project, former: Round | None) -> QuerySet[User]:
    seated = RoundAnnotator.objects.filter(round=former).values("annotator")
    return members_of(project, Role.ANNOTATOR).filter(pk__in=seated).order_by("name", "pk")


def taken_event(snapshot: Snapshot) -> Event | None:
    """The record that this edition was taken; None before."""
    return _taken(snapshot).first()


def _taken(snapshot: Snapshot) -> QuerySet[Event]:
    return events_in(snapshot.corpus.project, EventFilters(action=TAKEN, object_id=str(snapshot.pk)))


class TakenEdition(NamedTuple):
    """When an edition was taken and by whom, and `after`, what its record says came of it."""

    at: datetime
    actor: str
    after: dict[str, Any]


def taken_question(snapshot: Snapshot) -> BatchedRead[TakenEdition | None]:
    """Asks for the record that this edition was taken; None before."""
    event = _taken(snapshot).select_related(None)
    asks = {name: Subquery(event.values(name)[:1]) for name in ("at", "after", "actor__name", "actor__email")}

    def read(found: Mapping[str, Any]) -> TakenEdition | None:
        by = User(name=found["actor__name"] or "", email=found["actor__email"] or "")
        return None if found["at"] is None else TakenEdition(found["at"], str(by), found["after"] or {})

    return BatchedRead(asks, read)


class SystemsToRun(NamedTuple):
    """What ranked the snapshot before and not this one: systems that Karat can run again, and those that it cannot."""

    here: list[System]
    elsewhere: list[System]

    @classmethod
    def of(cls, systems: Iterable[System]) -> "SystemsToRun":
        both: list[list[System]] = [[], []]
        for system in systems:
            both[system.kind in OUTSIDE].append(system)
        return cls(*both)


def to_run_question(before: Snapshot, after: Snapshot) -> BatchedRead[SystemsToRun]:
    """Asks for the systems with a complete run on `before` and no run on `after`, by name: of each its name and kind.

    A failed run on `after` does not count.
    """
    columns = ("pk", "name", "kind")
    rows = ListOf(_left_to_run(before, after).values_list(*columns))
    return BatchedRead(
        {"systems": rows},
        lambda found: SystemsToRun.of(System(**dict(zip(columns, row, strict=True))) for row in found["systems"]),
    )


def _left_to_run(before: Snapshot, after: Snapshot) -> QuerySet[System]:
    ran = Run.objects.filter(snapshot=before, state=RunState.COMPLETE).values("system")
    runs = Run.objects.filter(snapshot=after).exclude(state=RunState.FAILED).values("system")
    systems = System.objects.exclude(kind=SystemKind.LOADED)  # each searches one snapshot: on another it is another
    return systems.filter(pk__in=ran).exclude(pk__in=runs).order_by("name")


class StaysBehind(NamedTuple):
    """What stays on the snapshot before: its runs and pools, and rounds that are still open."""

    runs: int
    pools: int
    open_rounds: list[Round]


def stays_question(before: Snapshot, rounds: Iterable[Round]) -> BatchedRead[StaysBehind]:
    """`rounds` are all of the corpus, with their pools."""
    judged = (round_ for round_ in rounds if round_.kind == RoundKind.JUDGING)
    open_rounds = [
        round_ for round_ in judged if round_.pool.snapshot_id == before.pk and round_.state != RoundState.CLOSED
    ]
    pools = pools_in(before.corpus.project).filter(snapshot=before).order_by()
    asks = {
        "runs": CountOf(Run.objects.filter(snapshot=before).values("pk")),
        "pools": CountOf(pools.values("pk")),
    }
    return BatchedRead(asks, lambda found: StaysBehind(found["runs"], found["pools"], open_rounds))
