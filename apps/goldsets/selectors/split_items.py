"""What ties the items of a version to each other, and how old they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from apps.common.database.bulk import chunks
from apps.corpus.models import Snapshot, SnapshotBlock
from apps.goldsets.core.item_times import ItemTime, query_time, triple_time
from apps.goldsets.core.splits import VARIANT_OF, near_documents
from apps.goldsets.enums import GroupBy
from apps.goldsets.selectors.training import query_name, triple_name
from apps.queries.models import Query
from apps.triples.models import Triple

AT_ONCE = 5_000


def times_of(queries: Iterable[Query], triples: Iterable[Triple]) -> dict[str, ItemTime]:
    """The time of each item. A triple that came from a query is as old as that."""
    times = {query_name(q.outside_id): query_time(q.metadata, q.created_at) for q in queries}
    for triple in triples:
        query, entry = triple.query, getattr(triple, "imported", None)
        if query:
            time = query_time(query.metadata, query.created_at)
        else:
            time = triple_time(entry.claims if entry else {}, triple.created_at)
        times[triple_name(triple.label)] = time
    return times


def document_keys(snapshot: Snapshot, blocks: Iterable[int]) -> dict[int, list[tuple[str, str]]]:
    """For each of the blocks in the snapshot its document, and a key for each other document with nearly its text.

    Only the documents of these blocks are compared.
    """
    documents: dict[int, tuple[int, str]] = {}
    for some in chunks(sorted(set(blocks)), AT_ONCE):
        rows = SnapshotBlock.objects.filter(snapshot=snapshot, block__in=some)
        named = rows.values_list("block_id", "block__document_id", "block__document__outside_id")
        documents |= {block: (document, name) for block, document, name in named}
    texts: defaultdict[str, list[str]] = defaultdict(list)
    for some in chunks(sorted({document for document, _ in documents.values()}), AT_ONCE):
        rows = SnapshotBlock.objects.filter(snapshot=snapshot, block__document__in=some)
        for name, text in rows.order_by("position").values_list("block__document__outside_id", "version__text"):
            texts[name].append(text)
    near = near_documents({name: "\n".join(parts) for name, parts in texts.items()})
    return {
        block: [("document", name), *(("near_document", pair) for pair in near.get(name, ()))]
        for block, (_, name) in documents.items()
    }


def query_keys(query: Query, group_by: set[str]) -> Iterable[tuple[str, str]]:
    """The keys that tie a query to others: a variant is always tied to its original, whatever the grouping."""
    yield "query", query.outside_id
    if original := query.metadata.get(VARIANT_OF):
        yield "query", str(original)
    if GroupBy.GROUP in group_by:
        yield "group", query.group_key
    if GroupBy.SOURCE in group_by and query.source:
        yield "source", query.source.slug


def triple_keys(triple: Triple, group_by: set[str]) -> Iterable[tuple[str, str]]:
    if triple.query:
        yield from query_keys(triple.query, group_by)
    if GroupBy.SOURCE in group_by and triple.source:
        yield "source", triple.source.slug
