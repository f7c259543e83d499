"""Queries and sources for tests, made by the real actions."""

import io
import itertools

from apps.accounts.models import Project
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile as File
from apps.corpus.core.import_plans import ImportPlan
from apps.queries.actions import queries as queries_actions
from apps.queries.actions import sources as sources_actions
from apps.queries.enums import PermissionScope, SourceKind
from apps.queries.formats import read_queries
from apps.queries.models import Permission, Query, Source
from tests.factories import AT, lead_of, make_project

_numbers = itertools.count(1)


def make_query(project: Project | None = None, *, outside_id: str = "", **fields) -> Query:
    project = project or make_project()
    number = next(_numbers)
    fields.setdefault("text", f"how are keys rotated {number}")
    return queries_actions.create_query(
        project=project, outside_id=outside_id or f"Q{number:03}", actor=lead_of(project), at=AT, **fields
    )


def make_source(project: Project | None = None, **fields) -> Source:
    project = project or make_project()
    fields.setdefault("name", f"Search log {next(_numbers)}")
    fields.setdefault("kind", SourceKind.QUERY_LOG)
    return sources_actions.create_source(project=project, actor=lead_of(project), at=AT, **fields)


def make_permission(source: Source, **fields) -> Permission:
    fields.setdefault("owner", "Data office")
    fields.setdefault("scope", PermissionScope.INTERNAL)
    return sources_actions.grant_permission(source_id=source.pk, actor=lead_of(source.project), at=AT, **fields)


def import_csv(project: Project, text: str, **options) -> ImportPlan:
    """Import queries from CSV text; `default_source` as the action takes it."""
    errors = ErrorList()
    file = File("queries.csv", io.BytesIO(text.encode()))
    return queries_actions.import_queries(
        project=project,
        rows=read_queries(file, errors, format="csv"),
        file=file,
        errors=errors,
        actor=lead_of(project),
        at=AT,
        **options,
    )
