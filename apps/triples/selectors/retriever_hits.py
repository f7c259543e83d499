"""Every retriever's hits for a question, and the candidates of a project.

Nothing is built for hits. Used are the project's engines whose index of the snapshot is on disk, the newest complete
run of every other system when the triple has a query or asks a question that was accepted before, and the search of the
snapshot. Authors may see ranks: they do not judge the pair.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.http import Http404

from apps.accounts.models import Project
from apps.common.text.words import content_words, singular, words
from apps.corpus.core.near_duplicates import near, signature
from apps.corpus.models import Snapshot, SnapshotBlock
from apps.corpus.selectors.corpora import places_of_entries
from apps.corpus.selectors.search import search_blocks
from apps.queries.models import Query
from apps.retrieval.execution.indexes import built_signatures, engine_of, open_built
from apps.retrieval.selectors.runs import stored_tops
from apps.retrieval.selectors.systems import indexed_in, indexing_job
from apps.triples.core.checks import SAME_TEXT, OtherBlock
from apps.triples.models import CANDIDATE, Triple
from apps.triples.selectors.triples import asked_with

PER_PAGE = 50


def candidates_of(project: Project) -> QuerySet[Triple]:
    """The candidates of a project by number, each with its wording and its origin."""
    return (
        Triple.objects.filter(CANDIDATE, project=project)
        .select_related("project", "current", "source", "imported__imported_by")
        .order_by("number")
    )


def candidate_in(project: Project, pk: int) -> Triple:
    """The candidate, or one that was rejected, or Http404: an adopted one has its page among the triples."""
    triples = Triple.objects.filter(project=project, pk=pk, is_machine_written=True, adopted_by=None)
    triple = triples.select_related(
        "project", "current", "snapshot", "source", "query", "imported__imported_by", "rejection__rejected_by"
    ).first()
    if triple is None:
        raise Http404("No such candidate.")
    return triple


class CandidatePage(NamedTuple):
    """One page of candidates. `after` and `before` are the numbers of the next and the previous page."""

    rows: list[Triple]
    after: int | None
    before: int | None


def page_of(project: Project, *, after: int = 0, before: int = 0) -> CandidatePage:
    """The page after number `after`, or the one before number `before`."""
    candidates = candidates_of(project)
    if before:
        rows = list(candidates.filter(number__lt=before).order_by("-number")[: PER_PAGE + 1])
        more, rows = len(rows) > PER_PAGE, rows[:PER_PAGE][::-1]
        return CandidatePage(rows, rows[-1].number if rows else None, rows[0].number if more else None)
    rows = list(candidates.filter(number__gt=after)[: PER_PAGE + 1])
    more, rows = len(rows) > PER_PAGE, rows[:PER_PAGE]
    return CandidatePage(rows, rows[-1].number if more else None, rows[0].number if rows and after else None)


def next_candidate(project: Project, number: int) -> Triple | None:
    """The candidate after this number, or the first of all; None when none is left."""
    candidates = Triple.objects.filter(CANDIDATE, project=project).exclude(number=number).order_by("number")
    return candidates.filter(number__gt=number).first() or candidates.first()


TOP = 10
SEARCH = "Search"
TWINS = "near-duplicate texts"
MOST_SOUGHT = 5
MOST_TWINS = 5
# A signature is an estimate: near values below it count too, and the check compares the texts themselves.
SIGNATURE_SLACK = 0.15
_SMOOTHING = 60


class Finder(NamedTuple):
    """A retriever that returned a block, and its rank, from 1."""

    name: str
    rank: int

    def __str__(self) -> str:
        return f"{self.name} at {self.rank}"


@dataclass
class RetrieverHit:
    """A block with all its finders."""

    entry: SnapshotBlock
    finders: list[Finder] = field(default_factory=list)

    @property
    def title(self) -> str:
        return self.entry.name

    @property
    def weight(self) -> float:
        """Reciprocal rank fusion (Cormack, Clarke and Buettcher 2009)."""
        return sum(1 / (_SMOOTHING + finder.rank) for finder in self.finders)


@dataclass(frozen=True)
class Hits:
    """The hits, best first; the finders used and their text; and the engines without an index of the snapshot."""

    rows: list[RetrieverHit]
    finders: list[str]
    silent: list[str]
    text: str

    @property
    def is_searched(self) -> bool:
        return bool(self.text)

    @property
    def placed(self) -> list[tuple[RetrieverHit, str]]:
        """Each hit with what tells it apart from others of its title."""
        places = places_of_entries(hit.entry for hit in self.rows)
        return [(hit, places[hit.entry.block_id]) for hit in self.rows]


class _Tops(NamedTuple):
    ranked: list[tuple[str, list[int]]]
    silent: list[str]


def top_hits(project: Project, snapshot: Snapshot, text: str, query: Query | None = None, depth: int = TOP) -> Hits:
    """The top `depth` blocks of every retriever for `text`, or for the query's words when there is none yet."""
    text = text.strip() or (query.text if query else "")
    tops = _tops(project, snapshot, text, query, depth)
    entries = _entries(snapshot, {position for _, top in tops.ranked for position in top})
    hits: dict[int, RetrieverHit] = {}
    for name, top in tops.ranked:
        for rank, position in enumerate(top, start=1):
            if position in entries:
                hits.setdefault(position, RetrieverHit(entries[position])).finders.append(Finder(name, rank))
    rows = sorted(hits.values(), key=lambda hit: (-hit.weight, hit.entry.position))
    return Hits(rows, [name for name, _ in tops.ranked], tops.silent, text)


