"""What uses the texts of the snapshot before: grades, Q&As, evidence, and the versions with items on them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from django.db.models import F, QuerySet

from apps.accounts.models import Project
from apps.common.database.bulk import chunks
from apps.common.database.questions import ListOf, Question
from apps.corpus.models import BlockVersion, Corpus, Snapshot
from apps.corpus.selectors.corpora import TextKey, texts_in
from apps.editions.enums import ChangeKind
from apps.goldsets.models import Version, VersionGrade, VersionTriple
from apps.judging.models import Judgement, Round
from apps.judging.selectors import settled_texts
from apps.queries.models import Query
from apps.triples.models import ExpectedBlock
from apps.triples.selectors.staleness import MAY_BE_ACCEPTED

AT_ONCE = 5_000
Span = tuple[int, int]


@dataclass(frozen=True)
class Usage:
    """Grades and Q&As by the block version of the snapshot before; those of retired queries do not count.

    `texts` are all texts of that snapshot, `live` the texts of the queries that count, in the order of their ids.
    `settled` are the queries and texts, of any edition of the corpus, that have a result already. `evidence` is what
    authors of Q&As marked.
    """

    texts: Mapping[TextKey, int]
    live: Mapping[int, str]
    grades: dict[int, dict[int, int]]
    triples: dict[int, set[int]]
    evidence: dict[int, set[Span]]
    settled: frozenset[tuple[int, TextKey]]

    @property
    def queries(self) -> set[int]:
        return {query for grades in self.grades.values() for query in grades}


def rounds_on(corpus: Corpus) -> list[Round]:
    """Every round on the corpus with its pool, by number, withdrawn ones too."""
    rounds = Round.objects.filter(pool__snapshot__corpus=corpus)
    return list(rounds.select_related("pool").order_by("number"))


def live_question(project: Project) -> Question[dict[int, str]]:
    """The texts of the queries that are not retired, in the order of their ids, by key."""
    queries = Query.objects.filter(project=project, retired_at=None).order_by("outside_id")
    return Question({"live": ListOf(queries.values_list("pk", "text"))}, lambda found: dict(found["live"]))


def usage_of(before: Snapshot, rounds: Iterable[Round], live: Mapping[int, str]) -> Usage:
    """The grades of these rounds, which are all of the corpus, and the Q&As, on the texts of this snapshot.

    `live` is what `live_question` asks.
    """
    texts = texts_in(before)
    grades: dict[int, dict[int, int]] = defaultdict(dict)
    settled = set()
    for pair, text in settled_texts([round_ for round_ in rounds if round_.withdrawn_at is None]):
        settled.add((pair.query_id, text))
        if pair.grade is not None and pair.query_id in live and text in texts:
            grades[texts[text]][pair.query_id] = pair.grade
    triples, evidence = _expectations(before, texts)
    return Usage(texts, live, dict(grades), triples, evidence, frozenset(settled))


def _expectations(before: Snapshot, texts: Mapping[TextKey, int]) -> tuple[dict[int, set[int]], dict[int, set[Span]]]:
    """The Q&As that expect each text, and the evidence that their authors marked in it."""
    expected = _expected().filter(version__block__corpus=before.corpus_id)
    found: dict[int, set[int]] = defaultdict(set)
    marked: dict[int, set[Span]] = defaultdict(set)
    rows = expected.values_list("revision__triple_id", "version__block_id", "version__text_digest", "spans")
    for triple, block, digest, spans in rows.iterator(chunk_size=AT_ONCE):
        if (version := texts.get(TextKey(block, digest))) is not None:
            found[version].add(triple)
            marked[version].update((start, end) for start, end in spans)
    return dict(found), dict(marked)


def _expected() -> QuerySet[ExpectedBlock]:
    """The expected blocks of Q&As that are accepted or on the way there."""
    triples = {"revision__triple__state__in": MAY_BE_ACCEPTED, "revision__triple__current": F("revision")}
    return ExpectedBlock.objects.filter(**triples)


@dataclass(frozen=True)
class RestingVersion:
    """A version of a gold set with items on texts of the snapshot before, and the kinds of passages they are on."""

    version: Version
    kinds: frozenset[ChangeKind]


def versions_on(corpus: Corpus) -> list[Version]:
    """The versions on the corpus, drafts too, by gold set and number."""
    versions = Version.objects.filter(snapshot__corpus=corpus).select_related("gold_set", "snapshot")
    return list(versions.order_by("gold_set__name", "number"))


def resting_versions(
    versions: Iterable[Version], texts: Mapping[TextKey, int], kinds: Mapping[int, ChangeKind]
) -> list[RestingVersion]:
    """Those that are frozen or released. `texts` are of the snapshot before, `kinds` as `Edition` has them."""
    frozen = [version for version in versions if not version.is_draft]
    found: dict[int, set[ChangeKind]] = {version.pk: set() for version in frozen}
    for version, block, digest in _texts_of(list(found)):
        if (text := texts.get(TextKey(block, digest))) is not None:
            found[version].add(kinds.get(text, ChangeKind.SAME))
    return [RestingVersion(version, frozenset(found[version.pk])) for version in frozen]


def _texts_of(versions: Collection[int]) -> Iterator[tuple[int, int, str]]:
    """The texts that the items of these versions are on, each once: version, block and digest."""
    grades = VersionGrade.objects.filter(version__in=versions)
    blocks = VersionTriple.objects.filter(version__in=versions, revision__expected_blocks__isnull=False)
    expected = "revision__expected_blocks__version"
    rows = grades.values_list("version", "block_version__block_id", "block_version__text_digest").union(
        blocks.values_list("version", f"{expected}__block_id", f"{expected}__text_digest")
    )
    return rows.iterator(chunk_size=AT_ONCE)


def evidence_on(usage: Usage, versions: Mapping[int, BlockVersion]) -> dict[int, list[Span]]:
    """The evidence that judges and authors marked in these block versions, each span once, in the order of the text."""
    texts = {TextKey(version.block_id, version.text_digest): pk for pk, version in versions.items()}
    spans = {pk: set(usage.evidence.get(pk, ())) for pk in versions}
    for part in chunks(sorted({text.block_id for text in texts}), AT_ONCE):
        judged = Judgement.objects.filter(entry__version__block__in=part, superseded_by=None).exclude(spans=[])
        rows = judged.values_list("entry__version__block_id", "entry__version__text_digest", "spans")
        for block, digest, marked in rows:
            if (version := texts.get(TextKey(block, digest))) is not None:
                spans[version].update((start, end) for start, end in marked)
    return {version: sorted(found) for version, found in spans.items() if found}
