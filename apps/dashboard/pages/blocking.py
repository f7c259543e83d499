"""What blocks the next result of a project, as rows for its leads: gates, scores, rounds, missing grades."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, Q, Subquery

from apps.accounts.models import Project
from apps.accounts.selectors import Member
from apps.common.database.batched_reads import BatchedRead, CountOf
from apps.dashboard.pages.checklist import GOALS, FirstSteps
from apps.dashboard.pages.paths import path
from apps.dashboard.pages.progress import Judging
from apps.dashboard.pages.tasks import Task, grade_url
from apps.evaluation.models import Evaluation
from apps.gates.enums import GateState
from apps.gates.selectors import GateStatus
from apps.goldsets.models import Version
from apps.goldsets.selectors.public import waiting_for
from apps.judging.enums import RoundState, SeatState
from apps.judging.models import Judgement, Round, Seat
from apps.judging.selectors.plans import has_pairs_to_judge
from apps.queries.models import Query
from apps.retrieval.enums import PoolState, RunState
from apps.retrieval.models import Pool, Run

MOST_NAMED = 3
NOTHING: BatchedRead[list[Task]] = BatchedRead({}, lambda found: [])


def failed_gates(project: Project, gates: Sequence[GateStatus]) -> list[Task]:
    """One row for all gates that failed on their newest run: that gate, or the list where there are several."""
    failed = [status for status in gates if status.state == GateState.FAILED and status.result]
    if not failed:
        return []
    gate, result = failed[0].gate, failed[0].result
    assert result is not None
    small = f"{result.evaluation.run.tag} on {result.evaluation.version.label}: {result.words}"
    if len(failed) == 1:
        url = path("gates:gate", project, pk=gate.pk)
        return [Task("x", f"Gate “{gate}” failed", small, 1, "", url, "Open the gate", is_bad=True)]
    url = path("gates:gates", project)
    return [Task("x", "Gates failed", small, len(failed), "", url, "Open the gates", is_bad=True)]


def unscored(project: Project, version: Version | None) -> BatchedRead[list[Task]]:
    """The complete runs on the snapshot of the latest version for which nobody has requested a score."""
    if version is None:
        return NOTHING
    requested = Evaluation._base_manager.filter(version=version, run=OuterRef("pk"))  # also what stays sealed
    runs = Run.objects.filter(~Exists(requested), snapshot=version.snapshot_id, state=RunState.COMPLETE)
    tags = runs.order_by("-pk").values("tag")
    asks: dict[str, Subquery] = {"n": CountOf(runs.values("pk"))}
    asks |= {f"tag{place}": Subquery(tags[place : place + 1]) for place in range(MOST_NAMED)}
    return BatchedRead(asks, lambda found: _to_score(project, version, found))


def _to_score(project: Project, version: Version, found: Mapping[str, Any]) -> list[Task]:
    n, tags = found["n"], [found[f"tag{place}"] for place in range(min(found["n"], MOST_NAMED))]
    if not n:
        return []
    title = f"Score {tags[0]} on {version.label}" if n == 1 else f"Runs to score on {version.label}"
    small = "not scored on the latest version" if n == 1 else f"{', '.join(tags)}: not scored on it yet"
    return [Task("l", title, small, n, "", path("score", project), "Score")]


def next_version(project: Project, version: Version | None, steps: FirstSteps) -> list[Task]:
    """The `version` that is not released yet, after a released one: a draft to freeze, or a frozen one."""
    if version is None or not steps.is_done("version"):
        return []
    url = path("goldsets:version", project, gold_set=version.gold_set.slug, number=version.number)
    small, verb = f"{version} is a draft: freeze it, release it, then score your systems on it", "Open the draft"
    if not version.is_draft:
        small, verb = f"{version} is frozen: release it, then score your systems on it", "Open the version"
    return [Task(GOALS["version"], f"Release {version.label}", small, 1, "", url, verb)]


def public_releases(member: Member, *, at: datetime) -> list[Task]:
    """Public releases that wait for this lead: to be signed, to be let out, or to be withdrawn."""
    rows = []
    for release in waiting_for(member.project, member.user, at=at):
        version = release.version
        url = path("goldsets:public", member.project, gold_set=version.gold_set.slug, number=version.number)
        if release.is_prepared:
            small = f"{release.prepared_by} prepared it: read the preview and sign"
            rows.append(Task("1", f"Sign the public release of {version}", small, 1, "", url, "Read it"))
        elif release.released_at is not None:
            small = "it has material whose permission has ended: read which, and withdraw it"
            rows.append(Task("1", f"Withdraw the public release of {version}", small, 1, "", url, "Open it"))
        else:
            small = "a second lead has signed: let it out, or withdraw it"
            rows.append(Task("1", f"Release {version} to the public", small, 1, "", url, "Open it"))
    return rows


def without_runs(project: Project, version: Version | None) -> BatchedRead[list[Task]]:
    """The latest version where systems were scored before and none has run on its snapshot yet."""
    if version is None:
        return NOTHING
    runs = Run.objects.filter(snapshot=version.snapshot_id).exclude(state=RunState.FAILED)
    scored = Evaluation.objects.filter(project=project, scored_at__isnull=False)
    small = f"no system has run on {version.snapshot.name} yet: run it there, or upload its results"
    row = Task(GOALS["scores"], f"Score your systems on {version.label}", small, 1, "", path("score", project), "Score")
    return BatchedRead(
        {"has_scores": Exists(scored), "has_run": Exists(runs)},
        lambda found: [row] if found["has_scores"] and not found["has_run"] else [],
    )


def without_grades(project: Project) -> BatchedRead[list[Task]]:
    """The live queries that have no grade and are in no open round, once others have grades."""
    begun = Seat.objects.filter(
        Q(state=SeatState.DONE) | ~Q(round__state=RoundState.CLOSED), query=OuterRef("pk"), round__withdrawn_at=None
    )
    live = Query.objects.filter(project=project, retired_at=None).order_by()
    asks = {
        "has_grades": Exists(Judgement.objects.filter(round__project=project, round__withdrawn_at=None)),
        "every": CountOf(live.values("pk")),
        "missing": CountOf(live.filter(~Exists(begun)).values("pk")),
    }
    return BatchedRead(asks, lambda found: _ungraded(project, found))


def _ungraded(project: Project, found: Mapping[str, Any]) -> list[Task]:
    if not found["has_grades"] or not found["missing"]:
        return []
    no_grades = "1 query has" if found["missing"] == 1 else f"{found['missing']:,} of {found['every']:,} queries have"
    small = "scores do not count them: choose results to judge, or retire what you do not need"
    return [Task("q", f"{no_grades} no grades", small, 1, "", path("pool", project), "Choose results")]


def goals(steps: FirstSteps) -> list[Task]:
    """The version and the scores that the grades are for, until a version was released."""
    return [
        Task(GOALS[step.key], step.text.title, step.text.why, 1, "", step.url, step.text.verb)
        for step in steps.to_release()
    ]


def unplanned_pool(project: Project) -> BatchedRead[str]:
    """The name of the newest complete pool without a round that has pairs for one; "" where there is none."""
    pools = Pool.objects.filter(~Exists(Round.objects.filter(pool=OuterRef("pk"))), project=project)
    newest = pools.filter(has_pairs_to_judge(), state=PoolState.COMPLETE).order_by("-pk").values("name")[:1]
    return BatchedRead({"name": Subquery(newest)}, lambda found: found["name"] or "")


def rounds(
    project: Project, judging: Judging | None, pool: str, *, tasks: Sequence[Task] = (), people: int = 0
) -> list[Task]:
    """A pool without a round is to be planned, an open round has missing grades.

    `people` judge in the round. Where it is one, and `tasks` ask them to grade in it, the same is not said twice.
    """
    found = []
    if pool:
        small = f"{pool}: nobody judges its pairs yet"
        found.append(Task("b", "Plan a round", small, 1, "", path("plan round", project), "Plan"))
    if judging and judging.round.state == RoundState.OPEN and judging.done < judging.planned:
        if people == 1 and path("grade", project, pk=judging.round.pk) == grade_url(tasks):
            return found
        url = path("judging:round", project, pk=judging.round.pk)
        small = f"{judging.round}: {judging.forecast}"
        to_go = judging.planned - judging.done
        found.append(Task("m", "Missing grades", small, to_go, "", url, "Open the round"))
    return found
