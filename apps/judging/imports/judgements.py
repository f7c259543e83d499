"""The import of judgements, for pages and the command line."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Any, ClassVar, NamedTuple

from django import forms
from django.urls import reverse

from apps.accounts.models import Project, User
from apps.common.database.prepared import PreparedWrites, prepared_writes
from apps.common.errors import InputErrors
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.common.text.wording import plural
from apps.common.web.forms import offer, parsed
from apps.corpus.core.import_plans import SKIP, ImportPlan, TableChoice
from apps.corpus.core.table_plans import show_table
from apps.corpus.execution import document_reading
from apps.corpus.forms import TableImportForm
from apps.corpus.models import Import, Snapshot
from apps.corpus.selectors.corpora import snapshot_in, snapshots_in
from apps.corpus.selectors.import_kinds import FileToImport, FormatExample, ImportKind, Progress, SampleFile, register
from apps.judging.actions import imports
from apps.judging.actions.imports import ImportedRound, import_judgements, prepare_rows
from apps.judging.core.table_roles import parse_table_columns
from apps.judging.execution import judgement_readings
from apps.judging.execution.judgement_import import (
    JudgementDraft,
    beside_earlier,
    open_questions,
    queries_digest,
    read_draft,
)
from apps.judging.execution.table_import import TableDraft, read_table
from apps.judging.formats.judgements import FORMATS, QRELS_COLUMNS, columns_of, parse_grade_map
from apps.judging.formats.recognition import AUTO, TABLE, TOOLS, recognise
from apps.judging.imports.previews import GRADED, HERE, NEW, plan_of_draft, raters_notes, standing_messages
from apps.judging.models import Round
from apps.queries.actions.queries import import_queries
from apps.queries.formats.records import QueryRow

CHOICES = {
    AUTO: "Recognise it",
    TABLE: "A table: a workbook, CSV of any kind, Parquet, copied cells",
    **TOOLS,
    **FORMATS,
}
FORMAT_CHOICES = list(CHOICES.items())
TABLES = frozenset({TABLE, *TOOLS})
"""The formats whose columns and grades are chosen on the page."""
NEW_QUERIES = "new queries"


class JudgementImportForm(TableImportForm):
    """The file, its columns, and the meaning of its grades here, which cannot be read from the file."""

    format = forms.ChoiceField(label="File format", choices=FORMAT_CHOICES, initial=AUTO)
    snapshot = forms.ChoiceField(help_text="The texts that were judged.")
    columns = forms.CharField(
        label="Columns",
        required=False,
        max_length=2_000,
        help_text=(
            f"For a file with columns separated by spaces, if not {' '.join(QRELS_COLUMNS)}; name a column skip to"
            " ignore it. Of ratings, when not query_id, block_id, annotator, grade: query=query_text, text=block_id,"
            " first=rater, second=rater, agreed=final. Of a table or another tool's export: Search=query, Stars=grade."
        ),
    )
    grades = forms.CharField(
        label="Grade map",
        required=False,
        max_length=500,
        help_text="If the file uses other grades: 1=3,2=2,3=1,-1=skip. List every grade of the file.",
    )
    name = forms.CharField(
        max_length=100, required=False, help_text="Name of the new round. If empty, the file and who graded."
    )
    sheet = forms.CharField(max_length=200, required=False, widget=forms.HiddenInput)
    person = forms.CharField(
        label="Who gave the grades",
        max_length=120,
        required=False,
        help_text="Their name, if the file does not say it. Nobody can sign in with it. Empty: you.",
    )
    graded = forms.ChoiceField(
        label="Pairs that have a grade already",
        choices=list(GRADED.items()),
        required=False,
        help_text="Grades of other people always stay: each person counts once, and a lead decides where they differ.",
    )
    skip_unknown = forms.BooleanField(
        label="Leave out rows with an unknown query or passage",
        required=False,
        help_text="Otherwise such rows block the import and are listed.",
    )
    folded = ("first_row", "grades", "columns", "name", "graded", "skip_unknown")
    folded_title = "For qrels and files with columns of their own names; the round's name."
    meanings: ClassVar = {"snapshot": "The key of the snapshot whose texts were judged."}
    field_order = [
        "file", "pasted", "format", "snapshot", "person", "first_row", "grades", "columns", "name", "graded",
        "skip_unknown",
    ]  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = [(str(each.pk), f"{each.corpus.name}: {each.name}") for each in snapshots_in(self.project)]
        offer(self, "snapshot", known)
        if not self.uploaded:
            self.fields["file"].help_text = "A workbook, CSV of any kind, qrels, another tool’s export; plain or gzip."
            self.fields["pasted"].help_text = "Cells copied from a spreadsheet, with their headings."

    def clean_grades(self) -> str:
        return parsed(self.cleaned_data["grades"], parse_grade_map)

    def clean_columns(self) -> str:
        written, form = self.cleaned_data["columns"], self.cleaned_data.get("format", "")
        is_table = form in TABLES or (form == AUTO and "=" in written)
        return parsed(written, parse_table_columns if is_table else partial(columns_of, form))

    def options(self) -> dict[str, Any]:
        """The options; of what can be a table also the choices that its page shows."""
        values = super().options()
        return values | named_choice(values) if values["format"] in {AUTO, *TABLES} else values


def named_choice(options: dict[str, Any]) -> dict[str, Any]:
    """The choices for a table that were written down: its columns and grades, a sheet, the person; {} for none."""
    columns, grades = options.get("columns", ""), options.get("grades", "")
    written = parse_grade_map(grades) if grades else {}
    choice = TableChoice(
        sheet=options.get("sheet", ""),
        columns=parse_table_columns(columns) if "=" in columns else {},
        grades={value: SKIP if grade is None else str(grade) for value, grade in written.items()},
        person=options.get("person", ""),
    )
    return {} if choice == TableChoice() else {"table": choice.as_json()}


class PreparedJudgements(NamedTuple):
    """The judgements of a file, read with these grades and a digest of the project's queries.

    `writes` are their rows; None where people have to be named first.
    """

    grades: Sequence[int]
    queries: str
    draft: JudgementDraft
    writes: PreparedWrites | None


@register
class JudgementImport(ImportKind):
    name = "judgements"
    title = "Import judgements"
    one = "judgement"
    many = "judgements"
    section = "Rounds"
    samples = (
        SampleFile("judgements.csv", "Six grades on the hut's passages and queries, CSV"),
        SampleFile("demo-judgements.txt", "163 grades of the demo, TREC qrels", to_begin=True),
    )
    hint = (
        "Judgements made elsewhere become a closed round, with you as the importer."
        " Their queries and passages must already be here."
    )
    examples = (
        FormatExample(
            "A spreadsheet of one rater",
            "You choose what each column is and what its grades mean here; queries that are missing are created.",
            "query,url,rank,grade,notes\nhow big can a volume get,/storage/volumes,1,5,exactly this",
        ),
        FormatExample(
            "A spreadsheet of several raters",
            "A column for each, and the final grade where there is one.",
            "query,docid,rater 1,rater 2,final\nkey rotation,sec-4.2,3,2,3",
        ),
        FormatExample(
            "Exports of other tools",
            "You choose what the labels mean here; who gave them is kept by name, and can be joined to a member later.",
            "Quepid: a book as CSV or JSON, a case, its ratings\nLabel Studio: JSON or JSON-MIN\n"
            "doccano: its zip, or one file of it\nArgilla: a saved dataset as a zip, Parquet, JSON\n"
            "Learning to rank: a judgement list of Elasticsearch, OpenSearch, Solr or Quepid",
        ),
        FormatExample("TREC qrels", "Query, iteration, passage, grade.", "Q001 0 sec-4.2 3\nQ001 0 sec-9.1 0"),
        FormatExample("CSV", "As Karat exports it.", "query_id,block_id,grade,notes\nQ001,sec-4.2,3,"),
    )
    form_class = JudgementImportForm
    undoing = (
        "This withdraws its grades: they count nowhere, in no version and no figure. They stay on record, since a grade"
        " is never deleted; so do queries that came with them."
    )
    undone_until = "a version, another round or a decision uses its grades"
    undone = "Its grades count nowhere. They stay on record."

    def preview(self, file: FileToImport, progress: Progress) -> ImportPlan:
        file = file.in_utf8()
        if _format(file) in TABLES:
            return _table_plan(file, _table(file))
        draft = _draft(file, for_later=True)
        progress(len(draft.rows))
        if is_imported(file.project, draft):
            return plan_of_draft(draft, file.options, HERE)
        draft = _beside(file, draft)
        return _with_questions(plan_of_draft(draft, file.options, NEW), draft, file.source)

    @contextmanager
    def prepared(self, file: FileToImport, *, actor: User, at: datetime) -> Iterator[PreparedJudgements | None]:
        file = file.in_utf8()
        if _format(file) in TABLES:
            yield None
            return
        grades, queries = file.project.grades, queries_digest(file.project)
        draft = _draft(file)
        with prepared_writes() as writes:
            is_one_persons = bool(draft.rows) and not draft.rows.raters
            if is_one_persons:
                prepare_rows(draft, writes, actor=actor, at=at)
            yield PreparedJudgements(grades, queries, draft, writes if is_one_persons else None)

    def fits(self, project: Project, options: dict[str, Any], prepared: PreparedJudgements) -> bool:
        is_same = (project.grades, queries_digest(project)) == (prepared.grades, prepared.queries)
        return is_same and (prepared.writes is None or prepared.writes.is_valid())

    def apply(
        self, file: FileToImport, *, actor: User, at: datetime, prepared: PreparedJudgements | None = None
    ) -> ImportPlan:
        file = file.in_utf8()
        if prepared is None and _format(file) in TABLES:
            return _apply_table(file, actor=actor, at=at)
        draft = prepared.draft if prepared else _draft(file)
        plan = plan_of_draft(draft, file.options, NEW)
        if plan.errors:
            raise InputErrors(list(plan.errors), capped=plan.errors.unlisted > 0)
        imported = _import(file, draft, prepared.writes if prepared else None, actor=actor, at=at)
        return plan_of_draft(imported.draft, file.options, NEW if imported.is_new else HERE)

    def undo_refusal(self, item: Import) -> str | None:
        return imports.undo_refusal(item)

    def undo(self, item: Import, *, actor: User, at: datetime) -> None:
        imports.withdraw(item, actor=actor, at=at)

    def what_became(self, item: Import) -> str:
        queries = item.result["counts"].get(NEW_QUERIES, 0)
        if not imports.rounds_of(item).exists():
            return "The queries that it added are removed."
        if not queries:
            return self.undone
        came = plural(queries, "query that came with them stays", "queries that came with them stay")
        return f"{self.undone} {came}: words that were graded are fixed."

    def target(self, project: Project, options: dict[str, Any]) -> str:
        return f"a round on {_snapshot(project, options)}"

    def done_url(self, item: Import) -> str:
        return reverse("judging:index", args=[item.project.slug])


def _format(file: FileToImport) -> str:
    if file.options["format"] != AUTO:
        return str(file.options["format"])
    document_reading.refuse_document(file.source, "judgements")
    return recognise(file.source)


def _table(file: FileToImport) -> TableDraft:
    """The table as it is read now. The source is at its beginning, before and after."""
    project, source, options = file
    snapshot = _snapshot(project, options)
    table = read_table(source, project=project, snapshot=snapshot, options=options, format=_format(file))
    source.rewind()
    return table


def is_imported(project: Project, draft: JudgementDraft) -> bool:
    """Whether a round in force has these judgements already."""
    return Round.objects.in_force().filter(project=project, origin__endswith=draft.mark).exists()


def _import(
    file: FileToImport, draft: JudgementDraft, writes: PreparedWrites | None = None, *, actor: User, at: datetime
) -> ImportedRound:
    return import_judgements(
        project=file.project,
        snapshot=_snapshot(file.project, file.options),
        draft=draft,
        name=file.options.get("name", ""),
        origin=file.source.name,
        skip_unknown=bool(file.options.get("skip_unknown")),
        graded=file.options.get("graded", ""),
        prepared=writes,
        actor=actor,
        at=at,
    )


def _table_plan(file: FileToImport, table: TableDraft) -> ImportPlan:
    is_here = bool(table.draft.rows) and is_imported(file.project, table.draft)
    draft = table.draft if is_here else _beside(file, table.draft)
    plan = ImportPlan([NEW, NEW_QUERIES, HERE])
    plan.rows = len(draft.rows)
    plan.counts[HERE if is_here else NEW] = len(draft.rows)
    plan.counts[NEW_QUERIES] = len(table.new_queries)
    if draft.standing:
        table.view.messages += standing_messages(draft)
    plan.notes += [message.title for message in table.view.messages]
    if draft.rows.raters:
        plan.notes += raters_notes(draft)
    show_table(plan, table.view, file.source)
    return plan


def _apply_table(file: FileToImport, *, actor: User, at: datetime) -> ImportPlan:
    """Create the new queries of the table, then import its grades. Raises InputErrors for a column that is missing."""
    table = _table(file)
    plan = _table_plan(file, table)
    if plan.errors:
        raise InputErrors(list(plan.errors))
    draft = table.draft
    if table.new_queries:
        import_queries(
            project=file.project,
            rows=[QueryRow(line, *query) for line, query in enumerate(table.new_queries, start=1)],
            file=file.source,
            errors=ErrorList(),
            default_source=None,
            actor=actor,
            at=at,
        )
        draft = _table(file).draft
    if draft.rows or not table.new_queries:
        _import(file, draft, actor=actor, at=at)
    return plan


def _snapshot(project: Project, options: dict[str, Any]) -> Snapshot:
    return snapshot_in(project, int(options["snapshot"]))


def _draft(file: FileToImport, *, for_later: bool = False) -> JudgementDraft:
    """The file as it is read now, or as it was read before with all the same. `for_later` stores what is read."""
    project, source, options = file
    written, format = options.get("grades", ""), _format(file)
    snapshot = _snapshot(project, options)
    basis = {
        "options": {name: options.get(name, "") for name in ("columns", "grades", "match", "person")}
        | {"format": format},
        "matched": [snapshot.digest, snapshot.pk, project.grades, queries_digest(project)],
    }
    if draft := judgement_readings.load(source, basis):
        return draft
    try:
        columns = columns_of(format, options.get("columns", ""))
    except ValueError as reason:
        raise source.error(None, "columns", options["columns"], f"{reason}; the file is {FORMATS[format]}") from reason
    draft = read_draft(
        source,
        project=project,
        snapshot=snapshot,
        format=format,
        columns=columns,
        grades=parse_grade_map(written) if written else None,
        match=options.get("match", ()),
        person=options.get("person", ""),
    )
    if for_later:
        judgement_readings.store(source, draft, basis)
    return draft


def _beside(file: FileToImport, draft: JudgementDraft) -> JudgementDraft:
    """The draft beside the grades that are here. Who confirms the import is not known yet."""
    return beside_earlier(
        draft,
        project=file.project,
        snapshot=_snapshot(file.project, file.options),
        importer=None,
        choice=file.options.get("graded", ""),
    )


def _with_questions(plan: ImportPlan, draft: JudgementDraft, source: TableFile) -> ImportPlan:
    """The plan with what has to be decided about grades that are here already."""
    for reason in open_questions(draft.standing) if draft.standing else []:
        plan.ask(source.error(None, "", "", reason))
    return plan
