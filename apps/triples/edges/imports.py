"""The import of triples, for pages and the command line."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django import forms
from django.urls import reverse

from apps.accounts.models import Project, User
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.common.web.forms import offer
from apps.corpus.core.import_plans import ImportPlan
from apps.corpus.forms import ImportForm
from apps.corpus.models import Corpus
from apps.corpus.selectors.corpora import corpora_in, corpus_in
from apps.corpus.selectors.import_kinds import FormatExample, ImportKind, Progress, register
from apps.triples.actions.imports import import_triples
from apps.triples.execution.ingest import plan_entries
from apps.triples.formats import FORMATS, EntryRecord, read_entries
from apps.triples.selectors.entry_comparison import EntryComparison

LONGEST_MACHINE = 200


class TripleImportForm(ImportForm):
    format = forms.ChoiceField(label="File format", choices=list(FORMATS.items()))
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
    field_order = ["file", "format", "corpus", "machine"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = [(corpus.slug, corpus.name) for corpus in corpora_in(self.project)]
        offer(self, "corpus", [("", "the snapshot of each entry, else the newest"), *known])


@register
class TripleImport(ImportKind):
    name = "triples"
    title = "Import Q&As"
    one = "triple"
    many = "triples"
    on_pages = "Q&A,Q&As"
    section = "Q&A"
    examples = (
        FormatExample(
            "JSONL",
            "question, expected_answer and the block_id of expected_block are required. Every entry becomes a draft of"
            " yours; its earlier authors and reviewers are stored as claims of the file.",
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

    def preview(self, project: Project, source: TableFile, options: dict[str, Any], progress: Progress) -> ImportPlan:
        errors = ErrorList()
        comparison = EntryComparison(
            project=project,
            file=source,
            errors=errors,
            corpus=_corpus(project, options),
            machine=options.get("machine", ""),
        )
        return plan_entries(comparison, _rows(source, errors, options), progress)

    def apply(
        self, project: Project, source: TableFile, options: dict[str, Any], *, actor: User, at: datetime
    ) -> ImportPlan:
        errors = ErrorList()
        return import_triples(
            project=project,
            rows=_rows(source, errors, options),
            file=source,
            errors=errors,
            corpus=_corpus(project, options),
            machine=options.get("machine", ""),
            actor=actor,
            at=at,
        )

    def target(self, project: Project, options: dict[str, Any]) -> str:
        return "the candidates of this project" if options.get("machine") else "your drafts"

    def done_url(self, project: Project, options: dict[str, Any]) -> str:
        return reverse("triples:candidates" if options.get("machine") else "triples:mine", args=[project.slug])


def _corpus(project: Project, options: dict[str, Any]) -> Corpus | None:
    return corpus_in(project, options["corpus"]) if options.get("corpus") else None


def _rows(source: TableFile, errors: ErrorList, options: dict[str, Any]) -> Iterator[EntryRecord]:
    return read_entries(source, errors, format=options["format"])
