"""The queries of a project that are chosen for a run or a pool, and their texts."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from apps.accounts.models import Project
from apps.queries.models import Query
from apps.retrieval.selectors.finding import in_parts
from apps.retrieval.selectors.question_sets import question_set


@dataclass(frozen=True)
class QueryChoice:
    """A filter of a project's queries, where an empty field does not filter; or a set of questions by its key."""

    source_id: int | None = None
    domain: str = ""
    difficulty: str = ""
    query_type: str = ""
    questions: str = ""

    @property
    def is_filtered(self) -> bool:
        return self.source_id is not None or bool(self.domain or self.difficulty or self.query_type)


ALL_QUERIES = QueryChoice()


def queries_in(project: Project, choice: QueryChoice = ALL_QUERIES) -> QuerySet[Query]:
    """The chosen queries that are not retired, by outside id; of a set of questions all. Raises Http404 for no set."""
    if choice.questions:
        asked = Query.everything.filter(question_set(project, choice.questions).condition, project=project)
        return asked.order_by("outside_id")
    queries = Query.objects.filter(project=project, retired_at=None).order_by("outside_id")
    if choice.source_id is not None:
        queries = queries.filter(source_id=choice.source_id)
    for field in ("domain", "difficulty", "query_type"):
        if value := getattr(choice, field):
            queries = queries.filter(**{field: value})
    return queries


def asked_in(project: Project) -> QuerySet[Query]:
    """What systems can be asked: the queries that are not retired, and the questions of Q&As."""
    return Query.everything.filter(project=project, retired_at=None)


def query_strata(project: Project, field: str) -> list[str]:
    """The values of a stratum field among the queries that are not retired, sorted."""
    values = Query.objects.filter(project=project, retired_at=None).exclude(**{field: ""})
    return sorted(set(values.values_list(field, flat=True)))


def query_texts(query_ids: Sequence[int]) -> list[str]:
    """The texts of the queries, in the order of the ids."""
    texts: dict[int, str] = {}
    for part in in_parts(query_ids):
        texts.update(Query.everything.filter(pk__in=part).values_list("pk", "text"))
    return [texts[pk] for pk in query_ids]


def ids_and_texts(query_ids: Sequence[int]) -> list[tuple[str, str]]:
    """The outside id and text of each query, in the order of the ids."""
    rows: dict[int, tuple[str, str]] = {}
    for part in in_parts(query_ids):
        columns = Query.everything.filter(pk__in=part).values_list("pk", "outside_id", "text")
        rows.update((pk, (outside_id, text)) for pk, outside_id, text in columns)
    return [rows[pk] for pk in query_ids]
