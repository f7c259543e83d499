"""Jobs for files too large to read or apply, and corpora too large to freeze, in a request; and undoing an import."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Exists, F, Max, OuterRef, Q, Subquery
from django.db.models.query import QuerySet

from apps.common.database.bulk import chunks, insert_rows
from apps.common.database.scratch import Scratch
from apps.common.errors import InputErrors
from apps.common.files.store import FileGone
from apps.corpus.enums import FREEZE, ImportState
from apps.corpus.execution import import_reading
from apps.corpus.execution.freezing import freeze_snapshot
from apps.corpus.execution.import_reading import prepared, preview
from apps.corpus.execution.search_index import index_part, parts_of
from apps.corpus.models import READING, Block, BlockVersion, Corpus, Document, FormerTitle, FormerVersion, Import
from apps.corpus.selectors.corpora import latest_snapshot
from apps.corpus.selectors.import_kinds import kind_named
from apps.corpus.selectors.snapshots import current_blocks
from apps.jobs.actions.uploads import discard_upload
from apps.jobs.enums import JobState, UploadState
from apps.jobs.execution.context import JobContext
from apps.jobs.models import Job
from apps.jobs.selectors.job_kinds import job_kind

AT_ONCE = 5_000
TABLES = """
CREATE TABLE version (block INTEGER PRIMARY KEY, current INTEGER);
CREATE TABLE title (document INTEGER PRIMARY KEY, title TEXT);
"""


class CorpusState(NamedTuple):
    """The current versions of a corpus by block and its documents' titles, on disk, and how its files were read.

    `last_block` is the highest key of its blocks, 0 for none.
    """

    rows: Scratch
    last_block: int
    reading: dict[str, str]


def state_of(corpus: Corpus | None) -> CorpusState:
    """The state of a corpus now; of none, of one that does not exist yet."""
    state = CorpusState(Scratch(TABLES), _last_block(corpus), _reading(corpus))
    if corpus is not None:
        state.rows.write("INSERT INTO version VALUES (?, ?)", _versions(corpus, state.last_block))
        state.rows.write("INSERT INTO title VALUES (?, ?)", _titles(corpus))
    return state


def remember(item: Import, corpus: Corpus, before: CorpusState) -> None:
    """Store what an import has changed in a corpus, and after which snapshot. Call in the transaction that applies it,
    with the corpus locked.

    The blocks that it has added need no rows: their keys follow the last one before, and nobody else adds any.
    """
    versions = _changes(before.rows.read("SELECT * FROM version ORDER BY block"), _versions(corpus, before.last_block))
    for part in chunks(versions, AT_ONCE):
        rows = [(item.pk, block, former, current) for block, former, current in part]
        insert_rows(FormerVersion, ["imported_id", "block_id", "former_id", "current_id"], rows)
    titles = _changes(before.rows.read("SELECT * FROM title ORDER BY document"), _titles(corpus))
    for part in chunks(titles, AT_ONCE):
        rows = [(item.pk, document, former, title) for document, former, title in part if former is not None]
        insert_rows(FormerTitle, ["imported_id", "document_id", "former", "current"], rows)
    latest = latest_snapshot(corpus)
    item.result = item.result | {
        "former_reading": before.reading,
        "snapshots_before": latest.number if latest else 0,
        "blocks_added": [before.last_block, _last_block(corpus)],
    }


def _reading(corpus: Corpus | None) -> dict[str, str]:
    return dict.fromkeys(READING, "") if corpus is None else Corpus.objects.values(*READING).get(pk=corpus.pk)


def _last_block(corpus: Corpus | None) -> int:
    return Block.objects.filter(corpus=corpus).aggregate(last=Max("pk"))["last"] or 0 if corpus else 0


def _versions(corpus: Corpus, last: int) -> Iterator[tuple[int, int | None]]:
    rows = Block.objects.filter(corpus=corpus, pk__lte=last).order_by("pk").values_list("pk", "current_id")
    return rows.iterator(AT_ONCE)


def _titles(corpus: Corpus) -> Iterator[tuple[int, str]]:
    rows = Document.objects.filter(corpus=corpus).order_by("pk").values_list("pk", "title")
    return rows.iterator(AT_ONCE)


def _added(item: Import, corpus: Corpus | None) -> QuerySet[Block]:
    """The blocks that an import has added to a corpus. Imports of before this was noted have rows for them."""
    after, last = item.result.get("blocks_added", (0, 0))
    return Block.objects.filter(corpus=corpus, pk__gt=after, pk__lte=last)


def _changes(before: Iterator[tuple[int, Any]], now: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, Any, Any]]:
    """Key, former value and value of what differs; the former value of what is new is None.

    Both are sorted by key, and nothing that was before is gone.
    """
    earlier = next(before, None)
    for key, value in now:
        former = None
        if earlier is not None and earlier[0] == key:
            former, earlier = earlier[1], next(before, None)
        if former != value:
            yield key, former, value


def changed_since(item: Import, corpus: Corpus | None) -> bool:
    """Whether another import has changed since what this one changed in a corpus."""
    is_same = Q(block__current=F("current")) | Q(block__current=None, current=None)
    earlier = BlockVersion.objects.filter(block=OuterRef("pk"), pk__lt=OuterRef("current"))
    return (
        _added(item, corpus).filter(Q(current=None) | Exists(earlier)).exists()
        or FormerVersion.objects.filter(imported=item).exclude(is_same).exists()
        or FormerTitle.objects.filter(imported=item).exclude(document__title=F("current")).exists()
    )


def put_back(item: Import, corpus: Corpus, *, at: datetime) -> None:
    """Give a corpus, which the caller has locked, what it was before an import: texts, titles, how files are read.

    When nothing was in it before, it is no longer listed.
    """
    _added(item, corpus).update(current=None)
    former = _of(FormerVersion.objects.all(), item, "block")
    blocks = Block.objects.filter(pk__in=FormerVersion.objects.filter(imported=item).values("block"))
    blocks.update(current=Subquery(former.values("former")[:1]))
    titles = _of(FormerTitle.objects.all(), item, "document")
    documents = Document.objects.filter(pk__in=FormerTitle.objects.filter(imported=item).values("document"))
    documents.update(title=Subquery(titles.values("former")[:1]))
    for name, value in item.result.get("former_reading", {}).items():
        setattr(corpus, name, value)
    if not (corpus.blocks.filter(current__isnull=False).exists() or corpus.snapshots.exists()):
        corpus.emptied_at = at
    corpus.save(update_fields=[*READING, "emptied_at"])


def _of(rows: QuerySet[Any], item: Import, name: str) -> QuerySet[Any]:
    return rows.filter(imported=item, **{name: OuterRef("pk")})


READ = "corpus.read_import"
APPLY = "corpus.apply_import"


def follow_import(job: Job, at: datetime) -> None:
    """Update the import when its job fails, is cancelled or is retried."""
    waiting = ImportState.READING if job.kind == READ else ImportState.APPLYING
    imports = Import.objects.filter(pk=job.params["import_id"])
    if job.state in {JobState.FAILED, JobState.CANCELLED}:
        reason = job.error or "The job was cancelled."
        imports.filter(state=waiting).update(state=ImportState.FAILED, failure=reason)
        for item in imports.select_related("upload"):
            if not kind_named(item.kind).keeps_file and item.upload.state == UploadState.STORED:
                discard_upload(upload_id=item.upload_id, actor=None, at=at)
    elif job.state in {JobState.QUEUED, JobState.RUNNING}:
        imports.filter(state=ImportState.FAILED).update(state=waiting, failure="")


@job_kind(READ, title="Read a file", follower=follow_import, page=("corpus:import", "import_id"))
def read_import(ctx: JobContext) -> dict[str, Any] | None:
    item = _import(ctx)
    plan = preview(item, progress=lambda done: ctx.progress(done, text=f"{done:,} rows read"))
    with ctx.finish() as result:
        import_reading.keep_plan(import_id=item.pk, plan=plan, options=item.options)
        result.update(rows=plan["rows"], errors=plan["errors_total"])
    return None


@job_kind(APPLY, title="Import a file", follower=follow_import, page=("corpus:import", "import_id"))
def apply_import(ctx: JobContext) -> dict[str, Any] | None:
    item = _import(ctx)
    assert ctx.actor is not None  # a person confirmed it
    at = ctx.at
    try:
        with prepared(item, actor=ctx.actor, at=at) as made, ctx.finish() as result:
            applied = import_reading.apply_import(import_id=item.pk, actor=ctx.actor, at=at, prepared=made)
            result.update(applied.result["counts"])
    except InputErrors as errors:
        with ctx.finish() as result:
            import_reading.note_faults(import_id=item.pk, errors=errors)
            result.update(errors=len(errors.errors))
    return None


@job_kind(FREEZE, title="Freeze a snapshot")
def freeze_corpus(ctx: JobContext) -> dict[str, Any] | None:
    """Index the texts of the corpus `corpus_id` for search, part by part, then freeze it in one short commit.

    Search shows only texts of snapshots, so a job that ends in between has no visible effect.
    """
    corpus = Corpus.objects.get(pk=ctx.params["corpus_id"])
    assert ctx.actor is not None  # requested by a person, or by a person's token
    total, done = current_blocks(corpus).count(), 0
    for part in parts_of(corpus):
        with ctx.chunk(f"words:{part.first}") as fresh:
            if fresh:
                index_part(part)
        done += part.blocks
        ctx.progress(done, total, "passages indexed for search")
    with ctx.finish() as result:
        snapshot = freeze_snapshot(
            corpus_id=corpus.pk, actor=ctx.actor, at=ctx.at, name=ctx.params["name"], job_id=ctx.job_id
        )
        result.update(snapshot_id=snapshot.pk, blocks=snapshot.block_count)
    return None


def _import(ctx: JobContext) -> Import:
    item = Import.objects.select_related("upload", "project").get(pk=ctx.params["import_id"])
    if item.upload.state == UploadState.DISCARDED:
        raise FileGone(f"{item.title} was deleted when its job ended. Upload it again.", code="file_deleted")
    return item
