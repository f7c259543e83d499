"""The edition that an import in its preview would make."""

from apps.common.files.tabular import open_source
from apps.corpus.edges.imports import CorpusImport
from apps.corpus.models import Corpus, Import, Snapshot
from apps.editions import rules
from apps.editions.selectors.editions import Edition, planned
from apps.jobs.execution.uploaded import file_of


def corpus_of(item: Import) -> Corpus | None:
    """The corpus of an import of passages; None for other kinds, and for a corpus that does not exist yet."""
    return CorpusImport().corpus(item.project, item.options) if item.kind == CorpusImport.name else None


def snapshot_before_import(item: Import) -> Snapshot | None:
    """The snapshot that an import is compared with: the latest of its corpus."""
    before = CorpusImport().earlier(item.project, item.options) if item.kind == CorpusImport.name else None
    if before is not None:
        before.corpus.project = item.project
    return before


def import_edition_refusal(item: Import) -> str | None:
    """Why this import has no edition to show."""
    return rules.import_refusal(item, snapshot_before_import(item))


def planned_edition(item: Import, before: Snapshot) -> Edition:
    """The edition that an import makes beside this snapshot, where `import_refusal` has nothing against it.

    Reads its file.
    """
    with open_source(file_of(item.upload), name=item.upload.filename) as source:
        rows = CorpusImport().rows(source, item.options)
        return planned(before, before.corpus, rows, item.options["mode"])
