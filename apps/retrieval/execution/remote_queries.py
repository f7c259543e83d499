"""Querying systems elsewhere: opening a connection, sending the queries of a run, and trying one query."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from apps.accounts.actions.secrets import NoSecret
from apps.accounts.models import Project
from apps.common.database.bulk import chunks
from apps.common.web.addresses import BadAddress
from apps.common.web.outbound import RequestLimits
from apps.corpus.models import Snapshot, SnapshotBlock
from apps.jobs.execution.context import JobContext, JobFailed
from apps.metrics.expected.rules import Returned
from apps.metrics.statistics.usage import added
from apps.retrieval.core.engines.base import BadParameters, NotReady
from apps.retrieval.core.engines.remote import make_remote
from apps.retrieval.core.engines.remote.base import RemoteEngine, RemoteError, RemoteHit, RemoteQuery, merged
from apps.retrieval.core.engines.remote.search import Answers, Pace, RemoteConnection, search_all
from apps.retrieval.core.engines.remote.servers import LoadedSearch
from apps.retrieval.execution.loading import connection_to, dense_engine_of
from apps.retrieval.execution.ranking import Steps, complete_run, write_rankings
from apps.retrieval.models import Run, System
from apps.retrieval.selectors.question_sets import ids_and_texts
from apps.retrieval.selectors.runs import ranked_queries
from apps.retrieval.selectors.snapshots import positions_of

PARTS_PER_LANE = 5
SHORTEST_PART = 20
TRIED_DEPTH = 10
TRIAL_LIMITS = RequestLimits(connect=2.0, read=4.0, whole=5.0, size=2 * 1024**2)
"""For the one query of a trial, which is sent inside a request."""


def send_queries(ctx: JobContext, run: Run, query_ids: Sequence[int], steps: Steps) -> None:
    """Send the queries without a ranking, part by part, and complete the run.

    When queries fail, the answers of all others are stored; then the job fails with the first failed query. A retry
    sends only the missing queries.
    """
    answered = ranked_queries(run.pk)
    missing = [pk for pk in query_ids if pk not in answered]
    steps.add(len(query_ids) - len(missing), _progress_text(run))
    if missing:
        try:
            engine = make_remote(run.system.kind, run.system.config["engine"])
            pace = Pace.of(run.system.config["pace"])
            with connection_to(engine, run.project, partial(positions_of, run.snapshot), pace) as connection:
                _send_missing(ctx, run, missing, engine, connection, steps)
        except (BadParameters, BadAddress, NoSecret) as error:
            raise JobFailed(str(error)) from None
    with ctx.chunk(f"run:{run.pk}:complete") as fresh:
        if fresh:
            complete_run(run, actor=ctx.actor, at=ctx.at)


def _send_missing(
    ctx: JobContext, run: Run, missing: Sequence[int], engine: RemoteEngine, connection: RemoteConnection, steps: Steps
) -> None:
    failed, answered = [], 0
    size = max(SHORTEST_PART, PARTS_PER_LANE * connection.pace.at_once)
    for part in chunks(missing, size):
        queries = _with_vectors(run, engine, [RemoteQuery(*row) for row in ids_and_texts(part)])
        answers = search_all(engine, connection, queries, run.depth, lambda: steps.add(1, _progress_text(run)))
        answered += len(answers.answered)
        _write(ctx, run, part, answers)
        failed += answers.failed
        if answers.stopped:
            raise JobFailed(
                f"The queries to {run.system.name} were stopped after {failed[-1].query_id} failed: "
                f"{answers.stopped} {answered:,} of {len(missing):,} queries were answered and are stored. Fix the "
                "cause, then retry: the job requests the rest."
            )
    if failed:
        raise JobFailed(
            f"{len(failed):,} of {len(missing):,} queries to {run.system.name} have no answer, "
            f"{failed[0].query_id} first: {failed[0].sentence} The other answers are stored. Retry: the job requests "
            "the rest."
        )


def _with_vectors(run: Run, engine: RemoteEngine, queries: list[RemoteQuery]) -> list[RemoteQuery]:
    """The queries with the vectors that the engine searches with, by the model that made those of its index."""
    if not isinstance(engine, LoadedSearch) or not engine.needs_vectors:
        return queries
    dense = System.objects.filter(project_id=run.project_id, digest=engine.vectors).first()
    if dense is None:
        raise JobFailed("The system whose model made the vectors of the index is not in this project.")
    try:
        vectors = dense_engine_of(dense).query_vectors([query.text for query in queries])
    except (BadParameters, NotReady) as error:
        raise JobFailed(str(error)) from None
    return [query._replace(vector=vector) for query, vector in zip(queries, vectors, strict=True)]


def _progress_text(run: Run) -> str:
    return f"sending queries to {run.system.name}"


def _write(ctx: JobContext, run: Run, part: Sequence[int], answers: Answers) -> None:
    """Write rankings, report and usage in one transaction.

    The first answered query names the chunk, so that no two parts share it. A part without answers is asked again by
    the next attempt, whose number is in the name.
    """
    query_ids = [part[number] for number in answers.answered]
    name = f"asked:{query_ids[0]}" if query_ids else f"failed:{ctx.attempt}:{part[0]}"
    with ctx.chunk(f"run:{run.pk}:{name}") as fresh:
        if fresh:
            write_rankings(run, query_ids, answers.hits, passages=answers.passages)
            row = Run.objects.select_for_update().get(pk=run.pk)
            row.report = merged(row.report, answers.report.values()) or None
            row.usage = added(row.usage, answers.usage)
            row.save(update_fields=["report", "usage"])


class TrialResult(NamedTuple):
    """One result of a trial; `title` is None for an id without a block in the snapshot. Of a passage of the system's
    own it is the beginning of its text.
    """

    id: str
    score: float | None
    title: str | None


class Trial(NamedTuple):
    """The outcome of one query. `failure` is a sentence, "" when there is an answer."""

    shown: list[TrialResult]
    returned: int
    unknown: int
    milliseconds: float
    incomplete: str
    failure: str
    own: bool = False


def try_query(project: Project, kind: str, parameters: Mapping[str, Any], snapshot: Snapshot, text: str) -> Trial:
    """Send one query, without retries and with short time limits, inside a request. Raises BadParameters."""
    engine = make_remote(kind, parameters)
    try:
        with connection_to(engine, project, partial(positions_of, snapshot), Pace(), TRIAL_LIMITS) as connection:
            reply = connection.send(engine.request(RemoteQuery("trial", text), TRIED_DEPTH))
        reading = engine.read(reply)
    except RemoteError as error:
        return Trial([], 0, 0, 0.0, "", error.sentence)
    except (NoSecret, BadAddress) as error:
        return Trial([], 0, 0, 0.0, "", str(error))
    milliseconds = reply.seconds * 1000
    if engine.returns_passages:
        own = [_own_result(hit) for hit in reading.hits[:TRIED_DEPTH]]
        return Trial(own, len(reading.hits), 0, milliseconds, reading.incomplete, "", own=True)
    positions = positions_of(snapshot, {hit.id for hit in reading.hits})
    titles = _titles(snapshot, [positions[hit.id] for hit in reading.hits[:TRIED_DEPTH] if hit.id in positions])
    shown = [
        TrialResult(hit.id, hit.score, titles.get(positions.get(hit.id, -1))) for hit in reading.hits[:TRIED_DEPTH]
    ]
    unknown = sum(hit.id not in positions for hit in reading.hits)
    return Trial(shown, len(reading.hits), unknown, milliseconds, reading.incomplete, "")


def _own_result(hit: RemoteHit) -> TrialResult:
    own = hit.own or Returned()
    return TrialResult(own.id or own.document_id, hit.score, own.text[:200])


def _titles(snapshot: Snapshot, positions: Sequence[int]) -> dict[int, str]:
    """The title of each block, or the beginning of its text, by position."""
    rows = SnapshotBlock.objects.filter(snapshot=snapshot, position__in=positions).select_related("version")
    return {row.position: row.version.title or row.version.text[:80] for row in rows}
