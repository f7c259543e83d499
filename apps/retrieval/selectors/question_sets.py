"""Queries by filter or by a set of questions; sets and other names of queries are offered by apps above this one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet
from django.http import Http404

from apps.accounts.models import Project
from apps.common.database.bulk import chunks
from apps.common.discovery import Registered
from apps.queries.core.naming import VARIANT_SEED
from apps.queries.core.strata import TYPED
from apps.queries.models import Query

IDS_AT_ONCE = 5_000
"""In one statement, which has a maximum number of parameters."""


def found_in(rows: QuerySet[Any]) -> Any:
    """The first row; Http404 when there is none, whether it is missing or belongs to another project."""
    row = rows.first()
    if row is None:
        raise Http404("Not found in this project.")
    return row


class QuestionSet(NamedTuple):
    """A set of questions: how files and the API write it, its name on pages, and the condition for its queries."""

    key: str
    name: str
    condition: Q


class QuestionSets(NamedTuple):
    """What an app offers: every set of a project, newest first, and one by its key, or None."""

    offered: Callable[[Project], list[QuestionSet]]
    named: Callable[[Project, str], QuestionSet | None]


Names = Callable[[Project], dict[str, str]]
"""Names under which files may call queries of the project, each with the outside id of its query."""

offered_sets: Registered[QuestionSets] = Registered()
names_of_queries: Registered[Names] = Registered()


def question_sets(project: Project) -> list[QuestionSet]:
    return [one for sets in offered_sets for one in sets.offered(project)]


def question_set(project: Project, key: str) -> QuestionSet:
    """The set with this key. Raises Http404."""
    for sets in offered_sets:
        if (found := sets.named(project, key)) is not None:
            return found
    raise Http404("No such questions.")


def other_names(project: Project) -> dict[str, str]:
    return {name: outside_id for names in names_of_queries for name, outside_id in names(project).items()}


FILTERED = ("difficulty", *TYPED)


@dataclass(frozen=True)
class QueryChoice:
    """A filter of a project's queries, where an empty field does not filter; or a set of questions by its key."""

    source_id: int | None = None
    domain: str = ""
    difficulty: str = ""
    query_type: str = ""
    expertise: str = ""
    answer_format: str = ""
    questions: str = ""

    @property
    def is_filtered(self) -> bool:
        return self.source_id is not None or any(getattr(self, name) for name in FILTERED)


ALL_QUERIES = QueryChoice()


def queries_in(project: Project, choice: QueryChoice = ALL_QUERIES) -> QuerySet[Query]:
    """The chosen queries that are not retired, by outside id; of a set of questions all. Raises Http404 for no set."""
    if choice.questions:
        asked = Query.everything.filter(question_set(project, choice.questions).condition, project=project)
        return asked.order_by("outside_id")
    queries = Query.objects.filter(project=project, retired_at=None).order_by("outside_id")
    if choice.source_id is not None:
        queries = queries.filter(source_id=choice.source_id)
    for field in FILTERED:
        if value := getattr(choice, field):
            queries = queries.filter(**{field: value})
    return queries


def judged_in(project: Project, choice: QueryChoice = ALL_QUERIES) -> QuerySet[Query]:
    """Those of the chosen queries that people judge: not the variants made here, which have their originals' grades."""
    return queries_in(project, choice).exclude(metadata__has_key=VARIANT_SEED)


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
    for part in chunks(query_ids, IDS_AT_ONCE):
        texts.update(Query.everything.filter(pk__in=part).values_list("pk", "text"))
    return [texts[pk] for pk in query_ids]


def ids_and_texts(query_ids: Sequence[int]) -> list[tuple[str, str]]:
    """The outside id and text of each query, in the order of the ids."""
    rows: dict[int, tuple[str, str]] = {}
    for part in chunks(query_ids, IDS_AT_ONCE):
        columns = Query.everything.filter(pk__in=part).values_list("pk", "outside_id", "text")
        rows.update((pk, (outside_id, text)) for pk, outside_id, text in columns)
    return [rows[pk] for pk in query_ids]
