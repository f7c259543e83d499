"""The edition that an import in its preview would make."""

from apps.common.files.tabular import open_source
from apps.corpus.edges.imports import CorpusImport
from apps.corpus.models import Corpus, Import
from apps.corpus.selectors.corpora import latest_snapshot
from apps.editions import rules
from apps.editions.selectors.editions import Edition, planned


def corpus_of(item: Import) -> Corpus | None:
    """The corpus of an import of passages; None for other kinds, and for a corpus that does not exist yet."""
    return CorpusImport().corpus(item.project, item.options) if item.kind == CorpusImport.name else None


def import_edition_refusal(item: Import) -> str | None:
    """Why this import has no edition to show."""
    corpus = corpus_of(item)
    return rules.import_refusal(item, latest_snapshot(corpus) if corpus else None)


def planned_edition(item: Import) -> Edition:
    """The edition of an import that `import_edition_refusal` has nothing against. Reads its file."""
    corpus = corpus_of(item)
    assert corpus is not None
    before = latest_snapshot(corpus)
    assert before is not None
    with open_source(item.upload.file, name=item.upload.filename) as source:
        rows = CorpusImport().rows(source, item.options)
        return planned(before, corpus, rows, item.options["mode"])
