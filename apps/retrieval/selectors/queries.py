"""The queries of a project as they are chosen for a run or a pool, and their words."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from apps.accounts.models import Project
from apps.queries.models import Query
from apps.retrieval.selectors.finding import in_parts


@dataclass(frozen=True)
class QueryChoice:
    """Which of a project's queries are meant; what is empty does not narrow the choice."""

    source_id: int | None = None
    domain: str = ""
    difficulty: str = ""
    query_type: str = ""


ALL_QUERIES = QueryChoice()


def queries_in(project: Project, choice: QueryChoice = ALL_QUERIES) -> QuerySet[Query]:
    """The chosen queries that are not retired, by outside id."""
    queries = Query.objects.filter(project=project, retired_at=None).order_by("outside_id")
    if choice.source_id is not None:
        queries = queries.filter(source_id=choice.source_id)
    for field in ("domain", "difficulty", "query_type"):
        if value := getattr(choice, field):
            queries = queries.filter(**{field: value})
    return queries


def query_strata(project: Project, field: str) -> list[str]:
    """The values of a stratum field that live queries have, in order."""
    values = Query.objects.filter(project=project, retired_at=None).exclude(**{field: ""})
    return sorted(set(values.values_list(field, flat=True)))


def query_texts(query_ids: Sequence[int]) -> list[str]:
    """The words of the queries, in the order of the ids."""
    texts: dict[int, str] = {}
    for part in in_parts(query_ids):
        texts.update(Query.objects.filter(pk__in=part).values_list("pk", "text"))
    return [texts[pk] for pk in query_ids]


def queries_as_asked(query_ids: Sequence[int]) -> list[tuple[str, str]]:
    """Outside id and words of the queries, in the order of the ids."""
    rows: dict[int, tuple[str, str]] = {}
    for part in in_parts(query_ids):
        found = Query.objects.filter(pk__in=part).values_list("pk", "outside_id", "text")
        rows.update((pk, (outside_id, text)) for pk, outside_id, text in found)
    return [rows[pk] for pk in query_ids]
