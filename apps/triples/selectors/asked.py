"""The queries by which systems are asked the questions of Q&As."""

from collections.abc import Iterable
from typing import NamedTuple

from apps.accounts.models import Project
from apps.queries.models import Query
from apps.triples.models import AskedRevision, label_of


class AskedQuery(NamedTuple):
    """The query that asks the question of a revision."""

    query_id: int
    outside_id: str
    text: str


def asked_queries(revision_ids: Iterable[int]) -> dict[int, AskedQuery]:
    """The asked query of each revision; a revision that was never accepted has none."""
    rows = AskedRevision.objects.filter(revision__in=[*revision_ids])
    columns = rows.values_list("revision", "query", "query__outside_id", "query__text")
    return {revision: AskedQuery(query, name, text) for revision, query, name, text in columns}


def asked_by_label(project: Project) -> dict[str, str]:
    """The outside id of the query that asks each triple, as it was accepted last, by the triple's label."""
    rows = AskedRevision.objects.filter(revision__triple__project=project).order_by("pk")
    found = rows.values_list("revision__triple__number", "query__outside_id")
    return {label_of(number): outside_id for number, outside_id in found.iterator()}


def asked_with(project: Project, text: str) -> Query | None:
    """The query that asks a triple's question in exactly these words, the newest of several."""
    return Query.everything.filter(project=project, is_asked=True, text=text).order_by("-pk").first()
