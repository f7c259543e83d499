"""What taking an edition leads to: the people and the plan of its round, and the record that it was taken."""

from collections.abc import Iterable
from typing import NamedTuple

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import members_of
from apps.audit.models import Event
from apps.audit.selectors.events import EventFilters, events_in
from apps.common.database.questions import CountOf, Question
from apps.corpus.models import Corpus, Snapshot
from apps.judging.core.plan import Plan
from apps.judging.enums import RoundKind, RoundState
from apps.judging.models import Round, RoundAnnotator
from apps.retrieval.enums import ELSEWHERE, RunState, SystemKind
from apps.retrieval.models import Pool, Run, System
from apps.retrieval.selectors import pools_in

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


def round_as_before(corpus: Corpus, rounds: Iterable[Round]) -> RoundAsBefore:
    """`rounds` are all of the corpus."""
    judged = (round_ for round_ in rounds if round_.kind == RoundKind.JUDGING)
    former = max(judged, key=lambda round_: round_.number, default=None)
    seated = RoundAnnotator.objects.filter(round=former).values("annotator")
    people = members_of(corpus.project, Role.ANNOTATOR).filter(pk__in=seated).order_by("name", "pk")
    return RoundAsBefore(former, list(people))


def taken_event(snapshot: Snapshot) -> Event | None:
    """The record that this edition was taken; None before."""
    filters = EventFilters(action=TAKEN, object_id=str(snapshot.pk))
    return events_in(snapshot.corpus.project, filters).first()


class SystemsToRun(NamedTuple):
    """What ranked the snapshot before and not this one: systems that Karat can run again, and those that it cannot."""

    here: list[System]
    elsewhere: list[System]


def systems_to_run(before: Snapshot, after: Snapshot) -> SystemsToRun:
    """The systems with a complete run on `before` and no run on `after`, by name. A failed run on it does not count."""
    ran = Run.objects.filter(snapshot=before, state=RunState.COMPLETE).values("system")
    runs = Run.objects.filter(snapshot=after).exclude(state=RunState.FAILED).values("system")
    systems = System.objects.filter(pk__in=ran).exclude(pk__in=runs).order_by("name")
    here = [system for system in systems if system.kind not in OUTSIDE]
    return SystemsToRun(here, [system for system in systems if system.kind in OUTSIDE])


class StaysBehind(NamedTuple):
    """What stays on the snapshot before: its runs and pools, and rounds that are still open."""

    runs: int
    pools: int
    open_rounds: list[Round]


def stays_question(before: Snapshot, rounds: Iterable[Round]) -> Question[StaysBehind]:
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
    return Question(asks, lambda found: StaysBehind(found["runs"], found["pools"], open_rounds))


def free_pool_name(project: Project, name: str) -> str:
    """The name, with a number when a pool has it already."""
    used = set(Pool.objects.filter(project=project, name__startswith=name).values_list("name", flat=True))
    names = [name, *(f"{name} ({number})" for number in range(2, len(used) + 2))]
    return next(each for each in names if each not in used)
