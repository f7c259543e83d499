"""The form and the import kind of search logs."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import PurePath
from typing import Any

from django import forms
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import Project, User
from apps.common.errors import InputErrors
from apps.common.web.forms import offer
from apps.corpus.core.import_plans import ImportPlan
from apps.corpus.core.table_plans import show_table
from apps.corpus.forms import TableImportForm, name_after
from apps.corpus.models import Import
from apps.corpus.selectors.import_kinds import FileToImport, FormatExample, ImportKind, Progress, register
from apps.queries.core.masking import mask
from apps.querylogs import actions, rules
from apps.querylogs.enums import LEAST_PEOPLE, USUAL_OFFERED, USUAL_PEOPLE, Plan
from apps.querylogs.execution.drawing import KIND, Drawn, draw_log, preview_log
from apps.querylogs.forms import grades_back_field, source_choices
from apps.querylogs.models import QueryLog
from apps.querylogs.selectors.logs import is_permitted, mapping_context


def name_of_log(filename: str) -> str:
    """The name of a log that nobody has named, without anything that would be masked in it."""
    return mask(name_after(filename or "Search log")).text[:120]


def _without_names(filename: str) -> str:
    """The name of the file, which stays on the page of the import, with its masks and its ending."""
    ending = "".join(PurePath(filename).suffixes[-2 if filename.endswith(".gz") else -1 :])
    return mask(filename.removesuffix(ending)).text + ending


class LogImportForm(TableImportForm):
    name = forms.CharField(
        label="Name of the log", max_length=120, required=False, help_text="Such as “Search log, August to October”."
    )
    source = forms.ChoiceField(
        label="Source",
        required=False,
        help_text="Its permission says what the queries may be used for. A new one has none yet.",
    )
    people = forms.TypedChoiceField(
        label="People who must have asked a query",
        choices=[(number, str(number)) for number in LEAST_PEOPLE],
        initial=USUAL_PEOPLE,
        coerce=int,
        help_text="Of queries of fewer people only the number is kept. Fewer than 5 need a permission on record.",
    )
    wanted = forms.IntegerField(
        label="Queries to offer", min_value=10, max_value=rules.MOST_OFFERED, initial=USUAL_OFFERED
    )
    plan = forms.ChoiceField(label="Places", choices=Plan.choices, initial=Plan.BALANCED)
    seed = forms.IntegerField(
        label="Seed", min_value=0, max_value=999_999, help_text="The same file and seed draw the same queries."
    )
    grades_back = grades_back_field()
    folded = ("first_row", "people", "wanted", "plan", "seed")
    folded_title = "How it is drawn; you choose it on the next page, with the numbers."
    field_order = ["file", "pasted", "name", "source", "grades_back", "people", "wanted", "plan", "seed", "first_row"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, "source", source_choices(self.project))
        self.fields["seed"].required = False
        if not self.uploaded:
            self.fields["file"].help_text = (
                "Traces (OpenTelemetry as JSON or protobuf, OpenInference, Langfuse), CSV, a workbook, Parquet, JSON"
                " lines, OpenSearch UBI, or one search a line; a server's access log, a slow log of Elasticsearch or"
                " OpenSearch, a log of Solr. Plain or gzip."
            )
            self.fields["pasted"].help_text = "One search a line, with or without a count before it."

    def clean(self) -> dict[str, Any]:
        values = super().clean()
        if file := values.get("file"):
            file.name = _without_names(file.name)
        if "name" in self.fields:
            values["name"] = values.get("name") or name_of_log(self.file_name)
        if "seed" in self.fields and values.get("seed") is None:
            values["seed"] = self.initial.get("seed", secrets.randbelow(9_000) + 1_000)
        return values


@register
class LogImport(ImportKind):
    name = KIND
    title = "Import a search log"
    one = "search"
    many = "searches"
    section = "Queries"
    examples = (
        FormatExample(
            "A table",
            "You choose what each column is. Who searched is only counted.",
            "query,user,time,results\nhow are keys rotated,u17,2026-08-04T09:12:00,12",
        ),
        FormatExample(
            "Lines with counts", "As “sort | uniq -c” writes them.", "  412 key rotation\n   97 open the archive"
        ),
        FormatExample(
            "OpenSearch UBI",
            "Queries and events in one file; clicks are joined by query_id.",
            '{"query_id": "a1", "client_id": "c7", "user_query": "key rotation", "query_response_object_ids": ["b2"]}\n'
            '{"query_id": "a1", "client_id": "c7", "action_name": "click",\n'
            ' "event_attributes": {"object": {"object_id": "b2"}}}',
        ),
        FormatExample(
            "The log of a server",
            "An access log of nginx or Apache, a slow log of Elasticsearch or OpenSearch, a log of Solr. Addresses are"
            " only counted.",
            '203.0.113.7 - - [04/Aug/2026:09:12:00 +0000] "GET /search?q=key+rotation HTTP/1.1" 200 5120 "-" "Firefox"',
        ),
        FormatExample(
            "Traces",
            "As OpenTelemetry, Phoenix or Langfuse export them. What your systems returned becomes runs.",
            '{"name": "search", "context": {"trace_id": "4bf92f"}, "start_time": "2026-08-04T09:12:00Z",\n'
            ' "attributes": {"openinference.span.kind": "RETRIEVER", "user.id": "u17",\n'
            '  "input.value": "how are keys rotated",\n'
            '  "retrieval.documents": [{"document.id": "SEC-1", "document.content": "Keys are rotated …"}]}}',
        ),
    )
    form_class = LogImportForm
    columns_page = "querylogs/mapping.html"
    beside_columns = ("people", "wanted", "plan")
    undoing = "This deletes the queries that it offered."
    undone_until = "one of them is kept"
    undone = "The queries that it offered are deleted."

    def preview(self, file: FileToImport, progress: Progress) -> ImportPlan:
        plan = ImportPlan(["offered"])
        view, figures = preview_log(file, progress)
        plan.rows = view.rows
        show_table(plan, view, file.source)
        plan.extra["log"] = figures
        return plan

    @contextmanager
    def prepared(self, file: FileToImport, *, actor: User, at: datetime) -> Iterator[Drawn]:
        yield draw_log(file)

    def apply(self, file: FileToImport, *, actor: User, at: datetime, prepared: Drawn | None = None) -> ImportPlan:
        drawn, plan = prepared or draw_log(file), ImportPlan(["offered"])
        permitted = is_permitted(file.project, file.options["source"], at)
        reason = rules.draw_refusal(
            least=file.options["people"],
            has_people=drawn.figures["has_people"],
            queries=len(drawn.offered),
            is_permitted=permitted,
        )
        if reason:
            raise InputErrors([file.source.error(None, "", "", reason)])
        log = actions.offer_drawn(project=file.project, drawn=drawn, options=file.options, actor=actor, at=at)
        plan.rows, plan.counts["offered"] = drawn.figures["searches"], log.offered.count()
        return plan

    def page_context(self, item: Import) -> dict[str, Any]:
        return mapping_context(item, at=timezone.now())

    def undo_refusal(self, item: Import) -> str | None:
        log = log_of(item)
        return rules.log_undo_refusal(log) if log else "Its queries were deleted already."

    def undo(self, item: Import, *, actor: User, at: datetime) -> None:
        if log := log_of(item):
            actions.remove_log(log_id=log.pk)

    def target(self, project: Project, options: dict[str, Any]) -> str:
        return "a list to read; nothing enters the project yet"

    def done_url(self, item: Import) -> str:
        if log := log_of(item):
            return reverse("querylogs:log", args=[item.project.slug, log.pk])
        return reverse("querylogs:list", args=[item.project.slug])


def log_of(item: Import) -> QueryLog | None:
    """The log that an applied import has made; it gave it its own time and person."""
    assert item.applied_at is not None
    return QueryLog.objects.filter(project=item.project, created_by=item.applied_by, created_at=item.applied_at).first()
