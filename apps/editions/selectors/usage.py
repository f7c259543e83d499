"""What uses the texts of the snapshot before: grades, Q&As, evidence, and the versions with items on them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from django.db.models import F, QuerySet

from apps.common.database.bulk import chunks
from apps.corpus.models import Corpus, Snapshot
from apps.corpus.selectors.corpora import TextKey, texts_in, texts_of
from apps.editions.enums import ChangeKind
from apps.goldsets.enums import VersionState
from apps.goldsets.models import Version, VersionGrade, VersionTriple
from apps.judging.models import Judgement
from apps.judging.selectors import settled_pairs
from apps.queries.models import Query
from apps.triples.models import ExpectedBlock
from apps.triples.selectors.staleness import MAY_BE_ACCEPTED

AT_ONCE = 5_000
Span = tuple[int, int]


@dataclass(frozen=True)
class Usage:
    """Grades and Q&As by the block version of the snapshot before; those of retired queries do not count.

    `settled` are the queries and texts, of any edition of the corpus, that have a result already.
    """

    grades: dict[int, dict[int, int]]
    triples: dict[int, set[int]]
    settled: frozenset[tuple[int, TextKey]]

    @property
    def queries(self) -> set[int]:
        return {query for grades in self.grades.values() for query in grades}


def usage_of(before: Snapshot) -> Usage:
    """The grades of every round of the corpus and the Q&As, on the texts of this snapshot."""
    texts = texts_in(before)
    live = set(Query.objects.filter(project=before.corpus.project_id, retired_at=None).values_list("pk", flat=True))
    grades: dict[int, dict[int, int]] = defaultdict(dict)
    settled = set()
    pairs = settled_pairs(before)
    judged = texts_of(pair.version_id for pair in pairs)
    for pair in pairs:
        text = judged[pair.version_id]
        settled.add((pair.query_id, text))
        if pair.grade is not None and pair.query_id in live and text in texts:
            grades[texts[text]][pair.query_id] = pair.grade
    return Usage(dict(grades), _triples(before, texts), frozenset(settled))


def _triples(before: Snapshot, texts: dict[TextKey, int]) -> dict[int, set[int]]:
    expected = _expected().filter(version__block__corpus=before.corpus_id)
    found: dict[int, set[int]] = defaultdict(set)
    rows = expected.values_list("revision__triple_id", "version__block_id", "version__text_digest")
    for triple, block, digest in rows.iterator(chunk_size=AT_ONCE):
        if (version := texts.get(TextKey(block, digest))) is not None:
            found[version].add(triple)
    return dict(found)


def _expected() -> QuerySet[ExpectedBlock]:
    """The expected blocks of Q&As that are accepted or on the way there."""
    triples = {"revision__triple__state__in": MAY_BE_ACCEPTED, "revision__triple__current": F("revision")}
    return ExpectedBlock.objects.filter(**triples)


@dataclass(frozen=True)
class RestingVersion:
    """A version of a gold set with items on texts of the snapshot before, and the kinds of passages they are on."""

    version: Version
    kinds: frozenset[ChangeKind]


def versions_on(before: Snapshot, kinds: dict[int, ChangeKind]) -> list[RestingVersion]:
    """The frozen and released versions on the corpus; `kinds` as `Edition.kinds` has them."""
    texts = texts_in(before)
    versions = Version.objects.filter(snapshot__corpus=before.corpus_id).exclude(state=VersionState.DRAFT)
    resting = []
    for version in versions.select_related("gold_set").order_by("gold_set__name", "number"):
        found = {kinds.get(texts[text], ChangeKind.SAME) for text in _texts_of(version) if text in texts}
        resting.append(RestingVersion(version, frozenset(found)))
    return resting


def _texts_of(version: Version) -> Iterator[TextKey]:
    """The texts that the items of a version are on."""
    grades = VersionGrade.objects.filter(version=version)
    rows = grades.values_list("block_version__block_id", "block_version__text_digest").distinct()
    yield from (TextKey(*row) for row in rows.iterator(chunk_size=AT_ONCE))
    revisions = VersionTriple.objects.filter(version=version).values("revision")
    expected = ExpectedBlock.objects.filter(revision__in=revisions)
    yield from (TextKey(*row) for row in expected.values_list("version__block_id", "version__text_digest"))


def drafts_on(corpus: Corpus) -> list[Version]:
    drafts = Version.objects.filter(snapshot__corpus=corpus, state=VersionState.DRAFT)
    return list(drafts.select_related("gold_set", "snapshot").order_by("gold_set__name"))


def evidence_on(versions: Collection[int]) -> dict[int, list[Span]]:
    """The evidence that judges and authors marked in these block versions, each span once, in the order of the text."""
    texts = {text: version for version, text in texts_of(versions).items()}
    blocks = sorted({text.block_id for text in texts})
    spans: dict[int, set[Span]] = defaultdict(set)
    for text, marked in _marked(blocks):
        if (version := texts.get(text)) is not None:
            spans[version].update((start, end) for start, end in marked)
    return {version: sorted(found) for version, found in spans.items()}


def _marked(blocks: Iterable[int]) -> Iterator[tuple[TextKey, list[list[int]]]]:
    for part in chunks(blocks, 500):
        judged = Judgement.objects.filter(entry__version__block__in=part, superseded_by=None).exclude(spans=[])
        by_judges = judged.values_list("entry__version__block_id", "entry__version__text_digest", "spans")
        yield from ((TextKey(block, digest), spans) for block, digest, spans in by_judges)
        expected = _expected().filter(version__block__in=part)
        by_authors = expected.values_list("version__block_id", "version__text_digest", "spans")
        yield from ((TextKey(block, digest), spans) for block, digest, spans in by_authors)
