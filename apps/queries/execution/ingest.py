"""Compares a file's queries with a project's, imports them in chunks, and undoes that."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from django.db.models import QuerySet, Subquery
from django.utils.text import slugify

from apps.accounts.models import Project, User
from apps.audit.models import Event
from apps.common.database.bulk import chunks
from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile as File
from apps.corpus.core.import_plans import ImportPlan, until_broken
from apps.corpus.execution.import_reading import ImportRefused
from apps.corpus.models import Import
from apps.queries import rules
from apps.queries.core.checks import Remark
from apps.queries.core.naming import stored_facets
from apps.queries.core.strata import CONTEXT
from apps.queries.enums import CheckEffect
from apps.queries.formats.records import QueryRow
from apps.queries.models import LONGEST_SLUG, Query, Source
from apps.queries.selectors import WRITTEN, QueryGate, blocked, open_remarks


def added_by(item: Import) -> QuerySet[Query]:
    """The queries that an applied import has added; it gave them its own time and person."""
    assert item.applied_at is not None
    return Query.objects.filter(project=item.project, created_by=item.applied_by, created_at=item.applied_at)


def undo_refusal(item: Import) -> str | None:
    """Why what an applied import has added cannot be removed."""
    assert item.applied_at is not None
    added = added_by(item)
    ids = {str(pk) for pk in added.values_list("pk", flat=True)}
    # By number and not by time: the clocks of two servers differ, and an edit would be lost.
    applied = Event.objects.filter(
        project=item.project, action="import.applied", object_type="corpus.import", object_id=item.pk
    )
    later = Event.objects.filter(
        project=item.project, object_type="queries.query", pk__gt=Subquery(applied.values("pk")[:1])
    )
    return rules.undo_refusal(
        changed=item.result.get("counts", {}).get("changed", 0),
        used=added.filter(locked_at__isnull=False).count(),
        asked=added.filter(triples__isnull=False).distinct().count(),
        edited=len(ids & set(later.values_list("object_id", flat=True))),
    )


def remove_added(item: Import) -> None:
    """Remove what an import has added, in the caller's transaction. Raises ImportRefused.

    Who used one meanwhile is seen only with the locks: of the project for Q&As and imports, of the query for the rest.
    """
    Project.objects.select_for_update(no_key=True).get(pk=item.project_id)
    list(added_by(item).select_for_update().order_by("pk").values_list("pk"))
    ImportRefused.raise_for(undo_refusal(item), code="import_not_undone")
    added_by(item).delete()


def lock_facets(query_ids: Iterable[int], *, at: datetime) -> None:
    """Fix the subtopics of those of these queries that have some, in the caller's transaction, with their grades."""
    for part in chunks(query_ids, CHUNK):
        Query.objects.filter(pk__in=part, facets_locked_at=None).exclude(facets=[]).update(facets_locked_at=at)


CHUNK = 500
WORDS = ["new", "changed", "unchanged"]
EDITABLE = (
    "text",
    "label",
    "intent",
    "description",
    "source",
    "difficulty",
    "domain",
    "query_type",
    "group_key",
    *CONTEXT,
    "tags",
    "metadata",
    "facets",
)
FIELDS = tuple("source_id" if name == "source" else name for name in EDITABLE)
WRITES = (*FIELDS, "remarks")
Progress = Callable[[int], None]


class QueryChange(NamedTuple):
    """One row and the query with its id, if there is one; `values` are the new values of the fields."""

    word: str
    row: QueryRow
    query: Query | None
    values: dict


MakeSource = Callable[[str], int]


