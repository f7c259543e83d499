"""What the report of a version tells beside its questions and scores, and the pairs of a bias report to judge first."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, OuterRef

from apps.common.database.batched_reads import BatchedRead, CountOf, ListOf, answer_to, joined
from apps.common.database.bulk import chunks
from apps.corpus.selectors.corpora import TextKey, texts_of
from apps.evaluation.models import Evaluation
from apps.evaluation.selectors.comparisons import Background, background_question
from apps.evaluation.selectors.evaluations import variants_question
from apps.evaluation.selectors.expected import flags_before_freeze
from apps.evaluation.selectors.rankings import AT_ONCE, names_at, versions_at
from apps.goldsets.models import Version, VersionGrade, VersionQuery
from apps.goldsets.selectors.training import RELEVANT_FROM, LiveManifest, live_manifests_question
from apps.goldsets.selectors.versions import revoked_question
from apps.judging.models import Round
from apps.reports.models import BiasReport
from apps.retrieval.models import PoolEntry


class UnjudgedPair(NamedTuple):
    """A pair to be judged, by its keys."""

    query_id: int
    version_id: int


class NamedPair(NamedTuple):
    """A pair to be judged, by the names that files use. `swing` is how far its grade could move two runs apart."""

    query_id: str
    block_id: str
    swing: float
    is_planned: bool


def already_planned(version: Version, pairs: Sequence[UnjudgedPair]) -> set[UnjudgedPair]:
    """The pairs that are or were in a round, on any snapshot of the corpus with the same text of the block."""
    planned: set[UnjudgedPair] = set()
    for part in chunks(pairs, AT_ONCE):
        texts = texts_of(pair.version_id for pair in part)
        rows = PoolEntry.objects.filter(
            pool__snapshot__corpus=version.snapshot.corpus_id,
            pool__in=Round.objects.in_force().values("pool"),
            query__in={pair.query_id for pair in part},
            version__block__in={text.block_id for text in texts.values()},
        )
        columns = rows.values_list("query_id", "version__block_id", "version__text_digest").distinct()
        in_rounds = {(query, TextKey(block, digest)) for query, block, digest in columns}
        planned |= {pair for pair in part if (pair.query_id, texts[pair.version_id]) in in_rounds}
    return planned


def pairs_first(report: BiasReport) -> list[UnjudgedPair]:
    """The pairs to judge first, in the order of the report."""
    return _keys_of(report, report.result["first"]["pairs"])


def named(report: BiasReport, listed: Sequence[tuple[str, int, float]]) -> list[NamedPair]:
    """These pairs of the report by name, and whether they are in a round already."""
    names = names_at(report.version, [position for _, position, _ in listed])
    keys = _keys_of(report, listed)
    planned = already_planned(report.version, keys)
    return [
        NamedPair(query, names[position], swing, key in planned)
        for (query, position, swing), key in zip(listed, keys, strict=True)
    ]


def _keys_of(report: BiasReport, listed: Sequence[tuple[str, int, float]]) -> list[UnjudgedPair]:
    queries = dict(report.version.queries.values_list("outside_id", "query_id"))
    versions = versions_at(report.version, [position for _, position, _ in listed])
    return [UnjudgedPair(queries[query], versions[position]) for query, position, _ in listed]


@dataclass(frozen=True)
class VersionFacts:
    """`revoked` are sources whose permission was revoked, `manifests` the training manifests in use now.

    `flags` are the categories of the flags before the freeze, by key of the triple. `documents` have a passage that is
    graded above 0, by their outside ids. `losses` are kind, reason and number of what was judged and left out.
    `backgrounds` are those of the evaluations that are compared, by their keys.
    """

    revoked: list[int]
    manifests: list[LiveManifest]
    flags: dict[int, set[str]]
    documents: set[str]
    losses: list[tuple[str, str, int]]
    backgrounds: dict[int, Background]


def lowest_relevant_of(version: Version) -> int:
    """The lowest relevant grade of a frozen version, as the checks before a freeze have it."""
    return min(RELEVANT_FROM, max(entry["grade"] for entry in version.manifest["scale"]))


def counted_queries(version: Version) -> list[VersionQuery]:
    """The queries of both splits by outside id. Annotates `graded` and `relevant`, the numbers of such passages."""
    grades = VersionGrade.objects.filter(query=OuterRef("pk")).values("pk")
    relevant = grades.filter(grade__gte=lowest_relevant_of(version))
    rows = VersionQuery.objects.filter(version=version).annotate(graded=CountOf(grades), relevant=CountOf(relevant))
    return sorted(rows, key=lambda row: row.outside_id.encode())


def facts_of(version: Version, compared: Iterable[Evaluation] = (), *, at: datetime) -> VersionFacts:
    """In one statement. `compared` are the candidates of comparisons, with their query ids."""
    losses = version.losses.values("kind", "reason").annotate(n=Count("pk")).order_by("kind", "reason")
    graded = VersionGrade.objects.filter(version=version, grade__gt=0)
    documents = graded.values_list("block_version__block__document__outside_id").distinct()
    asked: dict[str, BatchedRead[Any]] = {
        "revoked": revoked_question(version, at=at),
        "manifests": live_manifests_question(version.gold_set.project),
        "flags": _flags(version),
        "documents": BatchedRead({"ids": ListOf(documents)}, lambda found: {name for (name,) in found["ids"]}),
        "losses": BatchedRead({"rows": ListOf(losses)}, lambda found: [(*row,) for row in found["rows"]]),
        "variants": variants_question(version),
        "backgrounds": joined({one.pk: background_question(one) for one in compared}),
    }
    found = answer_to(version, joined(asked))
    del found["variants"]
    return VersionFacts(**found)


def _flags(version: Version) -> BatchedRead[dict[int, set[str]]]:
    flags = flags_before_freeze(version).filter(revision__triple__in=version.triples.values("triple"))

    def read(found: Mapping[str, Any]) -> dict[int, set[str]]:
        by_triple: defaultdict[int, set[str]] = defaultdict(set)
        for triple, category in found["rows"]:
            by_triple[triple].add(category)
        return dict(by_triple)

    return BatchedRead({"rows": ListOf(flags.values_list("revision__triple", "category").distinct())}, read)
