"""The form and the import kind of query files."""

from datetime import datetime
from functools import partial
from typing import Any

from django import forms
from django.urls import reverse

from apps.accounts.models import Project, User
from apps.common.errors import InputErrors
from apps.common.files.faults import ErrorList
from apps.common.files.linefiles import STANDARD_INPUT
from apps.common.files.tabular import TableFile as File
from apps.common.hooks import log_names
from apps.common.web.forms import offer
from apps.corpus.core.import_plans import Fix, ImportPlan
from apps.corpus.core.table_plans import (
    SHOWN_ROWS,
    Reading,
    lines_with_mistakes,
    refuse_unsettled,
    show_readings,
    show_table,
)
from apps.corpus.execution import document_reading
from apps.corpus.forms import PASTED, TableImportForm
from apps.corpus.models import Import
from apps.corpus.selectors.import_kinds import FileToImport, FormatExample, ImportKind, Progress, SampleFile, register
from apps.queries.actions import queries as queries_actions
from apps.queries.actions.sources import make_named_source
from apps.queries.execution import ingest
from apps.queries.execution.ingest import QueryComparison, plan_queries
from apps.queries.execution.table_import import AS_QUERY_LOG, MAKE_SOURCES, QueryTable, read_query_table
from apps.queries.formats import (
    AUTO,
    FORMATS,
    ID_LINES,
    IDS,
    LINES,
    TABLE,
    Doubt,
    doubt_of,
    read_queries,
    recognise,
)
from apps.queries.models import Source
from apps.queries.selectors import names_in

CHOICES = {AUTO: "Recognise it", TABLE: "A table: a workbook, CSV of any kind, Parquet, copied cells", **FORMATS}
NAMED = 8
FORMAT_CHOICES, ID_CHOICES = list(CHOICES.items()), list(IDS.items())


