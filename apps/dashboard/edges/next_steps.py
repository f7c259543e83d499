"""What a lead does next after an import and after a run, on the way to a first grade and to a score."""

from apps.accounts.models import Project
from apps.common.web.requests import NextStep
from apps.corpus.models import Import, Snapshot
from apps.dashboard.edges.paths import path
from apps.evaluation.selectors.run_again import evaluations_of, versions_on_snapshot
from apps.goldsets.enums import VersionState
from apps.goldsets.models import Version
from apps.queries.models import Query
from apps.retrieval.enums import RunState
from apps.retrieval.models import PoolRun, Run
from apps.retrieval.selectors.pools import pools_in


def after_import(item: Import) -> NextStep | None:
    """Queries after the first documents, then results to judge. Later documents are compared on their own pages."""
    project = item.project
    if item.kind == "queries":
        return _choose_results(project)
    if item.kind != "corpus" or Snapshot.objects.filter(corpus__project=project).exists():
        return None
    if not Query.objects.filter(project=project).exists():
        return NextStep("Add queries", path("import queries", project))
    return _choose_results(project)


def after_run(run: Run) -> NextStep | None:
    """A score on the latest version of its snapshot, or where there is none, a pool; None for what has either.

    A run that returned passages of its own is scored on the Q&As of the version, and not pooled.
    """
    if run.state != RunState.COMPLETE:
        return None
    project = run.project
    released = [one for one in versions_on_snapshot(run) if one.state == VersionState.RELEASED and one.released_at]
    version = max(released, key=lambda one: (one.released_at, one.pk), default=None)
    if version is not None and any(one.version_id == version.pk for one in evaluations_of(run)):
        return None
    if run.returns_passages:
        return _score_on_triples(run, version) if version is not None else None
    if version is None:
        is_pooled = PoolRun.objects.filter(run=run).exists()
        url = f"{path('pool', project)}?snapshot={run.snapshot_id}"
        return None if is_pooled else NextStep("Choose results to judge", url)
    return NextStep(
        f"Score it on {version.label}", f"{path('score', project)}?version={version.pk}&run={run.pk}#score-runs"
    )


def _score_on_triples(run: Run, version: Version) -> NextStep | None:
    if not version.triples.exists():
        return None
    url = f"{path('score', run.project)}?version={version.pk}&hit=evidence&run={run.pk}#score-runs"
    return NextStep(f"Score it on the Q&As of {version.label}", url)


def _choose_results(project: Project) -> NextStep | None:
    if pools_in(project).exists():
        return None
    return NextStep("Choose results to judge", path("pool", project))
