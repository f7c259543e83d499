"""The import of collections: its form, its preview, which writes nothing, and the kind for page, API and commands."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django import forms
from django.urls import reverse

from apps.accounts.models import Project, User
from apps.common.errors import InputError, InputErrors
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.common.web.forms import parsed
from apps.corpus.core.import_plans import ImportPlan
from apps.corpus.enums import ImportMode
from apps.corpus.execution.freezing import snapshot_alike
from apps.corpus.execution.import_reading import ImportRefused
from apps.corpus.forms import FilesField
from apps.corpus.imports.api import NEW as NEW_CORPUS
from apps.corpus.imports.api import CorpusTargetForm
from apps.corpus.imports.documents import CorpusImport, PreparedBlocks
from apps.corpus.models import Block, Import, Snapshot
from apps.corpus.selectors.import_kinds import (
    FileToImport,
    FormatExample,
    ImportKind,
    Progress,
    SampleFile,
    kind_named,
    register,
)
from apps.judging.actions import imports
from apps.judging.actions.imports import import_collection
from apps.judging.execution.collection_files import (
    CORPUS,
    JUDGEMENTS,
    QUERIES,
    WORDS,
    Collection,
    CollectionPart,
    CountedGrades,
    KnownIds,
    PlannedReader,
    collection_at,
    joined,
)
from apps.judging.execution.judgement_import import drafted
from apps.judging.formats.judgements import parse_grade_map
from apps.judging.imports.judgements import is_imported
from apps.judging.imports.previews import HERE, NEW, plan_of_draft, without_unknown
from apps.queries.formats import read_queries
from apps.queries.models import Query

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
        self.fields["corpus"].initial = NEW_CORPUS  # into another one it would take the place of what is there

    def clean_splits(self) -> str:
        splits = [split.strip() for split in self.cleaned_data["splits"].split(",") if split.strip()]
        if not splits and "choose_splits" in self.data:
            raise forms.ValidationError("Choose at least one split.")
        return ",".join(dict.fromkeys(splits))

    def clean_grades(self) -> str:
        return parsed(self.cleaned_data["grades"], parse_grade_map)


class CollectionPreview:
    """The plan of a collection in a project, part by part. Raises InputErrors for a split that is not there."""

    def __init__(
        self, project: Project, collection: Collection, options: Mapping[str, Any], progress: Progress
    ) -> None:
        self.project = project
        self.collection = collection
        self.options = dict(options)
        self._progress = progress
        self._corpus_options = collection.corpus_options(options)
        self._queries_options = collection.queries_options()
        self._done = self._unknown = 0
        self._grades = CountedGrades(parse_grade_map(options["grades"]) if options["grades"] else None)

    def plan(self) -> ImportPlan:
        """Of a collection whose passages or queries have mistakes, the judgements are not read: few would fit."""
        collection, paths = self.collection, self.collection.paths
        splits = collection.splits(self.options["splits"])
        parts = [
            CollectionPart(CORPUS, paths.corpus, self._planned(CorpusImport(), paths.corpus, self._corpus_options)),
            CollectionPart(
                QUERIES, paths.queries, self._planned(kind_named(QUERIES), paths.queries, self._queries_options)
            ),
        ]
        is_sound = not any(part.plan and part.plan.errors for part in parts)
        judged = self._judged(splits, parts[0]) if is_sound else {}
        parts += [CollectionPart(JUDGEMENTS, path, judged.get(split), split) for split, path in paths.qrels.items()]
        whole = joined(
            parts,
            splits=[{"name": split, "is_chosen": split in splits} for split in paths.qrels],
            grades=self._grades.as_rows(self.project.grades),
            scale=[[entry["grade"], entry["name"]] for entry in self.project.scale],
        )
        faulty = [plan for plan in judged.values() if plan.errors]
        if faulty and all(plan.fixes for plan in faulty):  # each could leave out its unknown rows, so all can
            whole.fixes.append(without_unknown(sum(plan.rows for plan in judged.values()), self._unknown))
        return whole

    def _planned(self, kind: ImportKind, path: str, chosen: dict[str, Any]) -> ImportPlan:
        before = self._done
        plan = ImportPlan(WORDS)
        try:
            with self.collection.opened(path) as source:
                file = FileToImport(self.project, source, chosen)
                plan = kind.preview(file, lambda done: self._progress(before + done))
                if not (plan.rows or plan.errors):
                    plan.errors.add(source.error(None, "", "", f"the file contains no {kind.one}"))
        except (InputError, InputErrors) as fault:
            for error in fault.errors if isinstance(fault, InputErrors) else [fault]:
                plan.errors.add(error)
        self._done += plan.rows
        return plan

    def _judged(self, splits: list[str], corpus: CollectionPart) -> dict[str, ImportPlan]:
        """The plans of the chosen splits."""
        queries, passages = self._known_queries(), self._known_passages()
        snapshot = self._snapshot(corpus)
        plans = {}
        for split in splits:
            with self.collection.opened(self.collection.paths.qrels[split]) as source:
                reader = PlannedReader(self.project, source, queries=queries, passages=passages)
                draft = drafted(
                    reader,
                    snapshot.digest if snapshot else "",
                    format=self.collection.judgements_format(split),
                    grades=self._grades,
                )
            is_here = snapshot is not None and is_imported(self.project, draft)
            plans[split] = plan_of_draft(draft, self.options, HERE if is_here else NEW)
            self._unknown += draft.unknown
            self._done += len(draft.rows)
            self._progress(self._done)
        return plans

    def _known_queries(self) -> KnownIds:
        paths, chosen = self.collection.paths, self._queries_options
        with self.collection.opened(paths.queries) as source:
            rows = read_queries(source, ErrorList(), format=chosen["format"])
            return KnownIds((row.query_id for row in rows), Query.objects.filter(project=self.project))

    def _known_passages(self) -> KnownIds:
        """Those of the file, and where it is not the whole corpus those that stay."""
        corpus = CorpusImport().corpus(self.project, self._corpus_options)
        stays = corpus is not None and self.options["mode"] == ImportMode.MERGE
        blocks = Block.objects.filter(corpus=corpus, current__isnull=False) if stays else Block.objects.none()
        with self.collection.opened(self.collection.paths.corpus) as source:
            rows = CorpusImport().rows(source, self._corpus_options)
            return KnownIds((row.block_id for row in rows), blocks)

    def _snapshot(self, part: CollectionPart) -> Snapshot | None:
        """The snapshot that the judgements would be of, where it is here already."""
        corpus = CorpusImport().corpus(self.project, self._corpus_options)
        if corpus is None or part.plan is None or not part.plan.changes_nothing:
            return None
        return snapshot_alike(corpus)


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
    undone_until = "a version, another round or a decision uses its grades"
    undone = "Its grades count nowhere. They stay on record, with its passages, their snapshot and its queries."

    @property
    def contents(self) -> str:
        return "collections"

    def preview(self, file: FileToImport, progress: Progress) -> ImportPlan:
        with _collection(file.source) as collection:
            return CollectionPreview(file.project, collection, file.options, progress).plan()

    @contextmanager
    def prepared(self, file: FileToImport, *, actor: User, at: datetime) -> Iterator[PreparedBlocks]:
        """The passages, which are most of a collection, compared with the corpus."""
        with _collection(file.source) as collection, collection.opened(collection.paths.corpus) as passages:
            corpus_file = FileToImport(file.project, passages, collection.corpus_options(file.options))
            with CorpusImport().prepared(corpus_file, actor=actor, at=at) as blocks:
                yield blocks

    def fits(self, project: Project, options: dict[str, Any], prepared: PreparedBlocks) -> bool:
        return CorpusImport().fits(project, options, prepared)

    def apply(
        self, file: FileToImport, *, actor: User, at: datetime, prepared: PreparedBlocks | None = None
    ) -> ImportPlan:
        with _collection(file.source) as collection:
            return import_collection(
                project=file.project,
                collection=collection,
                options=file.options,
                actor=actor,
                at=at,
                prepared=prepared,
            )

    def undo_refusal(self, item: Import) -> str | None:
        return imports.undo_refusal(item) if imports.rounds_of(item).exists() else WITHOUT_GRADES

    def undo(self, item: Import, *, actor: User, at: datetime) -> None:
        if not imports.rounds_of(item).exists():
            raise ImportRefused(WITHOUT_GRADES, code="import_not_undone")
        imports.withdraw(item, actor=actor, at=at)

    def target(self, project: Project, options: dict[str, Any]) -> str:
        return CorpusImport().target(project, options)

    def done_url(self, item: Import) -> str:
        return reverse("judging:index", args=[item.project.slug])


@contextmanager
def _collection(source: TableFile) -> Iterator[Collection]:
    if source.path is None:
        raise source.error(None, "", "", "a collection is read from a file or folder only, not from standard input")
    with collection_at(source.path, source.name) as collection:
        yield collection