def _tops(project: Project, snapshot: Snapshot, text: str, query: Query | None, depth: int) -> _Tops:
    asked = query or asked_with(project, text)
    stored = {system.pk: (system.name, top) for system, top in stored_tops(snapshot, asked.pk, depth)} if asked else {}
    ranked, silent = [], []
    for system in indexed_in(project):
        handle = open_built(system, snapshot)
        if handle is not None:
            stored.pop(system.pk, None)  # it uses the words as they are now
            positions = engine_of(system).search(handle, [text], depth).of(0)[0] if text else ()
            ranked.append((system.name, [int(position) for position in positions]))
        elif system.pk not in stored:
            silent.append(system.name)
    if built_signatures(snapshot) is None:
        silent.append(TWINS)
    ranked += [(name, [int(position) for position in top]) for name, top in stored.values()]
    ranked.append((SEARCH, _searched(snapshot, text, depth)))
    return _Tops(ranked, silent)


def _searched(snapshot: Snapshot, text: str, depth: int) -> list[int]:
    """With the longest words alone: short and stop words match every block, and are slow."""
    telling = sorted(content_words(text), key=lambda word: (-len(word), word))[:MOST_SOUGHT]
    sought = " ".join(word for word in words(text) if singular(word) in telling)
    return [entry.position for entry in search_blocks(snapshot, sought, limit=depth)] if sought else []


def _entries(snapshot: Snapshot, positions: Iterable[int]) -> dict[int, SnapshotBlock]:
    """The entries at these positions, without redacted texts, which cannot answer."""
    entries = snapshot.entries.filter(position__in=list(positions), version__redacted_at=None)
    return {entry.position: entry for entry in entries.select_related("version", "block__document")}


def other_blocks(snapshot: Snapshot, hits: Hits, expected: Collection[int], texts: Sequence[str]) -> list[OtherBlock]:
    """The blocks that may answer as well as the `expected` ones (block ids): near duplicates, then the hits."""
    twins = _entries(snapshot, _twin_positions(snapshot, texts))
    from_hits = {hit.entry.block_id: _other(hit.entry, hit.finders) for hit in hits.rows}
    from_twins = {entry.block_id: _other(entry, []) for entry in twins.values()}
    merged = {block: from_hits.get(block, other) for block, other in from_twins.items()} | from_hits
    return [other for block, other in merged.items() if block not in expected]


def _twin_positions(snapshot: Snapshot, texts: Sequence[str]) -> list[int]:
    """The positions of texts that are nearly the same; empty while the signatures are not built."""
    signatures = built_signatures(snapshot) if texts else None
    if signatures is None:
        return []
    least = SAME_TEXT - SIGNATURE_SLACK
    return [one.position for text in texts for one in near(signatures, signature(text), least, limit=MOST_TWINS + 1)]


def _other(entry: SnapshotBlock, finders: Sequence[Finder]) -> OtherBlock:
    title = entry.name
    return OtherBlock(entry.block_id, entry.block.outside_id, title, entry.version.text, "; ".join(map(str, finders)))


def panel(snapshot: Snapshot, hits: Hits, *, expected: Collection[int], query: Query | None) -> dict[str, Any]:
    """The context of triples/_hits.html; `expected` are ids of blocks."""
    return {
        "hits": hits,
        "expected_ids": expected,
        "snapshot": snapshot,
        "indexing": indexing_job(snapshot) if hits.silent else None,
        "hits_query": query.pk if query else None,
    }
