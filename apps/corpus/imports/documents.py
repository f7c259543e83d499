"""The form and the import kind of corpus files."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from django import forms
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.text import slugify

from apps.accounts.models import Project, User
from apps.audit.selectors.events import latest_key
from apps.common.database.prepared import prepared_writes
from apps.common.errors import InputError, InputErrors
from apps.common.files.anytable import separator_of
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile, open_source
from apps.common.text.wording import plural
from apps.common.web.forms import parsed
from apps.corpus.actions import corpora
from apps.corpus.core.documents import (
    DEFAULT,
    EXAMPLES,
    FIRST_ROWS,
    OFFERED,
    PARAGRAPHS,
    Recipe,
    UnreadFile,
    recipe_of,
    recut_note,
)
from apps.corpus.core.import_plans import Fix, ImportPlan, named_columns
from apps.corpus.core.table_plans import ask_for_text
from apps.corpus.enums import ImportMode
from apps.corpus.execution import document_reading, jobs
from apps.corpus.execution.document_reading import AUTO, DocumentRows
from apps.corpus.execution.import_reading import ImportRefused
from apps.corpus.execution.ingest import BlockIntake, plan_blocks
from apps.corpus.execution.jobs import CorpusState
from apps.corpus.formats import FORMATS, IDS, read_blocks
from apps.corpus.formats.documents.recognition import ZIP
from apps.corpus.formats.documents.records import SAID
from apps.corpus.formats.documents.registry import KINDS
from apps.corpus.formats.rows import BlockRow
from apps.corpus.forms import FilesField, PastedImportForm
from apps.corpus.imports.api import EMPTIES, NEW, CorpusTargetForm, free_name
from apps.corpus.models import MOST_COLUMNS, Corpus, Import, Snapshot
from apps.corpus.rules import corpus_undo_refusal
from apps.corpus.selectors.corpora import corpora_in, corpus_in, is_changed_since
from apps.corpus.selectors.import_kinds import FileToImport, FormatExample, ImportKind, Progress, SampleFile, register

KINDS_OF_FILES = [(name, kind.title) for name, kind in KINDS.items() if name not in FORMATS]
FORMAT_CHOICES = [(AUTO, "recognised for each file"), *FORMATS.items(), *KINDS_OF_FILES]
PASTED_CELLS = "pasted.tsv"


class CorpusImportForm(CorpusTargetForm, PastedImportForm):
    file = FilesField(label="Drop a folder, a zip or files here", required=False)
    pasted_name = "pasted.md"
    drop_heading = "Your documents"
    drop_words = (
        "Markdown, HTML, PDF, Word, text, tables, OSCAL, OpenControl, or passages with ids (JSONL, CSV, BEIR, SMART,"
        " TREC). The kind of each file is recognised."
    )
    format = forms.ChoiceField(label="File format", choices=FORMAT_CHOICES, initial=AUTO)
    recipe = forms.CharField(
        label="How to cut passages",
        max_length=40,
        required=False,
        help_text=f"{', '.join(EXAMPLES)} (words, overlap). Empty: as the corpus was cut, or by headings. Code is"
        " never cut, a table only where it is longer than a screen: between rows, with its heading in each part.",
    )
    base_url = forms.URLField(
        label="Address of the site",
        max_length=300,
        required=False,
        assume_scheme="https",
        help_text="Each passage then links to its page. Empty: as the corpus has it.",
    )
    first_row = forms.ChoiceField(
        label="The first row of a table",
        choices=list(FIRST_ROWS.items()),
        required=False,
        help_text="Without a heading known here it is read as a row like the others.",
    )
    columns = forms.CharField(
        label="Columns of tables",
        max_length=MOST_COLUMNS,
        required=False,
        help_text=f"Such as Inhalt=text,Nr=id. A column can be {', '.join(SAID)}. Empty: found by their names.",
    )
    empties = forms.CharField(max_length=60, required=False, widget=forms.HiddenInput)
    also_text = forms.CharField(max_length=300, required=False, widget=forms.HiddenInput)
    ids = forms.ChoiceField(
        label="Passage ids",
        choices=list(IDS.items()),
        widget=forms.RadioSelect,
        initial="file",
        help_text="Use positions only for SMART files whose ids nothing else refers to.",
    )
    field_order = [
        "file",
        "pasted",
        "format",
        "recipe",
        "base_url",
        "first_row",
        "columns",
        "ids",
        "corpus",
        "name",
        "mode",
    ]

    def name_for_pasted(self, text: str) -> str:
        """Cells that were copied from a spreadsheet are a table, any other text is Markdown."""
        return PASTED_CELLS if separator_of(text)[0] == "\t" else self.pasted_name

    def clean_recipe(self) -> str:
        """The recipe as it is stored. Files that bring their own passages are not cut, whatever it is."""
        written = self.cleaned_data["recipe"] or str(DEFAULT)
        if written == PARAGRAPHS:  # of the preview, which has fields for the two numbers
            written = f"{PARAGRAPHS}:{self.data.get('words') or 0}:{self.data.get('overlap') or 0}"
        try:
            return str(recipe_of(written))
        except ValueError as reason:
            raise forms.ValidationError(str(reason)) from reason

    def clean_columns(self) -> str:
        """What the columns are, as it is stored. The page sends each heading with its role, "" for those recognised."""
        sent = forms.SelectMultiple().value_from_datadict(self.data, self.files, "column")
        written = ",".join(filter(None, sent)) if sent else self.cleaned_data["columns"]
        return parsed(written, partial(named_columns, roles=SAID))

    def clean_also_text(self) -> str:
        """The endings of files that are read as text: those sent, with what a button adds or takes away."""
        data = self.data
        written = ",".join([self.cleaned_data["also_text"], data.get("more_text", "")])
        less = set(data.get("less_text", "").split(","))
        try:
            return document_reading.endings_in(
                ",".join(each for each in written.split(",") if each.strip() not in less)
            )
        except ValueError as reason:
            raise forms.ValidationError(str(reason)) from reason

    def _is_unchosen(self, name: str, value: str) -> bool:
        """Whether nobody has said how to read this file, so that the corpus decides.

        An upload says nothing that it leaves empty, and the preview nothing that was the other corpus's own when it now
        goes into this one.
        """
        if name not in self.data or not self.uploaded:
            return not self.data.get(name)
        before = self.initial.get("corpus")
        if before == self.data.get("corpus"):
            return False
        corpus = corpora_in(self.project).filter(slug=before).first()
        return value == (corpus.reading if corpus else {"recipe": str(DEFAULT)}).get(name, "")

    def clean(self) -> dict[str, Any]:
        values = super().clean()
        if corpus := corpora_in(self.project).filter(slug=values.get("corpus", "")).first():
            own = {
                name: value for name, value in corpus.reading.items() if self._is_unchosen(name, values.get(name, ""))
            }
            values |= own | ({} if own.get("recipe", "x") else {"recipe": str(DEFAULT)})
        if values.get("ids") == "position" and values.get("format") != "smart":
            self.add_error("ids", "Ids by position are for SMART files only.")
        return values


class PreparedBlocks(NamedTuple):
    """The passages of a file, compared with a corpus as it was after an audit event."""

    last_event: int
    before: CorpusState
    intake: BlockIntake
    rows: Iterable[BlockRow]
    errors: ErrorList


@register
class CorpusImport(ImportKind):
    name = "corpus"
    title = "Import documents"
    one = "block"
    many = "blocks"
    on_pages = "passage,passages"
    section = "Documents"
    samples = (
        SampleFile("hut-handbook.zip", "A folder of Markdown, HTML and text: the handbook of a mountain hut"),
        SampleFile("passages.jsonl", "The same handbook as passages with ids, JSONL"),
        SampleFile("passages.csv", "The same passages as CSV"),
        SampleFile("demo-passages.jsonl", "Handbook of the demo, 83 passages, JSONL", to_begin=True),
    )
    examples = (
        FormatExample(
            "JSONL",
            "block_id, document_id and text are needed; title, document_title, section, page_start, page_end and"
            " metadata are optional.",
            '{"block_id": "sec-4.2", "document_id": "security",\n "title": "Key rotation", "section": ["Access"],'
            '\n "page_start": 12, "text": "Keys are rotated …"}',
        ),
        FormatExample(
            "CSV",
            "The same names as columns; > divides the headings of section, and metadata.owner holds owner.",
            "block_id,document_id,title,section,page_start,text\n"
            'sec-4.2,security,Key rotation,Access > Keys,12,"Keys are rotated …"',
        ),
        FormatExample(
            "BEIR corpus.jsonl",
            "Each record is its own document.",
            '{"_id": "doc1", "title": "Key rotation", "text": "Keys are rotated …"}',
        ),
        FormatExample("SMART", "As Cranfield has it.", ".I 1\n.T\nkey rotation\n.W\nkeys are rotated …"),
    )
    form_class = CorpusImportForm

    def is_read_at_once(self, path: Path, name: str, options: dict[str, Any]) -> bool:
        with open_source(path, name=name) as source:
            are_read_as_documents = are_documents(source, options)
        if are_read_as_documents:
            return document_reading.is_read_at_once(path, name, document_reading.Choices.in_options(options))
        return super().is_read_at_once(path, name, options)

    def preview(self, file: FileToImport, progress: Progress) -> ImportPlan:
        project, source, options = file
        corpus = _corpus(project, options)
        errors = ErrorList()
        with _rows(source, errors, options, progress, beside=OFFERED) as rows:
            plan = plan_blocks(
                corpus=corpus, rows=rows, source=source, errors=errors, mode=options["mode"], progress=progress
            )
        plan = _with_figures(plan, rows, corpus.recipe if corpus else None)
        ask_for_text(plan, options.get("columns", ""))
        if corpus and (question := _about_emptying(plan, corpus, source, options)):
            plan.ask(question)
            plan.fixes += _instead_of_emptying(corpus, source.name, plan.counts["gone"])
        return plan

    @contextmanager
    def prepared(self, file: FileToImport, *, actor: User, at: datetime) -> Iterator[PreparedBlocks]:
        project, source, options = file
        last_event, errors = latest_key(), ErrorList()
        corpus = _filled(project, options)
        with prepared_writes() as writes, _rows(source, errors, options) as rows:
            before = jobs.state_of(_corpus(project, options))
            target = corpus or Corpus(pk=writes.reserve(Corpus, 1)[0])
            intake = BlockIntake(target, writes, mode=options["mode"], at=at)
            intake.read(rows, source, errors)
            yield PreparedBlocks(last_event, before, intake, rows, errors)

    def fits(self, project: Project, options: dict[str, Any], prepared: PreparedBlocks) -> bool:
        """Whatever changes passages writes an audit event with it."""
        is_same = not is_changed_since(project, prepared.last_event)
        return is_same and prepared.intake.is_valid()

    def apply(
        self, file: FileToImport, *, actor: User, at: datetime, prepared: PreparedBlocks | None = None
    ) -> ImportPlan:
        project, source, options = file
        corpus = _corpus(project, options)
        if corpus is None:
            corpus = corpora.create_corpus(project=project, name=options["name"], actor=actor, at=at)
        errors = prepared.errors if prepared else ErrorList()
        with nullcontext(prepared.rows) if prepared else _rows(source, errors, options) as rows:
            plan = corpora.import_blocks(
                corpus_id=corpus.pk,
                rows=rows,
                source=source,
                errors=errors,
                mode=options["mode"],
                recipe=lambda: rows.recipe if isinstance(rows, DocumentRows) else "",
                also_text=options.get("also_text", "") if isinstance(rows, DocumentRows) else "",
                base_url=options.get("base_url", "") if isinstance(rows, DocumentRows) else "",
                first_row=options.get("first_row", "") if isinstance(rows, DocumentRows) else "",
                columns=options.get("columns", "") if isinstance(rows, DocumentRows) else "",
                prepared=prepared.intake if prepared else None,
                actor=actor,
                at=at,
            )
        if question := _about_emptying(plan, corpus, source, options):
            raise InputErrors([question])
        return _with_figures(plan, rows)

    def fixes(self, source: TableFile, options: dict[str, Any]) -> list[Fix]:
        if options["format"] == AUTO:
            return _text_fixes(source, options)
        kind = document_reading.kind_of(source)
        if kind == options["format"]:
            return []
        if kind == ZIP:
            words = "The files of this folder are of several kinds."
            return [Fix("format:auto", words, "Read each as what it is", {"format": AUTO, "ids": "file"})]
        if kind not in KINDS:
            return []
        title = KINDS[kind].title.partition(",")[0]
        return [Fix(f"format:{kind}", f"This is {title}.", f"Import as {title}", {"format": kind, "ids": "file"})]

    def target(self, project: Project, options: dict[str, Any]) -> str:
        corpus = _corpus(project, options)
        return f"the corpus {corpus.name}" if corpus else f"a new corpus, {options['name']}"

    def corpus(self, project: Project, options: dict[str, Any]) -> Corpus | None:
        """The corpus that the options name; None when it does not exist yet."""
        return _corpus(project, options)

    def earlier(self, project: Project, options: dict[str, Any]) -> Snapshot | None:
        """The latest snapshot of the corpus that the options name, with its corpus."""
        corpora = _named(project, options).order_by()
        latest = Snapshot.objects.filter(corpus__in=corpora).select_related("corpus").order_by("-number").first()
        if latest is None:
            _corpus(project, options)  # which is not found where the options name one that is not there
        return latest

    def edition_of(self, item: Import) -> Corpus | None:
        corpus, before = _corpus(item.project, item.options), self.earlier(item.project, item.options)
        is_new = before is not None and item.applied_at is not None and item.applied_at > before.frozen_at
        return corpus if is_new and not item.result.get("changes_nothing") else None

    def rows(self, source: TableFile, options: dict[str, Any]) -> Iterator[BlockRow]:
        """The passages of a file that the preview found without mistakes."""
        with _rows(source, ErrorList(), options) as rows:
            yield from rows

    undoing = "This gives texts, titles and the recipe back as they were before."
    undone_until = "a snapshot is frozen"
    undone = "Everything is as it was before."

    def before(self, project: Project, options: dict[str, Any], prepared: PreparedBlocks | None = None) -> CorpusState:
        if prepared:
            return prepared.before
        corpus = _corpus(project, options)
        return jobs.state_of(corpora.locked(corpus.pk) if corpus else None)

    def remember(self, item: Import, before: CorpusState) -> None:
        corpus = _corpus(item.project, item.options)
        assert corpus is not None
        jobs.remember(item, corpus, before)

    def undo_refusal(self, item: Import) -> str | None:
        return _undo_refusal(item, _corpus(item.project, item.options))

    def undo(self, item: Import, *, actor: User, at: datetime) -> None:
        """Put back what the import changed. Whoever changed the corpus meanwhile is seen only with its lock."""
        found = _corpus(item.project, item.options)
        corpus = corpora.locked(found.pk) if found else None
        if reason := _undo_refusal(item, corpus):
            raise ImportRefused(reason, code="import_not_undone")
        assert corpus is not None  # the refusal has seen it
        jobs.put_back(item, corpus, at=at)

    def what_became(self, item: Import) -> str:
        corpus = _filled(item.project, item.options)
        if corpus is None or corpus.emptied_at is None:
            return self.undone
        return (
            f"{self.undone} The corpus {corpus.name}, which it made, is no longer listed; an import under this name"
            " fills it again."
        )

    def done_url(self, item: Import) -> str:
        return reverse("corpus:corpus", args=[item.project.slug, _slug(item.options)])


def _slug(options: dict[str, Any]) -> str:
    return slugify(options["name"])[:60] if options["corpus"] == NEW else options["corpus"]


def _corpus(project: Project, options: dict[str, Any]) -> Corpus | None:
    """The corpus in the options; None when it does not exist yet."""
    if options["corpus"] != NEW:
        return corpus_in(project, options["corpus"])
    return _named(project, options).first()


def _named(project: Project, options: dict[str, Any]) -> QuerySet[Corpus]:
    """The corpus in the options, if it exists: no new one takes the place of one that was emptied."""
    corpora = corpora_in(project) if options["corpus"] == NEW else Corpus.objects.filter(project=project)
    return corpora.filter(slug=_slug(options))


def _filled(project: Project, options: dict[str, Any]) -> Corpus | None:
    """The corpus that an import fills, also one that is not listed any more; None for one that it makes."""
    return Corpus.objects.filter(project=project, slug=_slug(options)).first()


def _undo_refusal(item: Import, corpus: Corpus | None) -> str | None:
    return corpus_undo_refusal(item, corpus, is_changed_since=jobs.changed_since(item, corpus))


def site_address(written: str) -> str:
    """The address of a site as it is stored; "" for none. Raises ValidationError for anything else."""
    address: str = CorpusImportForm.base_fields["base_url"].clean(written)
    return address


def are_documents(source: TableFile, options: dict[str, Any]) -> bool:
    """Whether a file is read as documents, of the kind that the person named where they named one.

    A single file of one of the forms that bring passages is read as such; positions count in one file only.
    """
    return options["format"] not in FORMATS or (options["ids"] == "file" and document_reading.is_archive(source))


def _text_fixes(source: TableFile, options: dict[str, Any]) -> list[Fix]:
    """For an upload of which nothing can be read: to read as text what no reader knows."""
    choices = document_reading.Choices.in_options(options)
    with document_reading.documents_in(source, choices) as items:
        endings = [item.text_ending for item in items if isinstance(item, UnreadFile) and item.text_ending]
    if not endings:
        return []
    files = plural(len(endings), "file")
    words = f"No reader knows {files}, which can be read as text."
    also_text = ",".join(sorted({*endings, *filter(None, choices.also_text.split(","))}))
    return [Fix("also_text", words, f"Read {files} as text", {"also_text": also_text})]


@contextmanager
def _rows(
    source: TableFile,
    errors: ErrorList,
    options: dict[str, Any],
    progress: Progress = lambda done: None,
    *,
    beside: Iterable[Recipe] = (),
) -> Iterator[Iterable[BlockRow]]:
    if not are_documents(source, options):
        yield read_blocks(source, errors, format=options["format"], ids=options["ids"])
        return
    choices = document_reading.Choices.in_options(options)
    with document_reading.documents_in(source, choices, progress) as items:
        recipe = document_reading.recipe_in(options)
        yield DocumentRows(items, recipe, choices.base_url, source.name, errors, beside=beside)


def _about_emptying(plan: ImportPlan, corpus: Corpus, source: TableFile, options: dict[str, Any]) -> InputError | None:
    """What is asked of files that have nothing in common with the corpus whose passages they would all remove."""
    if not plan.removes_all or options.get(EMPTIES) == corpus.slug:
        return None
    gone = plan.counts["gone"]
    removed = "its 1 passage" if gone == 1 else f"all its {gone:,} passages"
    message = (
        f"No document of this file is in {corpus.name}, and {removed} would be removed. Import it as a new corpus, let"
        " what is there stay, or say that it goes."
    )
    return source.error(None, "", "", message)


def _instead_of_emptying(corpus: Corpus, file_name: str, gone: int) -> list[Fix]:
    name = free_name(corpus.project, file_name)
    stays = f"{corpus.name} keeps what it has, and this file is added to it."
    goes = f"This file is all of {corpus.name} from now on. Snapshots keep what is removed."
    every = "Remove 1 passage" if gone == 1 else f"Remove all {gone:,} passages"
    return [
        Fix("new", f"It becomes a corpus of its own, {name}.", "Make a new corpus", {"corpus": NEW, "name": name}),
        Fix("merge", stays, f"Add it to {corpus.name}", {"mode": str(ImportMode.MERGE)}),
        Fix("empty", goes, every, {EMPTIES: corpus.slug}),
    ]


def _what_changes(plan: ImportPlan) -> list[dict[str, str]]:
    """Some of the passages that change, changed ones first; none where all are new or cut anew."""
    return sorted(plan.samples, key=lambda sample: sample["change"] != "changed") if plan.counts["unchanged"] else []


def _with_figures(plan: ImportPlan, rows: Iterable[BlockRow], recipe_before: str | None = None) -> ImportPlan:
    """The plan with what is to be said of documents, and of a recipe that changes."""
    recipe = ""
    if isinstance(rows, DocumentRows):
        recipe = rows.recipe
        plan.notes = [*rows.notes(), *plan.notes]
        plan.extra = {**rows.as_json(), "changes": _what_changes(plan)}
    if recipe_before not in {None, recipe} and plan.counts["gone"] + plan.counts["unchanged"] + plan.counts["changed"]:
        plan.notes.insert(0, recut_note(recipe_before or "", recipe))
    return plan
