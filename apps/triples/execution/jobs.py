"""The slow work: comparing what is accepted with a new snapshot."""

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
    """Mark every accepted triple whose expected text is another, or gone, in the snapshot `snapshot_id`.

    A snapshot that is no longer the newest is left to the job of the one that is.
    """
    snapshot = Snapshot.objects.select_related("corpus__project").get(pk=ctx.params["snapshot_id"])
    if newest_snapshot(snapshot.corpus.project, snapshot.corpus_id) != snapshot:
        return {"snapshot_id": snapshot.pk, "marked": 0, "superseded": True}
    marked = 0
    ranges = list(windows(snapshot))
    for first, last in ranges:
        found = changed_in_window(snapshot, (first, last))
        if found:
            with ctx.chunk(f"triples:{first}") as fresh:
                marked += len(mark_changed(snapshot, found, ctx.at)) if fresh else 0
        ctx.progress(last, ranges[-1][1], f"{marked} stale so far")
    return {"snapshot_id": snapshot.pk, "marked": marked}
