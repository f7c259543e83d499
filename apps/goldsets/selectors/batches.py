"""The queries of a version in parts, so that what belongs to them is read by keys and sorted in memory.

A database that sorts a million wide rows itself holds them all, in memory or on its disk.
"""

from collections.abc import Iterator

from django.db.models import Count, QuerySet

from apps.goldsets.models import VersionQuery
from apps.goldsets.selectors.bytewise import bytewise

GRADES_AT_ONCE = 5_000


def query_batches(rows: QuerySet[VersionQuery]) -> Iterator[list[VersionQuery]]:
    """In the bytewise order of ids, as many at once as have some thousand grades together."""
    batch: list[VersionQuery] = []
    held = 0
    for query in rows.annotate(n=Count("grades")).order_by(bytewise("outside_id")).iterator(chunk_size=2_000):
        batch.append(query)
        held += 1 + query.n
        if held >= GRADES_AT_ONCE:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch
