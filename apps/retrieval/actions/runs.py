"""Requesting runs, and editing their note and commit in the ledger."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import snapshot_in
from apps.jobs.actions.jobs import enqueue
from apps.queries.actions.queries import lock_queries
from apps.retrieval import rules
from apps.retrieval.enums import SystemKind
from apps.retrieval.execution.run_reading import add_run
from apps.retrieval.models import Run, System
from apps.retrieval.rules import RUN_DEPTH, RunRefused, check_lengths
from apps.retrieval.selectors.question_sets import ALL_QUERIES, QueryChoice, queries_in
from apps.retrieval.selectors.runs import reusable_run
from apps.retrieval.selectors.systems import system_in


@transaction.atomic
def request_run(
    *,
    project: Project,
    system_id: int,
    snapshot_id: int,
    choice: QueryChoice = ALL_QUERIES,
    depth: int = RUN_DEPTH,
    tag: str = "",
    note: str = "",
    commit: str = "",
    as_role: str = "",
    abstains_below: float | None = None,
    actor: User,
    at: datetime,
) -> Run:
    """Queue one execution of a system for the chosen queries, or for a set of questions, whose texts are then fixed.

    Raises RunRefused.
    """
    system = system_in(project, system_id)
    snapshot = snapshot_in(project, snapshot_id)
    if reason := rules.choice_refusal(choice):
        raise RunRefused(reason, code="run_refused")
    query_ids = list(queries_in(project, choice).values_list("pk", flat=True))
    abstention = rules.abstention_refusal(rules.returns_of(system), abstains_below)
    if reason := rules.run_refusal(system, snapshot, len(query_ids), depth) or abstention:
        raise RunRefused(reason, code="run_refused")
    facts: dict[str, Any] = {"note": note, "commit": commit, "as_role": as_role, "abstains_below": abstains_below}
    run = add_run(system, snapshot, depth, tag, **facts, returns=rules.returns_of(system), actor=actor, at=at)
    components = add_components(run, query_ids, actor, at)
    params = {"run_id": run.pk, "query_ids": query_ids}
    job = enqueue(kind="retrieval.run", params=params, project=project, actor=actor, at=at, title=f"Run {run.tag}")
    run.job = job
    run.save(update_fields=["job"])
    Run.objects.filter(pk__in=[component.pk for component in components]).update(job=job)
    lock_queries(query_ids, at=at)
    return run


@transaction.atomic
def add_runs_again(
    former: Sequence[Run], snapshot: Snapshot, query_ids: Sequence[int], *, note: str, actor: User, at: datetime
) -> tuple[list[Run], list[Run]]:
    """Create runs of the same systems on another snapshot, each as deep as the former one. Raises RunRefused.

    Returns them, and those of the systems that they fuse, which a job makes before them; the caller queues that job.
    Fused runs come last, so that a run before them is not made a second time for them.
    """
    runs: list[Run] = []
    components: list[Run] = []
    for one in sorted(former, key=lambda run: (run.system.kind == SystemKind.FUSION, run.system_id)):
        if reason := rules.run_refusal(one.system, snapshot, len(query_ids), one.depth):
            raise RunRefused(reason, code="run_refused")
        facts: dict[str, Any] = {"note": note, "as_role": one.as_role, "abstains_below": one.abstains_below}
        facts["returns"] = rules.returns_of(one.system)
        run = add_run(one.system, snapshot, one.depth, **facts, actor=actor, at=at)
        components += add_components(run, query_ids, actor, at, among=[*runs, *components])
        runs.append(run)
    lock_queries(query_ids, at=at)
    return runs, components


def add_components(
    run: Run, query_ids: Sequence[int], actor: User, at: datetime, among: Sequence[Run] = ()
) -> list[Run]:
    """Choose the component runs of a fused run; returns those that its job has to make first. Other runs have none.

    A complete run of a component for the same role that is deep enough and has all the queries is reused, and so is one
    `among` those that the same job makes on these queries.
    """
    if run.system.kind != SystemKind.FUSION:
        return []
    components: list[int] = []
    pending: list[Run] = []
    for digest in run.system.config["engine"]["systems"]:
        system = System.objects.get(project_id=run.project_id, digest=digest)
        alike = (one for one in [*among, *pending] if (one.system_id, one.as_role) == (system.pk, run.as_role))
        waiting = (one for one in alike if one.depth >= run.depth)
        component = next(waiting, None) or reusable_run(system, run.snapshot, run.depth, query_ids, run.as_role)
        if component is None:
            if reason := rules.run_refusal(system, run.snapshot, len(query_ids), run.depth):
                raise RunRefused(f"{run.system.name} fuses {system.name}. {reason}", code="run_refused")
            component = add_run(system, run.snapshot, run.depth, as_role=run.as_role, actor=actor, at=at)
            pending += [component, *add_components(component, query_ids, actor, at, [*among, *pending])]
        components.append(component.pk)
    run.report = {"components": components}
    run.save(update_fields=["report"])
    return pending


@transaction.atomic
def annotate_run(*, run: Run, note: str | None = None, commit: str | None = None, actor: User, at: datetime) -> Run:
    """Set the note and commit of a run in the ledger; None stays as it is. Its rankings do not change."""
    row = Run.objects.select_for_update().get(pk=run.pk)
    before = {"note": row.note, "commit": row.commit}
    note, commit = row.note if note is None else note, row.commit if commit is None else commit
    check_lengths(commit=commit.strip())
    row.note, row.commit = note.strip(), commit.strip()
    row.save(update_fields=["note", "commit"])
    after = {"note": row.note, "commit": row.commit}
    record(project=run.project, actor=actor, action="run.annotated", obj=row, before=before, after=after, at=at)
    return row
