"""The queries by which systems are asked the questions of Q&As."""

from collections.abc import Iterable
from typing import NamedTuple

from apps.common.database.bulk import chunks
from apps.triples.models import AskedRevision


class AskedQuery(NamedTuple):
    """The query that asks the question of a revision."""

    query_id: int
    outside_id: str
    text: str


def asked_queries(revision_ids: Iterable[int]) -> dict[int, AskedQuery]:
    """The asked query of each revision; a revision that was never accepted has none."""
    found: dict[int, AskedQuery] = {}
    for part in chunks(revision_ids, 500):
        rows = AskedRevision.objects.filter(revision__in=part)
        columns = rows.values_list("revision", "query", "query__outside_id", "query__text")
        found.update((revision, AskedQuery(query, name, text)) for revision, query, name, text in columns)
    return found