class QueryImportForm(TableImportForm):
    format = forms.ChoiceField(label="File format", choices=FORMAT_CHOICES, initial=AUTO)
    ids = forms.ChoiceField(
        label="Query ids",
        choices=ID_CHOICES,
        widget=forms.RadioSelect,
        initial="file",
        help_text=(
            "SMART files only: in some, judgements refer to a query by its position instead of its id."
            " Choose what your judgements use."
        ),
    )
    source = forms.ChoiceField(
        label="Source for new queries without one",
        required=False,
        help_text="A version with queries of a source without a valid permission cannot be frozen.",
    )
    folded = ("first_row", "ids")
    folded_title = "For tables and SMART files."
    field_order = ["file", "pasted", "format", "source", "first_row", "ids"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = Source.objects.filter(project=self.project).order_by("name").values_list("slug", "name")
        offer(self, "source", [("", "none"), *known])
        if not self.uploaded:
            self.fields["file"].help_text = "A workbook, CSV of any kind, a list, JSONL, topics; plain or gzip."
            self.fields["pasted"].help_text = "One query a line; no ids are needed. Or cells copied from a spreadsheet."

    def clean(self) -> dict[str, Any]:
        values = super().clean()
        if values.get("ids") == "position" and values.get("format") != "smart":
            self.add_error("ids", "Ids by position are for SMART files only.")
        return values


@register
class QueryImport(ImportKind):
    name = "queries"
    title = "Import queries"
    one = "query"
    many = "queries"
    section = "Queries"
    samples = (
        SampleFile("queries.csv", "Four queries on the hut's handbook, CSV"),
        SampleFile("queries.txt", "The same queries, one a line"),
        SampleFile("demo-queries.csv", "66 queries of the demo, CSV", to_begin=True),
    )
    examples = (
        FormatExample(
            "A table of any shape",
            "A workbook, or CSV with any separator and encoding. You choose what each column is.",
            "Search;Topic;Level\nhow often are keys rotated;security;easy",
        ),
        FormatExample(
            "CSV",
            "query_id and text are needed; label, intent, description, source, difficulty, domain, query_type,"
            " group, expertise, answer_format, asked_on (a day), tags and facets (subtopics: 1=words; 2=words) are"
            " optional. What is missing from the file stays as it is.",
            'query_id,text,source,difficulty,tags\nQ001,how often are keys rotated,search-log,easy,"keys; policy"',
        ),
        FormatExample(
            "JSONL",
            "The same names as fields; tags is a list.",
            '{"query_id": "Q001", "text": "how often are keys rotated",\n "intent": "Wants the rule that holds now."}',
        ),
        FormatExample("BEIR queries.jsonl", "", '{"_id": "Q001", "text": "how often are keys rotated"}'),
        FormatExample(
            "TREC topics",
            "The title is the query, the narrative its intent, each subtopic of the Web Track a subtopic.",
            "<top>\n<num> Number: 301\n<title> key rotation\n<desc> Description:\nHow often …\n</top>",
        ),
        FormatExample(
            "One query a line",
            "New texts get the ids Q001, Q002 and so on, after the last one here; a text that is here already keeps its"
            " id. A line may begin with an id and a tab.",
            "how often are keys rotated\nwho opens the archive",
        ),
        FormatExample("SMART", "As Cranfield has it.", ".I 001\n.W\nhow often are keys rotated"),
    )
    form_class = QueryImportForm
    undoing = "This removes the queries that it added."
    undone_until = "one of its queries is used or edited"
    undone = "The queries that it added are removed."

    def preview(self, file: FileToImport, progress: Progress) -> ImportPlan:
        file, errors = file.in_utf8(), ErrorList()
        if doubt := _doubt(file):
            plan = ImportPlan([])
            show_readings(plan, doubt.question, [_reading(file, form, doubt) for form in doubt.forms], file.source)
            return plan
        table = _table(file)
        rows = table.rows if table else _rows(file, errors)
        _add_doubled(table, errors)
        plan = plan_queries(_comparison(file, errors, _makes_sources(file, table)), rows, progress)
        if table:
            show_table(plan, table.view, file.source)
        elif names := sorted({error.value for error in plan.errors if error.field == "source"}):
            words = f"These are no sources of this project: {', '.join(names[:NAMED])}. {AS_QUERY_LOG}"
            plan.fixes.append(Fix(MAKE_SOURCES, words, "Create the missing sources", {MAKE_SOURCES: "yes"}))
        return plan

    def apply(self, file: FileToImport, *, actor: User, at: datetime, prepared: None = None) -> ImportPlan:
        file, errors = file.in_utf8(), ErrorList()
        if doubt := _doubt(file):
            ways = " or ".join(doubt.forms)
            raise InputErrors([file.source.error(None, "", "", f"{doubt.question} Name the format, {ways}.")])
        table = _table(file)
        if table:
            refuse_unsettled(table.view, file.source)
        _add_doubled(table, errors)
        plan = queries_actions.import_queries(
            project=file.project,
            rows=table.rows if table else _rows(file, errors),
            file=file.source,
            errors=errors,
            default_source=_source(file),
            make_source=partial(_make_source, file.project, actor, at) if _makes_sources(file, table) else None,
            actor=actor,
            at=at,
        )
        if table:
            show_table(plan, table.view, file.source)
        return plan

    def fixes(self, source: File, options: dict[str, Any]) -> list[Fix]:
        if options["format"] != AUTO:
            return []
        if what := _words_for_log(source, _recognised(source)):
            words = f"{what.capitalize()}. Import the file as a search log: choose it again there."
            return [Fix("log", words, "Import a search log", {}, "log")]
        if document_reading.kind_of(source) not in {"markdown", "rst"}:
            return []
        return [Fix("format:lines", "This is a document.", "Import each line as a query", {"format": LINES})]

    def undo_refusal(self, item: Import) -> str | None:
        return ingest.undo_refusal(item)

    def undo(self, item: Import, *, actor: User, at: datetime) -> None:
        ingest.remove_added(item)

    def target(self, project: Project, options: dict[str, Any]) -> str:
        return "the queries of this project"

    def done_url(self, item: Import) -> str:
        return reverse("queries:list", args=[item.project.slug])


def _source(file: FileToImport) -> Source | None:
    return Source.objects.filter(project=file.project, slug=file.options["source"]).first()


def _makes_sources(file: FileToImport, table: QueryTable | None) -> bool:
    return MAKE_SOURCES in (table.view.choice.answers if table else file.options)


def _make_source(project: Project, actor: User, at: datetime, name: str) -> int:
    return make_named_source(project=project, name=name, actor=actor, at=at)


def _comparison(file: FileToImport, errors: ErrorList, makes_sources: bool = False) -> QueryComparison:
    """For a preview, in which a source that is still to be made has no key."""
    return QueryComparison(
        project=file.project,
        file=file.source,
        errors=errors,
        default_source=_source(file),
        make_source=(lambda name: 0) if makes_sources else None,
    )


def _table(file: FileToImport) -> QueryTable | None:
    """The table that the file is; None for a file of another format."""
    if _format(file) != TABLE:
        return None
    table = read_query_table(file.source, project=file.project, options=file.options)
    makes = _makes_sources(file, table)
    faulty = lines_with_mistakes(
        table.view.choice, lambda errors: plan_queries(_comparison(file, errors, makes), table.rows)
    )
    return table._replace(rows=[row for row in table.rows if row.line not in faulty]) if faulty else table


def _add_doubled(table: QueryTable | None, errors: ErrorList) -> None:
    for error in table.doubled if table else ():
        errors.add(error)


def _format(file: FileToImport) -> str:
    if file.options["format"] != AUTO:
        return str(file.options["format"])
    document_reading.refuse_document(file.source, "queries")
    return _recognised(file.source)


def _recognised(source: File) -> str:
    return recognise(source, is_pasted=source.name in {PASTED, STANDARD_INPUT})


def _doubt(file: FileToImport) -> Doubt | None:
    """Why it is not sure what form a file has that nobody has named. Raises InputError for a search log."""
    if file.options["format"] != AUTO:
        return None
    format = _format(file)
    if words := _words_for_log(file.source, format):
        how = "import the file as a search log, under Queries, Search logs, or say its form"
        raise file.source.error(None, "", "", f"{words}, not a list of queries; {how}")
    return doubt_of(file.source, format)


def _words_for_log(source: File, format: str) -> str:
    """What a file of this format is where it belongs to the search logs; "" for any other."""
    names = log_names if format in {LINES, TABLE} else ()
    return next(filter(None, (name(source) for name in names)), "")


def _reading(file: FileToImport, form: str, doubt: Doubt) -> Reading:
    """The first rows of a file in this form."""
    chosen = file._replace(options={**file.options, "format": form})
    table = _table(chosen) if form == TABLE else None
    rows = table.rows if table else list(_rows(chosen, ErrorList()))
    file.source.rewind()
    others = [reason for other, reason in doubt.forms.items() if other != form]
    return Reading(
        fix=Fix(f"format:{form}", CHOICES[form], "Read it so", {"format": form}),
        rows=len(rows),
        reason=doubt.forms[form],
        against=others[0],
        headings=["Query id", "Query"],
        sample=[[row.query_id, row.text] for row in rows[:SHOWN_ROWS]],
    )


def _rows(file: FileToImport, errors: ErrorList) -> Any:
    format = _format(file)
    names = names_in(file.project) if format in {LINES, ID_LINES} else None
    is_said = file.options["format"] == LINES
    return read_queries(
        file.source, errors, format=format, ids=file.options["ids"], names=names, is_guessed=not is_said
    )
