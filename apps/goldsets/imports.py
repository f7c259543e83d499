"""The form and the import kind of training manifests."""

from collections import Counter
from datetime import datetime
from typing import Any

from django import forms
from django.urls import reverse

from apps.accounts.models import Project, User
from apps.common.errors import InputErrors
from apps.common.files.faults import ErrorList
from apps.common.text.wording import plural
from apps.corpus.core.import_plans import SAMPLE_LENGTH, UNTOUCHED, ImportPlan
from apps.corpus.forms import PastedImportForm
from apps.corpus.models import Import
from apps.corpus.selectors.import_kinds import FileToImport, FormatExample, ImportKind, Progress, register
from apps.goldsets import rules
from apps.goldsets.actions.training import add_training_manifest, retire_training_manifest
from apps.goldsets.core.training import Entry, counted_entries, entries_digest
from apps.goldsets.enums import EntryKind
from apps.goldsets.formats.training import AUTO, FORMATS, IDS, read_entries
from apps.goldsets.models import TrainingManifest
from apps.goldsets.selectors.training import KnownQuestion, live_manifests, questions_in

CHOICES = {AUTO: "Recognise it", **FORMATS}
FORMAT_CHOICES, ID_CHOICES = list(CHOICES.items()), list(IDS.items())
NEW = "new"
SHOWN = 20


class TrainingImportForm(PastedImportForm):
    name = forms.CharField(max_length=120, help_text="What was trained on it: Ranker of May 2026.")
    format = forms.ChoiceField(label="File format", choices=FORMAT_CHOICES, initial=AUTO)
    ids = forms.ChoiceField(
        label="Ids in a list are of",
        choices=ID_CHOICES,
        initial=EntryKind.QUESTION,
        help_text="For a plain list. JSON lines and CSV say it in their fields.",
    )
    folded = ("ids",)
    folded_title = "For a list with ids of passages or documents."
    field_order = ["file", "pasted", "name", "format", "ids"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.uploaded:
            self.fields["file"].help_text = "JSON lines, CSV, or a list; plain or gzip."
            self.fields["pasted"].help_text = "One id or text hash a line."

    def clean_name(self) -> str:
        name = " ".join(self.cleaned_data["name"].split())
        if reason := rules.training_name_refusal(self.project, name):
            raise forms.ValidationError(reason)
        return name


@register
class TrainingImport(ImportKind):
    name = "training"
    title = "Import training manifest"
    one = "entry"
    many = "entries"
    section = "Versions"
    examples = (
        FormatExample(
            "A list",
            "One id of a query or a Q&A, or one text hash, a line. karat hash-texts questions.txt prints the hashes of"
            " texts, so that nobody needs to show the texts.",
            "Q001\n8d7c3a15f2a04b6c1e39d0f7528b6a4c9e1f3d7b5a20c8e4f6192b3d4c5e6f70",
        ),
        FormatExample(
            "JSON lines",
            "query_id, triple_id, block_id, document_id, sha256 or text, one or several. Of a text only the hash of its"
            " words is kept.",
            '{"query_id": "Q001", "block_id": "sec-4.2"}\n{"text": "How often are keys rotated?"}',
        ),
        FormatExample("CSV", "The same names as columns; empty cells count for nothing.", "query_id,block_id\nQ001,"),
    )
    form_class = TrainingImportForm
    undoing = "This retires the manifest: it is kept, and no draft is checked against it any more."
    undone_until = "it is retired"
    undone = "The manifest is retired: no draft is checked against it."

    @property
    def contents(self) -> str:
        return "training manifests"

    def preview(self, file: FileToImport, progress: Progress) -> ImportPlan:
        plan, entries = _plan(file.in_utf8())
        progress(len(entries))
        return plan

    def apply(self, file: FileToImport, *, actor: User, at: datetime, prepared: None = None) -> ImportPlan:
        plan, entries = _plan(file.in_utf8())
        if plan.errors:
            raise InputErrors(list(plan.errors), capped=plan.errors.unlisted > 0)
        if not plan.changes_nothing:
            add_training_manifest(
                project=file.project,
                name=file.options["name"],
                file=file.source.name,
                entries=entries.keys(),
                actor=actor,
                at=at,
            )
        return plan

    def undo_refusal(self, item: Import) -> str | None:
        manifest = _made_by(item)
        return rules.retire_training_refusal(manifest) if manifest else "It added no manifest, so nothing is undone."

    def undo(self, item: Import, *, actor: User, at: datetime) -> None:
        manifest = _made_by(item)
        assert manifest is not None  # the refusal has seen it
        retire_training_manifest(manifest_id=manifest.pk, actor=actor, at=at)

    def target(self, project: Project, options: dict[str, Any]) -> str:
        return "the training manifests of this project"

    def done_url(self, item: Import) -> str:
        return reverse("goldsets:training", args=[item.project.slug])


def _made_by(item: Import) -> TrainingManifest | None:
    """The manifest that an applied import has added; it gave it its own time and person."""
    assert item.applied_at is not None
    found = TrainingManifest.objects.filter(project=item.project, added_by=item.applied_by, added_at=item.applied_at)
    return found.first()


def _plan(file: FileToImport) -> tuple[ImportPlan, dict[Entry, int]]:
    project, source, options = file
    errors = ErrorList()
    entries = read_entries(source, errors, format=options["format"], ids=options["ids"])
    plan = ImportPlan([NEW, UNTOUCHED])
    plan.rows = len(entries)
    digest = entries_digest(entries)
    same = next((each for each in live_manifests(project) if each.digest == digest), None)
    plan.counts[UNTOUCHED if same else NEW] = len(entries)
    if same:
        plan.notes.append(f"“{same.name}” lists exactly the same and is in use.")
    plan.notes.append(f"{counted_entries(Counter(entry.kind for entry in entries))}.")
    if repeated := sum(entries.values()) - len(entries):
        lines = plural(repeated, "line repeats an entry", "lines repeat an entry")
        plan.notes.append(f"{lines}; each entry counts once.")
    if not errors:
        _show_known(plan, questions_in(project, entries))
    plan.take_errors(errors)
    return plan, entries


def _show_known(plan: ImportPlan, known: list[KnownQuestion]) -> None:
    """What of the project's questions the list has, and which of them are in test of a version."""
    if not known:
        plan.notes.append("None of the queries and accepted Q&As of this project is in it.")
        return
    has, them = (
        ("1 query or Q&A of this project is", "it")
        if len(known) == 1
        else (f"{len(known):,} queries and Q&As of this project are", "each of them")
    )
    plan.notes.append(f"{has} in it. The next draft puts {them} into dev, unless a version has it in test.")
    if tested := [each.name for each in known if each.in_test_of]:
        named = ", ".join(tested[:SHOWN]) + (f" and {len(tested) - SHOWN:,} more" if len(tested) > SHOWN else "")
        is_ = "This one is" if len(tested) == 1 else f"These {len(tested):,} are"
        block = "blocks the next freeze until it is" if len(tested) == 1 else "block the next freeze until they are"
        plan.notes.append(f"{is_} in test of a version, and {block} retired: {named}.")
    for each in known[:SHOWN]:
        where = f", in test of {', '.join(each.in_test_of)}" if each.in_test_of else ""
        text = each.text if len(each.text) <= SAMPLE_LENGTH else f"{each.text[:SAMPLE_LENGTH].rstrip()}…"
        side = "in test" if each.in_test_of else "goes to dev"
        plan.samples.append({"change": side, "id": each.name, "title": f"Known {each.words}{where}", "text": text})
