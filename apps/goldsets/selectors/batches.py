"""The queries of a version in parts, so that what belongs to them is read by keys and sorted in memory.

A database that sorts a million wide rows itself holds them all, in memory or on its disk.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from django.db.models import OuterRef

from apps.common.database.questions import CountOf
from apps.goldsets.formats.content import FrozenQuery
from apps.goldsets.models import Version, VersionGrade, VersionQuery
from apps.goldsets.selectors.bytewise import bytewise

CHUNK = 2_000
GRADES_AT_ONCE = 5_000


class HeldQuery(NamedTuple):
    """A query of a version: its key there and in the project, that of its source, how many grades it has, itself."""

    pk: int
    query: int
    source: int | None
    grades: int
    frozen: FrozenQuery


def queries_held(version: Version) -> Iterator[HeldQuery]:
    """In the bytewise order of ids."""
    grades = VersionGrade.objects.filter(query=OuterRef("pk")).values("pk")
    rows = VersionQuery.objects.filter(version=version).annotate(n=CountOf(grades)).order_by(bytewise("outside_id"))
    columns = ("pk", "query_id", "query__source", "n", "outside_id", "text", "split", "fields")
    for pk, query, source, n, outside_id, text, split, fields in rows.values_list(*columns).iterator(chunk_size=CHUNK):
        values = {**fields, "tags": tuple(fields.get("tags", ()))}
        yield HeldQuery(pk, query, source, n, FrozenQuery(query_id=outside_id, text=text, split=split, **values))


def query_batches(queries: Iterable[HeldQuery]) -> Iterator[list[HeldQuery]]:
    """As many at once as have some thousand grades together."""
    batch: list[HeldQuery] = []
    held = 0
    for query in queries:
        batch.append(query)
        held += 1 + query.grades
        if held >= GRADES_AT_ONCE:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch
