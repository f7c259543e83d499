"""The import of collections, its upload form, and its API: the same steps as on the pages."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django import forms
from django.urls import reverse

from apps.accounts.models import Project, User
from apps.common.files.tabular import TableFile
from apps.corpus.core.import_plans import ImportPlan
from apps.corpus.execution.import_reading import ImportRefused
from apps.corpus.forms import FilesField
from apps.corpus.imports.api import NEW, CorpusTargetForm
from apps.corpus.imports.documents import CorpusImport, PreparedBlocks
from apps.corpus.models import Import
from apps.corpus.selectors.import_kinds import FormatExample, ImportKind, Progress, SampleFile, register
from apps.judging.actions import undoing
from apps.judging.actions.collections import import_collection
from apps.judging.execution.collection_files import Collection, collection_at
from apps.judging.formats.judgements import parse_grade_map
from apps.judging.imports.collections import preview_collection

WITHOUT_GRADES = (
    "It brought no grades that could be withdrawn, and its passages are in a snapshot, which never changes. Import the"
    " earlier files instead."
)


class GradesInput(forms.TextInput):
    """A grade map as text, or as the preview sends it: each grade of the files, and what it becomes."""

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        if "grade_in_file" not in data:
            return super().value_from_datadict(data, files, name)
        chosen = zip(data.getlist("grade_in_file"), data.getlist("grade_here"), strict=False)
        pairs = [(written, here) for written, here in chosen if here]
        return "" if all(written == here for written, here in pairs) else ",".join("=".join(pair) for pair in pairs)


class SplitsInput(forms.TextInput):
    """Names of splits as text, or as the preview sends them: one value for each."""

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        return ",".join(data.getlist(name)) if hasattr(data, "getlist") else data.get(name)


class CollectionForm(CorpusTargetForm):
    """The folder, into which corpus, which splits of it, and what its grades become."""

    file = FilesField(label="Drop the folder or its zip here")
    drop_heading = "Your collection"
    drop_words = (
        "A folder as BEIR or MTEB have it: corpus.jsonl, queries.jsonl and judgements in qrels/test.tsv; or one Parquet"
        " file for each in corpus/, queries/ and data/. Other files are left alone."
    )
    splits = forms.CharField(
        required=False,
        max_length=2_000,
        widget=SplitsInput,
        help_text="Whose judgements count: test, or dev,test. Empty: all.",
    )
    grades = forms.CharField(
        label="Grade map",
        required=False,
        max_length=2_000,
        widget=GradesInput,
        help_text="If the collection uses other grades: 1=3,2=2,3=1,-1=skip. List every grade of its files.",
    )
    skip_unknown = forms.BooleanField(
        label="Leave out judgements with an unknown query or passage",
        required=False,
        help_text="Otherwise such rows block the import and are listed.",
    )
    field_order = ["file", "corpus", "name", "mode", "splits", "grades", "skip_unknown"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["corpus"].initial = NEW  # into another one it would take the place of what is there

    def clean_splits(self) -> str:
        splits = [split.strip() for split in self.cleaned_data["splits"].split(",") if split.strip()]
        if not splits and "choose_splits" in self.data:
            raise forms.ValidationError("Choose at least one split.")
        return ",".join(dict.fromkeys(splits))

    def clean_grades(self) -> str:
        written: str = self.cleaned_data["grades"]
        try:
            parse_grade_map(written) if written else None
        except ValueError as fault:
            message = str(fault)
            raise forms.ValidationError(f"{message[:1].upper()}{message[1:]}.") from fault
        return written


@register
class CollectionImport(ImportKind):
    name = "collection"
    title = "Import a collection"
    one = "row"
    many = "rows"
    section = "Documents"
    samples = (SampleFile("hut-collection.zip", "The hut's handbook, four queries and six grades, as a BEIR folder"),)
    examples = (
        FormatExample(
            "BEIR",
            "A folder, or a zip of it. Each file in qrels is a split and becomes a closed round.",
            "scifact/\n  corpus.jsonl\n  queries.jsonl\n  qrels/\n    train.tsv\n    test.tsv",
        ),
        FormatExample(
            "MTEB, as Hugging Face has it",
            "One file for each part, Parquet or JSONL; parts of several files have to be joined first.",
            "corpus/\n  test-00000-of-00001.parquet\nqueries/\n  test-00000-of-00001.parquet\n"
            "data/\n  test-00000-of-00001.parquet",
        ),
        FormatExample("corpus.jsonl", "", '{"_id": "doc1", "title": "Key rotation", "text": "Keys are rotated …"}'),
        FormatExample("queries.jsonl", "", '{"_id": "Q001", "text": "how often are keys rotated"}'),
        FormatExample("qrels/test.tsv", "Separated by tabs.", "query-id\tcorpus-id\tscore\nQ001\tdoc1\t1"),
    )
    form_class = CollectionForm
    undoing = (
        "This withdraws the grades of all its splits: they count nowhere, in no version and no figure. They stay on"
        " record; so do its passages and their snapshot, which never changes, and its queries."
    )
    undone_until = "a version, another round or a decision rests on its grades"
    undone = "Its grades count nowhere. They stay on record, with its passages, their snapshot and its queries."

    @property
    def contents(self) -> str:
        return "collections"

    def preview(self, project: Project, source: TableFile, options: dict[str, Any], progress: Progress) -> ImportPlan:
        with _collection(source) as collection:
            return preview_collection(project, collection, options, progress)

    @contextmanager
    def prepared(
        self, project: Project, source: TableFile, options: dict[str, Any], *, actor: User, at: datetime
    ) -> Iterator[PreparedBlocks]:
        """The passages, which are most of a collection, compared with the corpus."""
        with _collection(source) as collection, collection.opened(collection.paths.corpus) as passages:
            chosen = collection.corpus_options(options)
            with CorpusImport().prepared(project, passages, chosen, actor=actor, at=at) as blocks:
                yield blocks

    def fits(self, project: Project, options: dict[str, Any], prepared: PreparedBlocks) -> bool:
        return CorpusImport().fits(project, options, prepared)

    def apply(
        self,
        project: Project,
        source: TableFile,
        options: dict[str, Any],
        *,
        actor: User,
        at: datetime,
        prepared: PreparedBlocks | None = None,
    ) -> ImportPlan:
        with _collection(source) as collection:
            return import_collection(
                project=project, collection=collection, options=options, actor=actor, at=at, prepared=prepared
            )

    def undo_refusal(self, item: Import) -> str | None:
        return undoing.undo_refusal(item) if undoing.rounds_of(item).exists() else WITHOUT_GRADES

    def undo(self, item: Import, *, actor: User, at: datetime) -> None:
        if not undoing.rounds_of(item).exists():
            raise ImportRefused(WITHOUT_GRADES, code="import_not_undone")
        undoing.withdraw(item, actor=actor, at=at)

    def target(self, project: Project, options: dict[str, Any]) -> str:
        return CorpusImport().target(project, options)

    def done_url(self, project: Project, options: dict[str, Any]) -> str:
        return reverse("judging:index", args=[project.slug])


@contextmanager
def _collection(source: TableFile) -> Iterator[Collection]:
    if source.path is None:
        raise source.error(None, "", "", "a collection is read from a file or folder only, not from standard input")
    with collection_at(source.path, source.name) as collection:
        yield collection
