"""The negatives of a version's queries, proposed in batches and written as JSONL or CSV."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from django.db.models import QuerySet

from apps.common.database.batched_reads import BatchedRead, CountOf, answer_to, joined
from apps.common.database.bulk import chunks
from apps.common.database.functions import bytewise
from apps.common.files.csvsafe import csv_lines
from apps.corpus.core.near_duplicates import Signatures
from apps.corpus.models import Snapshot
from apps.goldsets.models import Version, VersionGrade, VersionQuery
from apps.goldsets.selectors.versions import revoked_question, sources_revoked
from apps.metrics.columns import Ints
from apps.reports.core.negatives import (
    JUDGED,
    Negative,
    NegativesChoice,
    SampledNegatives,
    alike_by,
    choose_negatives,
    sample_negatives,
)
from apps.retrieval.core import ranking
from apps.retrieval.execution.indexes import built_signatures
from apps.retrieval.models import Ranking, Run

AT_ONCE = 100
CONTENT_TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv"}
CSV_HEAD = ("query_id", "query", "split", "block_id", "kind", "basis", "rank", "grade")
POSITIVE = "positive"


class BlockName(NamedTuple):
    """The outside id of a block and the digest of its text."""

    block_id: str
    text_digest: str


class QueryNegatives(NamedTuple):
    """One query with its relevant blocks (outside id and grade, best first) and its negatives (outside id first)."""

    query: VersionQuery
    positive: list[tuple[str, int]]
    negatives: list[tuple[str, Negative]]

    def count(self, kind: str) -> int:
        return sum(negative.kind == kind for _, negative in self.negatives)


@dataclass(frozen=True)
class NegativesProposal:
    """Negatives of a baseline for the queries of these splits. Queries of revoked sources are left out.

    `runs` are the complete runs on the snapshot: an easy negative is in the top results of none.
    """

    version: Version
    run: Run
    runs: Sequence[Run]
    splits: Collection[str]
    choice: NegativesChoice
    at: datetime

    def queries(self) -> QuerySet[VersionQuery]:
        """The judged queries, in bytewise order of their outside ids."""
        graded = VersionGrade.objects.filter(version=self.version).values("query")
        rows = VersionQuery.objects.filter(version=self.version, split__in=self.splits, pk__in=graded)
        revoked = sources_revoked(self.version, at=self.at).values("pk")
        return rows.exclude(query__source__in=revoked).order_by(bytewise("outside_id"))

    @property
    def size(self) -> int:
        """The number of `queries`."""
        size: int = self._facts["size"]
        return size

    @property
    def revoked(self) -> list[int]:
        """The sources whose queries are left out."""
        revoked: list[int] = self._facts["revoked"]
        return revoked

    @cached_property
    def _facts(self) -> dict[str, Any]:
        counted = CountOf(self.queries().order_by().values("pk"))
        asked: dict[str, BatchedRead[Any]] = {
            "size": BatchedRead({"n": counted}, lambda found: found["n"]),
            "revoked": revoked_question(self.version, at=self.at),
        }
        return answer_to(self.version, joined(asked))

    @cached_property
    def signatures(self) -> Signatures | None:
        return built_signatures(self.version.snapshot)

    def proposed(self, queries: Sequence[VersionQuery]) -> list[QueryNegatives]:
        """The negatives of these queries, in a fixed number of statements."""
        grades = self._grades(queries)
        tops = self._tops(queries)
        blocks = self.version.snapshot.block_count
        sampled = {}
        for query in queries:
            own = tops[query.query_id]
            every = np.concatenate([np.empty(0, dtype=np.int64), *own.values()])
            baseline = own.get(self.run.pk, every[:0])
            sampled[query.pk] = sample_negatives(
                query.outside_id, baseline, every, grades[query.pk], blocks, self.choice
            )
        names = self._names(sampled.values())
        alike = alike_by({place: name.text_digest for place, name in names.items()}, self.signatures)
        proposed = []
        for query in queries:
            own_grades = grades[query.pk]
            best = sorted(sampled[query.pk].relevant.tolist(), key=lambda place: (-own_grades[place], place))
            negatives = choose_negatives(sampled[query.pk], own_grades, alike, self.choice)
            proposed.append(
                QueryNegatives(
                    query,
                    [(names[place].block_id, own_grades[place]) for place in best],
                    [(names[negative.position].block_id, negative) for negative in negatives],
                )
            )
        return proposed

    def every(self) -> Iterator[QueryNegatives]:
        """The negatives of all queries, computed in batches to limit memory."""
        for batch in chunks(self.queries().iterator(chunk_size=AT_ONCE), AT_ONCE):
            yield from self.proposed(batch)

    def _grades(self, queries: Sequence[VersionQuery]) -> dict[int, dict[int, int]]:
        grades: dict[int, dict[int, int]] = {query.pk: {} for query in queries}
        rows = VersionGrade.objects.filter(query__in=[query.pk for query in queries])
        for query, position, grade in rows.values_list("query_id", "position", "grade"):
            grades[query][position] = grade
        return grades

    def _tops(self, queries: Sequence[VersionQuery]) -> dict[int, dict[int, Ints]]:
        """By query and run, the positions of the first `depth` results, best first."""
        tops: dict[int, dict[int, Ints]] = defaultdict(dict)
        keys = [query.query_id for query in queries]
        rows = Ranking.objects.filter(run__in=self.runs, query__in=keys).values_list("run_id", "query_id", "packed")
        for run, query, packed in rows.iterator():
            tops[query][run] = ranking.unpack(bytes(packed))[0][: self.choice.depth].astype(np.int64)
        return tops

    def _names(self, sampled: Collection[SampledNegatives]) -> dict[int, BlockName]:
        empty = np.empty(0, dtype=np.int64)
        columns = [column for one in sampled for column in (one.relevant, one.hard, one.easy)]
        wanted = np.unique(np.concatenate([empty, *columns])).tolist()
        return names_at(self.version.snapshot, wanted)


def names_at(snapshot: Snapshot, positions: Sequence[int]) -> dict[int, BlockName]:
    names: dict[int, BlockName] = {}
    for part in chunks(positions, 5_000):
        rows = snapshot.entries.filter(position__in=part)
        for position, *name in rows.values_list("position", "block__outside_id", "version__text_digest"):
            names[position] = BlockName(*name)
    return names


def lines(proposal: NegativesProposal, form: str) -> Iterator[str]:
    """The file, line by line; `form` is jsonl or csv."""
    return csv_lines(_csv_rows(proposal)) if form == "csv" else map(_json_line, proposal.every())


def _json_line(one: QueryNegatives) -> str:
    body = {
        "query_id": one.query.outside_id,
        "query": one.query.text,
        "split": one.query.split,
        "positive": [block for block, _ in one.positive],
        "negatives": [
            {"block_id": block, **{name: getattr(negative, name) for name in ("kind", "basis", "rank", "grade")}}
            for block, negative in one.negatives
        ],
    }
    return json.dumps(body, ensure_ascii=False) + "\n"


def _csv_rows(proposal: NegativesProposal) -> Iterator[Sequence[object]]:
    yield CSV_HEAD
    for one in proposal.every():
        query = (one.query.outside_id, one.query.text, one.query.split)
        for block, grade in one.positive:
            yield *query, block, POSITIVE, JUDGED, None, grade
        for block, negative in one.negatives:
            _, kind, basis, rank, grade_or_none = negative
            yield *query, block, kind, basis, rank, grade_or_none


def file_name(proposal: NegativesProposal, form: str) -> str:
    """The name of the file: slugs and numbers only, so safe in a header and on every file system."""
    version = proposal.version
    splits = "-".join(sorted(proposal.splits))
    return f"{version.gold_set.slug}-{version.label}-{splits}-negatives.{form}"
