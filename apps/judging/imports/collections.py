"""The preview of a collection: what each of its files would bring. It writes nothing, not even to take it back."""

from collections.abc import Mapping
from typing import Any

from apps.accounts.models import Project
from apps.common.errors import InputError, InputErrors
from apps.common.files.faults import ErrorList
from apps.corpus.core.import_plans import ImportPlan
from apps.corpus.enums import ImportMode
from apps.corpus.execution.freezing import snapshot_alike
from apps.corpus.imports.documents import CorpusImport
from apps.corpus.models import Block, Snapshot
from apps.corpus.selectors.import_kinds import ImportKind, Progress, kind_named
from apps.judging.core.collection_parts import CORPUS, JUDGEMENTS, QUERIES, WORDS, CollectionPart, joined
from apps.judging.execution.collection_files import Collection, CountedGrades, KnownIds, PlannedReader
from apps.judging.execution.judgement_import import drafted
from apps.judging.formats.judgements import parse_grade_map
from apps.judging.imports.judgements import HERE, NEW, is_imported, plan_of_draft, without_unknown
from apps.queries.formats import read_queries
from apps.queries.models import Query


class CollectionPreview:
    """The plan of a collection in a project, part by part."""

    def __init__(
        self, project: Project, collection: Collection, options: Mapping[str, Any], progress: Progress
    ) -> None:
        self.project = project
        self.collection = collection
        self.options = dict(options)
        self._progress = progress
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

    @property
    def _corpus_options(self) -> dict[str, Any]:
        return self.collection.corpus_options(self.options)

    @property
    def _queries_options(self) -> dict[str, Any]:
        return self.collection.queries_options()

    def _planned(self, kind: ImportKind, path: str, chosen: dict[str, Any]) -> ImportPlan:
        before = self._done
        plan = ImportPlan(WORDS)
        try:
            with self.collection.opened(path) as source:
                plan = kind.preview(self.project, source, chosen, lambda done: self._progress(before + done))
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


def preview_collection(
    project: Project, collection: Collection, options: Mapping[str, Any], progress: Progress = lambda done: None
) -> ImportPlan:
    """What importing a collection would do, with its mistakes. Raises InputErrors for a split that is not there."""
    return CollectionPreview(project, collection, options, progress).plan()
