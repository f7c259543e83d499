"""The triples of an exported gold set, and the passages that they expect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from apps.cli.evaluate.release_files import ReleaseFiles
from apps.cli.evaluate.released import STRATA, ReleasedQuery, ReleasedTriple
from apps.cli.score.returned import facts_in
from apps.cli.score.triple_files import entries_in, kinds_in, question_of, with_texts
from apps.metrics.expected.rules import Returned
from apps.triples.formats.entry import Entry

TRIPLES = ("jsonl/triples.jsonl", "yaml/triples.yaml")
CORPUS = "jsonl/corpus.jsonl"
OF_TRIPLES = ("domain", "difficulty")
"""The strata that a triple names itself; the others are those of its query."""


def has_triples(files: ReleaseFiles) -> bool:
    return any(name in files for name in TRIPLES)


def blocks_of(files: ReleaseFiles) -> dict[str, Returned]:
    """The passages of the corpus by their ids; empty where the release has none. Raises InputErrors."""
    return facts_in(files.table(CORPUS)) if CORPUS in files else {}


def triples_of(
    files: ReleaseFiles, queries: Sequence[ReleasedQuery], blocks: dict[str, Returned]
) -> list[ReleasedTriple]:
    """Every triple of the release, by the bytes of their ids. Raises InputErrors with every bad line."""
    name = next((name for name in TRIPLES if name in files), None)
    entries = sorted(entries_in(files.table(name)), key=lambda one: one.id.encode()) if name else []
    questions = with_texts([question_of(entry) for entry in entries], blocks)
    asked = _asked(entries, {query.query_id: query for query in queries})
    return [
        ReleasedTriple(question, query, _fields(entry, query), tuple(kinds_in(entry)))
        for entry, question, query in zip(entries, questions, asked, strict=True)
    ]


def _asked(entries: Sequence[Entry], known: dict[str, ReleasedQuery]) -> Iterator[ReleasedQuery]:
    """What each triple is asked as, with the split of the triple. Two of one query are asked once."""
    texts = {query.query_id: query.text for query in known.values()}
    for entry in entries:
        name = entry.query_id or entry.id
        fields = known[name].fields if name in known else {}
        yield ReleasedQuery(name, texts.setdefault(name, entry.question), entry.split or "", fields)


def _fields(entry: Entry, query: ReleasedQuery) -> dict[str, str]:
    return {field: getattr(entry, field) if field in OF_TRIPLES else query.fields.get(field, "") for field in STRATA}
