"""What a corpus was before an import changed it, so that the import can be undone."""

from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import F, OuterRef, Q, Subquery
from django.db.models.query import QuerySet

from apps.corpus.models import READING, Block, Corpus, Document, FormerTitle, FormerVersion, Import
from apps.corpus.selectors.corpora import latest_snapshot

AT_ONCE = 5_000


class CorpusState(NamedTuple):
    """The current versions of a corpus by block, the titles of its documents, and how its files were read."""

    versions: dict[int, int | None]
    titles: dict[int, str]
    reading: dict[str, str]


NOTHING = CorpusState({}, {}, dict.fromkeys(READING, ""))


def state_of(corpus: Corpus | None) -> CorpusState:
    """The state of a corpus now; of none, of one that does not exist yet."""
    if corpus is None:
        return NOTHING
    versions = Block.objects.filter(corpus=corpus).values_list("pk", "current_id")
    titles = Document.objects.filter(corpus=corpus).values_list("pk", "title")
    reading = Corpus.objects.values(*READING).get(pk=corpus.pk)
    return CorpusState(dict(versions.iterator(AT_ONCE)), dict(titles.iterator(AT_ONCE)), reading)


def remember(item: Import, corpus: Corpus, before: CorpusState) -> None:
    """Store what an import has changed in a corpus, and after which snapshot. Call in the transaction that applies it,
    with the corpus locked."""
    now = state_of(corpus)
    versions = [
        FormerVersion(imported=item, block_id=block, former_id=before.versions.get(block), current_id=version)
        for block, version in now.versions.items()
        if before.versions.get(block) != version
    ]
    titles = [
        FormerTitle(imported=item, document_id=document, former=before.titles[document], current=title)
        for document, title in now.titles.items()
        if before.titles.get(document, title) != title
    ]
    FormerVersion.objects.bulk_create(versions, batch_size=AT_ONCE)
    FormerTitle.objects.bulk_create(titles, batch_size=AT_ONCE)
    latest = latest_snapshot(corpus)
    item.result = item.result | {"former_reading": before.reading, "snapshots_before": latest.number if latest else 0}


def changed_since(item: Import) -> bool:
    """Whether another import has changed since what this one changed."""
    is_same = Q(block__current=F("current")) | Q(block__current=None, current=None)
    return (
        FormerVersion.objects.filter(imported=item).exclude(is_same).exists()
        or FormerTitle.objects.filter(imported=item).exclude(document__title=F("current")).exists()
    )


def put_back(item: Import, corpus: Corpus, *, at: datetime) -> None:
    """Give a corpus, which the caller has locked, what it was before an import: texts, titles, how files are read.

    When nothing was in it before, it is no longer listed.
    """
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
