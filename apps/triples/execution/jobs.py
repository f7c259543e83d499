"""Jobs of triples: comparing accepted triples with a new snapshot."""

from typing import Any

from apps.corpus.models import Snapshot
from apps.jobs.execution.context import JobContext
from apps.jobs.selectors.job_kinds import job_kind
from apps.triples.execution.staleness import mark_changed
from apps.triples.selectors.staleness import changed_in_window, windows
from apps.triples.selectors.triples import newest_snapshot

MARK_STALE = "triples.mark_stale"


@job_kind(MARK_STALE, title="Compare accepted Q&As with a new snapshot")
def mark_stale_triples(ctx: JobContext) -> dict[str, Any]:
    """Mark every accepted triple whose expected text changed, or is gone, in the snapshot `snapshot_id`.

    Does nothing for a snapshot that is no longer the newest: the newest has its own job.
    """
    snapshot = Snapshot.objects.select_related("corpus__project").get(pk=ctx.params["snapshot_id"])
    if newest_snapshot(snapshot.corpus.project, snapshot.corpus_id) != snapshot:
        return {"snapshot_id": snapshot.pk, "marked": 0, "superseded": True}
    marked = 0
    ranges = list(windows(snapshot))
    for first, last in ranges:
        changed = changed_in_window(snapshot, (first, last))
        if changed:
            with ctx.chunk(f"triples:{first}") as fresh:
                marked += len(mark_changed(snapshot, changed, ctx.at)) if fresh else 0
        ctx.progress(last, ranges[-1][1], f"{marked} stale so far")
    return {"snapshot_id": snapshot.pk, "marked": marked}
