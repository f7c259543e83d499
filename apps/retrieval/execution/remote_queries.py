"""Asking systems elsewhere: the line to one, the queries of a run over it, and one query to see how it goes."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

from django.conf import settings

from apps.accounts.actions.secrets import NoSecret, reveal
from apps.accounts.models import Project
from apps.common.web.addresses import BadAddress, parse_url
from apps.common.web.outbound import Limits
from apps.corpus.models import Snapshot, SnapshotBlock
from apps.jobs.execution.context import JobContext, JobFailed
from apps.retrieval import selectors
from apps.retrieval.core.engines import BadParameters
from apps.retrieval.core.engines.remote import (
    Answers,
    Pace,
    RemoteEngine,
    RemoteError,
    RemoteLine,
    RemoteQuery,
    ask_all,
    make_remote,
    merged,
)
from apps.retrieval.core.engines.remote.line import http_line
from apps.retrieval.execution.answers import Steps, complete_run, write_rankings
from apps.retrieval.models import Run

PARTS_PER_LANE = 5
SHORTEST_PART = 20
TRIED_DEPTH = 10
PATIENCE = Limits(connect=2.0, read=4.0, whole=5.0, size=2 * 1024**2)
"""For the one query that is tried inside a request."""


@contextmanager
def line_to(
    engine: RemoteEngine, project: Project, snapshot: Snapshot, pace: Pace, limits: Limits | None = None
) -> Iterator[RemoteLine]:
    """An open line that signs in with the engine's secret. Raises NoSecret and BadAddress."""
    target = parse_url(engine.address)
    signed = engine.auth.headers(reveal(project, engine.auth.secret)) if engine.auth.secret else {}

    openings = settings.OUTBOUND_ALLOW
    locate = partial(selectors.positions_of, snapshot)
    with http_line(target, locate, pace, headers=signed, openings=openings, limits=limits) as line:
        yield line


def ask_queries(ctx: JobContext, run: Run, query_ids: Sequence[int], steps: Steps) -> None:
    """Ask for the queries that have no ranking yet, part by part, and complete the run.

    A query without an answer does not take the others with it: they are written, and the job fails in the end,
    naming the first; its next run asks for what is missing.
    """
    answered = selectors.ranked_queries(run.pk)
    missing = [pk for pk in query_ids if pk not in answered]
    steps.take(len(query_ids) - len(missing), f"{run.system.name} is asked")
    if missing:
        try:
            engine = make_remote(run.system.kind, run.system.config["engine"])
            pace = Pace.of(run.system.config["pace"])
            with line_to(engine, run.project, run.snapshot, pace) as line:
                _ask_missing(ctx, run, missing, engine, line, steps)
        except (BadParameters, BadAddress, NoSecret) as wrong:
            raise JobFailed(str(wrong)) from None
    with ctx.chunk(f"run:{run.pk}:complete") as fresh:
        if fresh:
            complete_run(run, actor=ctx.actor, at=ctx.at)


def _ask_missing(
    ctx: JobContext, run: Run, missing: Sequence[int], engine: RemoteEngine, line: RemoteLine, steps: Steps
) -> None:
    failed, kept = [], 0
    size = max(SHORTEST_PART, PARTS_PER_LANE * line.pace.at_once)
    for part in selectors.in_parts(missing, size):
        asked = [RemoteQuery(*row) for row in selectors.queries_as_asked(part)]
        answers = ask_all(engine, line, asked, run.depth, lambda: steps.take(1, f"{run.system.name} is asked"))
        kept += len(answers.answered)
        _write(ctx, run, [part[number] for number in answers.answered], answers)
        failed += answers.failed
        if answers.stopped:
            raise JobFailed(
                f"{run.system.name} was stopped after {failed[-1].query_id} failed: "
                f"{answers.stopped} {kept:,} of {len(missing):,} queries were answered and are kept. Fix the "
                "cause, then retry: the job requests the rest."
            )
    if failed:
        raise JobFailed(
            f"{len(failed):,} of {len(missing):,} queries have no answer, {failed[0].query_id} first: "
            f"{failed[0].sentence} What was answered is kept. Retry: the job requests the rest."
        )


def _write(ctx: JobContext, run: Run, query_ids: Sequence[int], answers: Answers) -> None:
    """Rankings and report in one commit. No two commits share their first query, so it names the part."""
    if not query_ids:
        return
    with ctx.chunk(f"run:{run.pk}:asked:{query_ids[0]}") as fresh:
        if fresh:
            write_rankings(run, query_ids, answers.found)
            row = Run.objects.select_for_update().get(pk=run.pk)
            row.report = merged(row.report, answers.report.values()) or None
            row.save(update_fields=["report"])


class TrialResult(NamedTuple):
    """One result of a trial; `title` is None for an id that is no block of the snapshot."""

    id: str
    score: float | None
    title: str | None


class Trial(NamedTuple):
    """What one query came to. `failure` is a sentence, "" when there is an answer."""

    shown: list[TrialResult]
    returned: int
    unknown: int
    milliseconds: float
    incomplete: str
    failure: str


def try_query(project: Project, kind: str, parameters: Mapping[str, Any], snapshot: Snapshot, text: str) -> Trial:
    """Ask one query, once and with little patience: fit for a request. Raises BadParameters."""
    engine = make_remote(kind, parameters)
    try:
        with line_to(engine, project, snapshot, Pace(), PATIENCE) as line:
            reply = line.send(engine.request(RemoteQuery("trial", text), TRIED_DEPTH))
        reading = engine.read(reply)
    except RemoteError as error:
        return Trial([], 0, 0, 0.0, "", error.sentence)
    except (NoSecret, BadAddress) as wrong:
        return Trial([], 0, 0, 0.0, "", str(wrong))
    positions = selectors.positions_of(snapshot, {hit.id for hit in reading.hits})
    titles = _titles(snapshot, [positions[hit.id] for hit in reading.hits[:TRIED_DEPTH] if hit.id in positions])
    shown = [
        TrialResult(hit.id, hit.score, titles.get(positions.get(hit.id, -1))) for hit in reading.hits[:TRIED_DEPTH]
    ]
    unknown = sum(hit.id not in positions for hit in reading.hits)
    return Trial(shown, len(reading.hits), unknown, reply.seconds * 1000, reading.incomplete, "")


def _titles(snapshot: Snapshot, positions: Sequence[int]) -> dict[int, str]:
    """By position, the title of a block, or how its text begins."""
    rows = SnapshotBlock.objects.filter(snapshot=snapshot, position__in=positions).select_related("version")
    return {row.position: row.version.title or row.version.text[:80] for row in rows}
