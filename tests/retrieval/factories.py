"""Corpora, queries, systems, runs and pools for tests, made by the real actions."""

import io
import json
from collections.abc import Iterable, Mapping, Sequence

from apps.accounts.models import Project
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.corpus.actions.corpora import freeze_snapshot
from apps.corpus.models import Snapshot
from apps.queries.actions.queries import import_queries
from apps.queries.formats import read_queries
from apps.queries.models import Query
from apps.retrieval.actions.pools import request_pool
from apps.retrieval.actions.runs import request_run
from apps.retrieval.actions.systems import create_system
from apps.retrieval.execution import intake
from apps.retrieval.formats import RunDraft, draft_from_lines, draft_from_objects
from apps.retrieval.models import Pool, Run, System
from apps.retrieval.selectors.snapshots import position_of_blocks
from apps.retrieval.selectors.systems import engines_in
from tests.corpus.factories import import_text, make_corpus
from tests.factories import AT, lead_of
from tests.remote_server import TEXTS
from tests.running_jobs import run_jobs

QUESTIONS = {"Q01": "red key", "Q02": "green window", "Q03": "zebra"}


def make_snapshot(
    project: Project,
    texts: Mapping[str, str] = TEXTS,
    name: str = "Spring",
    documents: Mapping[str, str] | None = None,
    metadata: Mapping[str, Mapping[str, object]] | None = None,
) -> Snapshot:
    """A frozen snapshot of a new corpus, one block a text, no titles; of one document unless `documents` names more.

    `metadata` is that of some blocks.
    """
    corpus = make_corpus(project, {})
    lines = [
        json.dumps(
            {"block_id": block_id, "document_id": (documents or {}).get(block_id, "doc"), "title": "", "text": text}
            | ({"metadata": metadata[block_id]} if metadata and block_id in metadata else {})
        )
        for block_id, text in texts.items()
    ]
    import_text(corpus, "\n".join(lines))
    return freeze_snapshot(corpus_id=corpus.pk, actor=lead_of(project), at=AT, name=name)


def make_queries(project: Project, texts: Mapping[str, str] = QUESTIONS, **fields: str) -> list[Query]:
    errors = ErrorList()
    lines = [json.dumps({"query_id": key, "text": text, **fields}) for key, text in texts.items()]
    file = TableFile("queries.jsonl", io.BytesIO("\n".join(lines).encode()))
    import_queries(
        project=project,
        rows=read_queries(file, errors, format="jsonl"),
        file=file,
        errors=errors,
        actor=lead_of(project),
        at=AT,
    )
    return list(Query.objects.filter(project=project, outside_id__in=texts))


def make_system(project: Project, name: str = "BM25", kind: str = "bm25", **parameters) -> System:
    return create_system(project=project, name=name, kind=kind, parameters=parameters, actor=lead_of(project), at=AT)


def make_run(project: Project, snapshot: Snapshot, system: System | None = None, **options) -> Run:
    """A complete run of all the project's queries, made by its job."""
    run = request_run(
        project=project,
        system_id=(system or make_system(project)).pk,
        snapshot_id=snapshot.pk,
        actor=lead_of(project),
        at=AT,
        **options,
    )
    run_jobs()
    run.refresh_from_db()
    return run


def draft_of(project: Project, snapshot: Snapshot, lines: Iterable[str], name: str = "run.txt") -> RunDraft:
    return draft_from_lines(
        (line.encode() for line in lines),
        name,
        queries=dict(Query.everything.filter(project=project).values_list("outside_id", "pk")),
        blocks=position_of_blocks(snapshot),
    )


def trec(rows: Sequence[tuple[str, str, float]], tag: str = "theirs") -> list[str]:
    """The lines of a run file; ranks count up within each query."""
    ranks: dict[str, int] = {}
    lines = []
    for query, block, score in rows:
        ranks[query] = ranks.get(query, 0) + 1
        lines.append(f"{query} Q0 {block} {ranks[query]} {score} {tag}")
    return lines


def as_rows(*rows: tuple[str, str, object]) -> list[dict[str, object]]:
    """Rows as a push carries them."""
    return [{"query_id": query, "block_id": block, "score": score} for query, block, score in rows]


def import_lines(project: Project, snapshot: Snapshot, lines: Iterable[str], **options) -> intake.ImportedRun:
    draft = draft_of(project, snapshot, lines)
    return intake.import_run(project=project, snapshot=snapshot, draft=draft, actor=lead_of(project), at=AT, **options)


def import_results(project: Project, snapshot: Snapshot, *rows: dict, **options) -> intake.ImportedRun:
    """A complete run of a system that returned these passages of its own."""
    queries = dict(Query.everything.filter(project=project).values_list("outside_id", "pk"))
    draft = draft_from_objects(rows, "chunks", "results", queries=queries)
    return intake.import_run(project=project, snapshot=snapshot, draft=draft, actor=lead_of(project), at=AT, **options)


def make_pool(project: Project, snapshot: Snapshot, *, name: str = "First pool", depth: int = 2, **sources) -> Pool:
    """A complete pool, made by its job; drawn from a BM25 system unless `system_ids` or `run_ids` are given."""
    if not sources:
        systems = engines_in(project)
        sources = {"system_ids": [systems[0].pk if systems else make_system(project).pk]}
    pool = request_pool(
        project=project,
        name=name,
        snapshot_id=snapshot.pk,
        depth=depth,
        actor=lead_of(project),
        at=AT,
        **sources,
    )
    run_jobs()
    pool.refresh_from_db()
    return pool


def as_upload(lines: Iterable[str], name: str = "run.txt") -> io.BytesIO:
    file = io.BytesIO("\n".join(lines).encode() + b"\n")
    file.name = name
    return file
