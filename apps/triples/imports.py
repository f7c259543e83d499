"""The import of triples, for pages and the command line."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django import forms
from django.urls import reverse

from apps.accounts.models import Project, User
from apps.common.files.faults import ErrorList
from apps.common.text.wording import plural
from apps.common.web.forms import offer
from apps.corpus.core.import_plans import ImportPlan
from apps.corpus.core.table_plans import lines_with_mistakes, refuse_unsettled, show_table
from apps.corpus.execution import document_reading
from apps.corpus.execution.import_reading import ImportRefused
from apps.corpus.forms import TableImportForm
from apps.corpus.models import Corpus, Import
from apps.corpus.selectors.corpora import corpora_in, corpus_in, latest_snapshot, snapshots_in
from apps.corpus.selectors.import_kinds import FileToImport, FormatExample, ImportKind, Progress, SampleFile, register
from apps.queries.enums import Difficulty
from apps.queries.models import Source
from apps.triples.actions import imports
from apps.triples.actions.imports import import_triples, plan_entries
from apps.triples.enums import State
from apps.triples.execution.table_import import TripleTable, matched_contexts, read_triple_table, show_contexts
from apps.triples.formats import FORMATS, RAG, EntryRecord, read_entries
from apps.triples.formats.rag import Contexts
from apps.triples.formats.reading import AUTO, LONGEST_DOMAIN, TABLE, recognise
from apps.triples.selectors.entry_comparison import IMPORT_KIND, EntryComparison, ForAll
from apps.triples.selectors.imported import untouched_of
from apps.triples.selectors.triples import newest_snapshot

LONGEST_MACHINE = 200
LONGEST_NAME = 120


CHOICES = {AUTO: "Recognise it", TABLE: "A table: a workbook, CSV of any kind, Parquet, copied cells", **FORMATS}
FORMAT_CHOICES = list(CHOICES.items())


class TripleImportForm(TableImportForm):
    format = forms.ChoiceField(label="File format", choices=FORMAT_CHOICES, initial=AUTO)
    corpus = forms.ChoiceField(
        label="Corpus",
        required=False,
        help_text="Entries without a snapshot use the newest one of this corpus.",
    )
    machine = forms.CharField(
        label="Written by a machine",
        required=False,
        max_length=LONGEST_MACHINE,
        help_text=(
            "If a machine wrote the whole file, name the model and prompt. Its entries become candidates until a"
            " person adopts them. If empty, each entry may say so itself."
        ),
    )
    author = forms.CharField(
        label="Author of all",
        required=False,
        max_length=LONGEST_NAME,
        help_text=(
            "Name or e-mail of a member, or the name of somebody outside. It counts where an entry names no author; if"
            " empty too, you are."
        ),
    )
    source = forms.ChoiceField(label="Source of all", required=False)
    domain = forms.CharField(label="Domain of all", required=False, max_length=LONGEST_DOMAIN)
    difficulty = forms.ChoiceField(
        label="Difficulty of all", required=False, choices=[("", "what each entry says"), *Difficulty.choices]
    )
    near = forms.BooleanField(required=False, widget=forms.HiddenInput)
    field_order = [
        "file", "pasted", "format", "corpus", "first_row", "author", "source", "domain", "difficulty", "machine",
    ]  # fmt: skip
    folded = ("first_row", "author", "source", "domain", "difficulty", "machine")
    folded_title = "For all Q&As of the file"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = [(corpus.slug, corpus.name) for corpus in corpora_in(self.project)]
        offer(self, "corpus", [("", "the snapshot of each entry, else the newest"), *known])
        sources = Source.objects.filter(project=self.project).order_by("name", "slug").values_list("slug", "name")
        offer(self, "source", [("", "what each entry says"), *sources])


@register
class TripleImport(ImportKind):
    name = IMPORT_KIND
    title = "Import Q&As"
    one = "triple"
    many = "triples"
    on_pages = "Q&A,Q&As"
    section = "Q&A"
    samples = (SampleFile("questions-and-answers.jsonl", "Two questions on the hut's passages, JSONL"),)
    examples = (
        FormatExample(
            "A table of any shape",
            "A workbook, CSV of any kind, or pasted cells. You choose what each column is; a passage may be named by"
            " its id, address, document, title or text.",
            "Question;Answer;Page;Quote\nHow often are keys rotated?;Every twelve months.;/security/keys;",
        ),
        FormatExample(
            "JSONL",
            "question, expected_answer and the block_id of expected_block are required. Every entry becomes a draft of"
            " its author, or of yours where it names none. What it says of its reviewers is stored as it stands; as a"
            " lead you can take such entries as accepted after the import.",
            '{"question": "How often are keys rotated?",\n'
            ' "expected_block": {"block_id": "sec-4.2",\n  "document_id": "security", "page_range": [12, 13]},\n'
            ' "expected_answer": "Every twelve months.",\n'
            ' "metadata": {"domain": "security", "difficulty": "easy",\n  "added_by": "Mara Quill",'
            ' "added_at": "2026-11-20",\n  "reviewed_by": ["Jun Hallam", "Sef Arden"],\n  "resolution": "consensus"}}',
        ),
        FormatExample(
            "YAML",
            "A list of the same. expected_blocks holds several, each with its evidence; match says whether any of them"
            " is enough or all are needed.",
            "- question: How often are keys rotated?\n  expected_blocks:\n    - block_id: sec-4.2\n"
            "      evidence:\n        - rotated at least every twelve months\n    - block_id: sec-9.1\n"
            "  match: any\n  expected_answer: Every twelve months.",
        ),
        FormatExample(
            "Machine-written",
            "An entry that says so becomes a candidate.",
            '{"question": "…", "expected_block": {"block_id": "…"},\n "expected_answer": "…",\n'
            ' "metadata": {"machine_written": {"by": "model-x, prompt 3"}}}',
        ),
    )
    form_class = TripleImportForm
    undoing = "This withdraws what it made. It can be imported again."
    undone_until = "one of them is edited, adopted, submitted, drawn for a review or in a version"
    undone = "What it made is withdrawn."

    def preview(self, file: FileToImport, progress: Progress) -> ImportPlan:
        file, errors = file.in_utf8(), ErrorList()
        table, contexts = _table(file), _contexts(file)
        rows = table.rows if table else _rows(file, errors, contexts)
        plan = plan_entries(_comparison(file, errors), rows, progress)
        if table:
            show_table(plan, table.view, file.source)
        if contexts:
            show_contexts(plan, contexts)
        return plan

    def apply(self, file: FileToImport, *, actor: User, at: datetime, prepared: None = None) -> ImportPlan:
        file, errors = file.in_utf8(), ErrorList()
        table, contexts = _table(file), _contexts(file)
        if table:
            refuse_unsettled(table.view, file.source)
            if not table.rows:
                raise ImportRefused("There is nothing to import: every row was left out.", code="import_empty")
        plan = import_triples(
            project=file.project,
            rows=table.rows if table else _rows(file, errors, contexts),
            file=file.source,
            errors=errors,
            corpus=_corpus(file),
            machine=file.options.get("machine", ""),
            for_all=_for_all(file),
            actor=actor,
            at=at,
        )
        if table:
            show_table(plan, table.view, file.source)
        if contexts:
            show_contexts(plan, contexts)
        return plan

    def undo_refusal(self, item: Import) -> str | None:
        return imports.undo_refusal(item)

    def undo(self, item: Import, *, actor: User, at: datetime) -> None:
        imports.withdraw_made(item, actor=actor, at=at)

    def untouched(self, item: Import) -> int:
        return untouched_of(item).count()

    def undo_untouched(self, item: Import, *, actor: User, at: datetime) -> int:
        return imports.withdraw_untouched(item, actor=actor, at=at)

    def what_became(self, item: Import) -> str:
        if not (stayed := item.result.get("stayed")):
            return self.undone
        return f"The drafts that nobody had touched are withdrawn; {plural(stayed, 'Q&A')} stayed."

    def target(self, project: Project, options: dict[str, Any]) -> str:
        return "the candidates of this project" if options.get("machine") else "the drafts of this project"

    def done_url(self, item: Import) -> str:
        if item.options.get("machine"):
            return reverse("triples:candidates", args=[item.project.slug])
        return reverse("triples:list", args=[item.project.slug]) + f"?state={State.DRAFT}"


def _corpus(file: FileToImport) -> Corpus | None:
    return corpus_in(file.project, file.options["corpus"]) if file.options.get("corpus") else None


def _comparison(file: FileToImport, errors: ErrorList) -> EntryComparison:
    return EntryComparison(
        project=file.project,
        file=file.source,
        errors=errors,
        corpus=_corpus(file),
        machine=file.options.get("machine", ""),
        for_all=_for_all(file),
    )


def _for_all(file: FileToImport) -> ForAll:
    return ForAll(**{name: file.options.get(name, "").strip() for name in ForAll._fields})


def _format(file: FileToImport) -> str:
    if file.options["format"] != AUTO:
        return str(file.options["format"])
    document_reading.refuse_document(file.source, "questions and answers")
    return recognise(file.source)


def _table(file: FileToImport) -> TripleTable | None:
    """The table that the file is, on the newest snapshot; None for a file of another format."""
    if _format(file) != TABLE:
        return None
    corpus = _corpus(file)
    snapshot = latest_snapshot(corpus) if corpus else snapshots_in(file.project).first()
    if snapshot is None:
        raise file.source.error(None, "", "", "there is no snapshot; freeze the corpus first")
    table = read_triple_table(file.source, project=file.project, snapshot=snapshot, options=file.options)
    faulty = lines_with_mistakes(
        table.view.choice, lambda errors: plan_entries(_comparison(file, errors), table.rows, lambda done: None)
    )
    return table._replace(rows=[row for row in table.rows if row.record.line not in faulty]) if faulty else table


def _contexts(file: FileToImport) -> Contexts | None:
    """The passages of contexts that have no ids; None for a file of another format."""
    if _format(file) != RAG:
        return None
    corpus = _corpus(file)
    snapshot = newest_snapshot(file.project, corpus.pk if corpus else None)
    return matched_contexts(file.source, snapshot, takes_near=bool(file.options.get("near")))


def _rows(file: FileToImport, errors: ErrorList, contexts: Contexts | None) -> Iterator[EntryRecord]:
    return read_entries(file.source, errors, format=_format(file), contexts=contexts)
