"""What uses the texts of the snapshot before: grades, Q&As, evidence, and the versions with items on them."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import F, QuerySet, TextField, Value
from django.db.models.functions import Cast

from apps.accounts.models import Project
from apps.common.database.batched_reads import BatchedRead, ListOf
from apps.common.database.bulk import chunks
from apps.corpus.models import BlockVersion, Corpus, Snapshot
from apps.corpus.selectors.corpora import TextKey, texts_of
from apps.editions.enums import ChangeKind
from apps.editions.selectors.editions import Edition
from apps.goldsets.models import Version, VersionGrade, VersionTriple
from apps.judging.models import Judgement, Round
from apps.judging.selectors.pairs import settled_texts
from apps.queries.models import Query
from apps.triples.models import ExpectedBlock
from apps.triples.selectors.staleness import MAY_BE_ACCEPTED

AT_ONCE = 5_000
Span = tuple[int, int]


@dataclass(frozen=True)
class Usage:
    """Grades and Q&As by the block version of the snapshot before; those of retired queries do not count.

    `texts` are all texts of that snapshot, `live` the texts of the queries that count, in the order of their ids.
    `facets` are the subtopics that were chosen with a grade, by block version and query. `settled` are the queries and
    texts, of any edition of the corpus, that have a result already. `evidence` is what
    authors of Q&As marked. `items` are the block versions that items of each version of a gold set are on.
    """

    texts: Mapping[TextKey, int]
    live: Mapping[int, str]
    grades: dict[int, dict[int, int]]
    facets: dict[tuple[int, int], list[str]]
    triples: dict[int, set[int]]
    evidence: dict[int, set[Span]]
    items: dict[int, set[int]]
    settled: frozenset[tuple[int, TextKey]]

    @property
    def queries(self) -> set[int]:
        return {query for grades in self.grades.values() for query in grades}


def rounds_on(corpus: Corpus) -> list[Round]:
    """Every round on the corpus with its pool, by number, withdrawn ones too."""
    rounds = Round.objects.filter(pool__snapshot__corpus=corpus)
    return list(rounds.select_related("pool").order_by("number"))


def live_question(project: Project) -> BatchedRead[dict[int, str]]:
    """The texts of the queries that are not retired, in the order of their ids, by key."""
    queries = Query.objects.filter(project=project, retired_at=None).order_by("outside_id")
    return BatchedRead({"live": ListOf(queries.values_list("pk", "text"))}, lambda found: dict(found["live"]))


def usage_of(
    edition: Edition, rounds: Iterable[Round], live: Mapping[int, str], versions: Collection[Version] = ()
) -> Usage:
    """The grades of these rounds, which are all of the corpus, the Q&As and these versions on the texts before.

    `live` is what `live_question` asks.
    """
    texts, items = edition.texts, {version.pk: set[int]() for version in versions}
    uses = list(_uses_of_texts(edition.before, list(items)))
    known = {version: text for text, version in texts.items()}
    known |= texts_of({version for _, version, _ in uses} - known.keys())
    grades: dict[int, dict[int, int]] = defaultdict(dict)
    facets: dict[tuple[int, int], list[str]] = {}
    settled = settled_texts([round_ for round_ in rounds if round_.withdrawn_at is None], known)
    for (query, text), pair in settled.items():
        if pair.grade is not None and query in live and text in texts:
            grades[texts[text]][query] = pair.grade
            if pair.facets is not None:
                facets[texts[text], query] = pair.facets
    triples: dict[int, set[int]] = defaultdict(set)
    evidence: dict[int, set[Span]] = defaultdict(set)
    for of, version, spans in uses:
        if (passage := texts.get(known[version])) is None:
            continue
        if not spans:
            items[of].add(passage)
        else:
            triples[passage].add(of)
            evidence[passage].update((start, end) for start, end in json.loads(spans))
    return Usage(texts, live, dict(grades), facets, dict(triples), dict(evidence), items, frozenset(settled))


def _uses_of_texts(before: Snapshot, versions: Collection[int]) -> Iterator[tuple[int, int, str]]:
    """What uses texts of the corpus, each once: the Q&A or the version, the block version, and evidence as JSON.

    The Q&As that expect a text, with the evidence that their authors marked in it, and the items of these versions,
    whose evidence is "".
    """
    expected = _expected().filter(version__block__corpus=before.corpus_id)
    grades = VersionGrade.objects.filter(version__in=versions)
    triples = VersionTriple.objects.filter(version__in=versions, revision__expected_blocks__isnull=False)
    rows: QuerySet[Any, Any] = expected.values_list("revision__triple_id", "version", Cast("spans", TextField()))
    if versions:
        on_grades = grades.values_list("version", "block_version", Value(""))
        rows = rows.union(on_grades, triples.values_list("version", "revision__expected_blocks__version", Value("")))
    return rows.iterator(chunk_size=AT_ONCE)


def _expected() -> QuerySet[ExpectedBlock]:
    """The expected blocks of Q&As that are accepted or on the way there."""
    triples = {"revision__triple__state__in": MAY_BE_ACCEPTED, "revision__triple__current": F("revision")}
    return ExpectedBlock.objects.filter(**triples)


@dataclass(frozen=True)
class DependentVersion:
    """A version of a gold set with items on texts of the snapshot before, and the kinds of passages they are on."""

    version: Version
    kinds: frozenset[ChangeKind]


def versions_on(corpus: Corpus) -> list[Version]:
    """The versions on the corpus, drafts too, by gold set and number."""
    versions = Version.objects.filter(snapshot__corpus=corpus).select_related("gold_set", "snapshot")
    return list(versions.order_by("gold_set__name", "number"))


def dependent_versions(
    frozen: Iterable[Version], usage: Usage, kinds: Mapping[int, ChangeKind]
) -> list[DependentVersion]:
    """The versions whose items `usage` has, which are frozen or released. `kinds` are as `Edition` has them."""
    return [
        DependentVersion(version, frozenset(kinds.get(passage, ChangeKind.SAME) for passage in usage.items[version.pk]))
        for version in frozen
    ]


class KindRow(NamedTuple):
    """One kind of change: the counts of its passages and of what rests on them."""

    kind: ChangeKind
    passages: int
    grades: int
    triples: int
    versions: list[str]


def rows_of(edition: Edition, usage: Usage, dependents: Sequence[DependentVersion]) -> list[KindRow]:
    """The figures of every kind, as they are now."""
    several = len({each.version.gold_set_id for each in dependents}) > 1
    rows = []
    for kind in ChangeKind:
        labels = [_label(each, several) for each in dependents if kind in each.kinds]
        grades = sum(len(found) for text, found in usage.grades.items() if edition.kind_of(text) == kind)
        triples = {pk for text, found in usage.triples.items() if edition.kind_of(text) == kind for pk in found}
        rows.append(KindRow(kind, edition.counts[kind], grades, len(triples), labels))
    return rows


def _label(dependent: DependentVersion, several: bool) -> str:
    return str(dependent.version) if several else dependent.version.label


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
