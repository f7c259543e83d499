"""Runs of what systems returned for the queries of a log that were kept, and a corpus of it where there is none."""

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.utils.text import slugify

from apps.accounts.models import User
from apps.common.database.bulk import chunks
from apps.common.digests import sha256_hex
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.corpus.actions.corpora import create_corpus, import_blocks
from apps.corpus.enums import ImportMode
from apps.corpus.execution.freezing import snapshot_as_it_is
from apps.corpus.formats.rows import BlockRow
from apps.corpus.models import Corpus, Snapshot, SnapshotBlock
from apps.jobs.execution.context import JobContext, JobFailed
from apps.jobs.selectors.job_kinds import job_kind
from apps.querylogs.enums import OfferState
from apps.querylogs.models import OfferedQuery, QueryLog
from apps.querylogs.selectors.logs import origin_of
from apps.retrieval.execution.intake import import_run, same_rankings
from apps.retrieval.execution.run_reading import draft_of_objects, next_tag
from apps.retrieval.models import Run

MAKE_RUNS = "querylogs.runs"
AS_RETURNED = "as returned"
AT_ONCE = 500


class Told(NamedTuple):
    """What one system returned for one query: passages with a known id, a masked text, or both; best first."""

    query: str
    passages: Sequence[Mapping[str, str]]
    unknown: int
    milliseconds: float | None


def told_by_systems(log: QueryLog) -> dict[str, list[Told]]:
    """What each system returned for the queries that were kept, by its name."""
    kept = OfferedQuery.objects.filter(log=log, state=OfferState.KEPT).exclude(returned={})
    found: dict[str, list[Told]] = {}
    for query, returned in kept.order_by("position").values_list("query__outside_id", "returned"):
        for name, told in returned.items():
            one = Told(query, told["passages"], told["unknown"], told["milliseconds"])
            found.setdefault(name, []).append(one)
    return dict(sorted(found.items()))


@job_kind(MAKE_RUNS, title="Make runs of a search log", page=("querylogs:log", "log_id"))
def make_runs(ctx: JobContext) -> dict[str, Any]:
    """Make the runs of the log `log_id` on the snapshot `snapshot_id`, or on a new one of the passages returned.

    A run that is there already stays as it is.
    """
    log = QueryLog.objects.select_related("project").get(pk=ctx.params["log_id"])
    assert ctx.actor is not None  # a lead asks for it
    with ctx.finish() as result:
        told = told_by_systems(log)
        snapshot_id = ctx.params["snapshot_id"]
        snapshot = Snapshot.objects.get(pk=snapshot_id) if snapshot_id else _as_returned(log, told, ctx.actor, ctx.at)
        made = []
        for name, results in told.items():
            if run := _run(log, name, results, snapshot, ctx.actor, ctx.at):
                made.append({"run": run.pk, "tag": run.tag, "system": name, "queries": run.query_count})
        unknown = sum(one.unknown for results in told.values() for one in results)
        result.update(snapshot_id=snapshot.pk, runs=made, passages_left_out=unknown)
    return ctx.result


def _run(
    log: QueryLog, system: str, results: Sequence[Told], snapshot: Snapshot, actor: User, at: datetime
) -> Run | None:
    """The run of a system: of passages of the snapshot where all of them are, else of its own."""
    ids = {one["id"] for told in results for one in told.passages if "id" in one}
    texts = dict(_texts_of(snapshot, ids))
    if snapshot.corpus.slug == slug_of(log):
        made = {block_id(one["text"]) for told in results for one in told.passages if "text" in one}
        texts |= dict(_texts_of(snapshot, made))
    rows = [row for told in results for row in _rows(told, texts)]
    tag = slugify(system)[:100] or "search"
    form = "results"
    if rows and all("id" in row for row in rows):
        form = "rows"
        rows = [{"query_id": row["qid"], "block_id": row["id"], "score": -row["rank"]} for row in rows]
    draft = draft_of_objects(form, rows, tag=tag, project=log.project, snapshot=snapshot)
    if not draft.rankings:
        return None
    latency = {told.query: told.milliseconds for told in results if told.milliseconds is not None}
    earlier = same_rankings(project=log.project, snapshot=snapshot, draft=draft, system=system).first()
    return (
        earlier
        or import_run(
            project=log.project,
            snapshot=snapshot,
            draft=draft._replace(latency=latency),
            system=system,
            tag=next_tag(log.project_id, tag),
            origin=f"{origin_of(log)}{system}",
            actor=actor,
            at=at,
        ).run
    )


def _rows(told: Told, texts: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """The results as lines of a run: by id where the snapshot has it, with the text where there is one."""
    seen = set[str]()
    for rank, one in enumerate(told.passages, start=1):
        name = next((id_ for id_ in (one.get("id", ""), block_id(one.get("text", ""))) if id_ in texts), "")
        text = texts.get(name) or one.get("text", "")
        if (key := name or text) and key not in seen:
            seen.add(key)
            yield {"qid": told.query, "rank": rank, "text": text} | ({"id": name} if name else {})


def _texts_of(snapshot: Snapshot, ids: Iterable[str]) -> Iterator[tuple[str, str]]:
    for part in chunks(ids, AT_ONCE):
        rows = SnapshotBlock.objects.filter(snapshot=snapshot, block__outside_id__in=part)
        yield from rows.values_list("block__outside_id", "version__text")


def block_id(text: str) -> str:
    """The id of a returned passage in a corpus that is made of them: the same text has the same."""
    return f"P-{sha256_hex(text.encode())[:12]}" if text else ""


def slug_of(log: QueryLog) -> str:
    return f"as-returned-{log.pk}"


def _as_returned(log: QueryLog, told: Mapping[str, Sequence[Told]], actor: User, at: datetime) -> Snapshot:
    """The corpus of the passages that the systems returned for the kept queries, frozen. Later ones are added to it."""
    texts = dict.fromkeys(
        one["text"] for results in told.values() for two in results for one in two.passages if "text" in one
    )
    if not texts:
        raise JobFailed("The systems sent no texts of passages, only ids. Import the documents, then make the runs.")
    corpus = Corpus.objects.filter(project=log.project, slug=slug_of(log)).first() or create_corpus(
        project=log.project, name=f"{log.name[:80]}, {AS_RETURNED}", slug=slug_of(log), actor=actor, at=at
    )
    rows = [
        BlockRow(line, block_id(text), block_id(text), "", text, metadata={"corpus": AS_RETURNED})
        for line, text in enumerate(texts, start=1)
    ]
    source = TableFile(f"{log.name}, {AS_RETURNED}", io.BytesIO())
    import_blocks(
        corpus_id=corpus.pk, rows=rows, source=source, errors=ErrorList(), mode=ImportMode.MERGE, actor=actor, at=at
    )
    return snapshot_as_it_is(corpus_id=corpus.pk, actor=actor, at=at)
