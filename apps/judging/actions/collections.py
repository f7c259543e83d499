"""Importing a collection: its passages, which are frozen, its queries, and the judgements of its splits."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from apps.accounts.models import Project, User
from apps.corpus.core.import_plans import ImportPlan
from apps.corpus.execution.freezing import snapshot_as_it_is
from apps.corpus.imports.documents import CorpusImport, PreparedBlocks
from apps.corpus.selectors.import_kinds import kind_named
from apps.judging.core.collection_parts import CORPUS, JUDGEMENTS, QUERIES, CollectionPart, joined
from apps.judging.execution.collection_files import Collection


@transaction.atomic
def import_collection(
    *,
    project: Project,
    collection: Collection,
    options: Mapping[str, Any],
    actor: User,
    at: datetime,
    prepared: PreparedBlocks | None = None,
) -> ImportPlan:
    """Import a collection, all of it or nothing: each file as its own kind of import would, and a snapshot between.

    A corpus that is what a snapshot already has is not frozen again. `prepared` has the passages compared already. The
    plan has what came of each part, and the snapshot. Raises InputErrors.
    """

    def apply(kind: str, path: str, chosen: dict[str, Any], prepared: Any = None) -> ImportPlan:
        with collection.opened(path) as source:
            return kind_named(kind).apply(project, source, chosen, actor=actor, at=at, prepared=prepared)

    paths, chosen = collection.paths, collection.corpus_options(options)
    splits = collection.splits(options["splits"])
    parts = [
        CollectionPart(CORPUS, paths.corpus, apply(CORPUS, paths.corpus, chosen, prepared)),
        CollectionPart(QUERIES, paths.queries, apply(QUERIES, paths.queries, collection.queries_options())),
    ]
    corpus = CorpusImport().corpus(project, chosen)
    assert corpus is not None  # it was made or filled just now
    snapshot = snapshot_as_it_is(corpus_id=corpus.pk, actor=actor, at=at)
    for split in splits:
        judged = apply(JUDGEMENTS, paths.qrels[split], collection.judgements_options(split, snapshot, options))
        parts.append(CollectionPart(JUDGEMENTS, paths.qrels[split], judged, split))
    return joined(parts, snapshot={"id": snapshot.pk, "reference": snapshot.reference, "name": snapshot.name})