class QueryComparison:
    """The rows of one file against one project. `default_source` is for new queries that name none.

    `make_source` gives the key of a new source for a name that none has; without it such a row is a mistake.
    """

    def __init__(
        self,
        *,
        project: Project,
        file: File,
        errors: ErrorList,
        default_source: Source | None,
        make_source: MakeSource | None = None,
    ) -> None:
        self.project = project
        self.file = file
        self.errors = errors
        self.default_source = default_source
        self.sources = dict(Source.objects.filter(project=project).values_list("slug", "pk"))
        self.make_source = make_source
        self.gate = QueryGate(project, is_import=True)

    def changes(self, rows: Iterable[QueryRow]) -> Iterator[list[QueryChange]]:
        for chunk in chunks(until_broken(rows, self.errors), CHUNK):
            ids = [row.query_id for row in chunk]
            stored = Query.everything.filter(project=self.project, outside_id__in=ids)
            known = {query.outside_id: query for query in stored}
            self.gate.expect(row.text for row in chunk if row.query_id not in known)
            compared = []
            for row in chunk:
                try:
                    compared.append(self._compare(row, known.get(row.query_id)))
                except InputError as error:
                    self.errors.add(error)
            yield compared

    def _compare(self, row: QueryRow, query: Query | None) -> QueryChange:
        values = self._values(row)
        if query is None:
            default = self.default_source.pk if self.default_source else None
            return QueryChange("new", row, None, {"source_id": default} | values | self._remarked(row, None, values))
        if query.is_asked:
            raise self.file.error(row.line, "query_id", row.query_id, rules.taken_refusal(query))
        changed = {name: value for name, value in values.items() if value != getattr(query, name)}
        if not changed:
            return QueryChange("unchanged", row, query, {})
        if reason := rules.edit_refusal(query, changed):
            raise self.file.error(row.line, "query_id", row.query_id, reason)
        return QueryChange("changed", row, query, changed | self._remarked(row, query, changed))

    def _remarked(self, row: QueryRow, query: Query | None, values: dict) -> dict:
        """The remarks on what is new of a query; what the project keeps out is an error, what it warns of a warning."""
        written = {name: values[name] for name in WRITTEN if values.get(name)}
        remarks = self.gate.remarks(row.query_id, written, row.metadata or (query.metadata if query else {}))
        if remark := blocked(remarks):
            raise self._fault(row, remark, rules.blocked_reason(remark))
        for remark in remarks:
            if remark.effect == CheckEffect.WARN:
                self.errors.warn(self._fault(row, remark, remark.sentence))
        return {"remarks": open_remarks(query, values, remarks)} if written else {}

    def _fault(self, row: QueryRow, remark: Remark, sentence: str) -> InputError:
        return self.file.error(row.line, remark.field, remark.value, f"{sentence[0].lower()}{sentence[1:].rstrip('.')}")

    def _values(self, row: QueryRow) -> dict:
        """The row's values by field of the model, without the fields that the file does not contain."""
        values = row._asdict() | {"tags": None if row.tags is None else list(row.tags)}
        values["facets"] = None if row.facets is None else stored_facets(row.facets)
        if row.source:
            values["source_id"] = self._source(row.line, row.source)
        return {name: values[name] for name in FIELDS if values.get(name) is not None}

    def _source(self, line: int, name: str) -> int:
        if name not in self.sources:
            slug = slugify(name)[:LONGEST_SLUG]
            if self.make_source is None or not slug:
                known = ", ".join(sorted(self.sources)) or "none yet"
                raise self.file.error(line, "source", name, f"no source has this name; there are: {known}")
            if slug not in self.sources:
                self.sources[slug] = self.make_source(name)
            self.sources[name] = self.sources[slug]
        return self.sources[name]


def plan_queries(
    comparison: QueryComparison,
    rows: Iterable[QueryRow],
    progress: Progress = lambda done: None,
    write: Callable[[list[QueryChange]], None] = lambda changes: None,
) -> ImportPlan:
    """The plan of importing these rows. `write` gets the changes, some at a time, as long as there is no mistake."""
    plan = ImportPlan(WORDS)
    for chunk in comparison.changes(rows):
        for change in chunk:
            plan.add(change.word, change.row.query_id, change.row.label or "", change.row.text)
        if not comparison.errors:
            write(chunk)
        progress(plan.rows)
    plan.take_errors(comparison.errors)
    plan.notes += filter(None, [comparison.gate.note])
    return plan


def take_queries(comparison: QueryComparison, rows: Iterable[QueryRow], *, actor: User, at: datetime) -> ImportPlan:
    """Write the rows, in the caller's transaction. Mistakes are only counted: the caller rolls back."""
    own = {"project": comparison.project, "created_by": actor, "created_at": at}

    def write(changes: list[QueryChange]) -> None:
        new = [change for change in changes if change.word == "new"]
        Query.objects.bulk_create(Query(outside_id=change.row.query_id, **own, **change.values) for change in new)
        altered = []
        for change in changes:
            if change.word == "changed" and change.query is not None:
                for name, value in change.values.items():
                    setattr(change.query, name, value)
                altered.append(change.query)
        Query.objects.bulk_update(altered, WRITES, batch_size=100)

    return plan_queries(comparison, rows, write=write)
