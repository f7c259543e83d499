"""Many missed questions at once, each with what was returned first and what is known about it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from apps.accounts.selectors import Member
from apps.corpus.models import SnapshotBlock
from apps.evaluation.core.misses import finding
from apps.evaluation.models import Evaluation
from apps.evaluation.selectors.misses import ReadPassage, SaidSince
from apps.goldsets.models import VersionTriple
from apps.metrics.expected.rules import Returned
from apps.retrieval.models import Run
from apps.retrieval.selectors.blinding import hidden_queries
from apps.retrieval.selectors.runs import returned_of
from apps.triples.selectors.triples import asked_queries


class Missed(NamedTuple):
    """A question without a hit within the cutoff: its place from 1, its triple, the rank of its first hit or 0."""

    place: int
    row: VersionTriple
    hit_rank: int
    cutoff: int


@dataclass(frozen=True)
class MissRow:
    """A missed question. Where ranks are hidden from the person, it has nothing of what was returned."""

    missed: Missed
    is_hidden: bool
    returned: int | None = None
    first: ReadPassage | None = None
    known: str = ""
    is_unclear: bool = False

    @property
    def first_right_rank(self) -> int | None:
        return None if self.is_hidden else self.missed.hit_rank or None

    @property
    def finding(self) -> str:
        """Why it is a miss, as one sentence; "" where that is hidden."""
        if self.returned is None:
            return ""
        return finding(returned=self.returned, hit_rank=self.missed.hit_rank, cutoff=self.missed.cutoff)

    @property
    def expected_blocks(self) -> list[str]:
        return [block["block_id"] for block in self.missed.row.content["blocks"]]


def miss_rows(evaluation: Evaluation, missed: Sequence[Missed], member: Member) -> list[MissRow]:
    """The misses with what was returned, in a number of queries that does not depend on how many they are."""
    triple_ids = [one.row.triple_id for one in missed]
    asked = asked_queries(one.row.revision_id for one in missed)
    query_of = {one.row.triple_id: _query_of(asked, one.row) for one in missed}
    queries = [query for query in query_of.values() if query is not None]
    from_them = hidden_queries(member.user, evaluation.version.snapshot, queries)
    hidden = {triple for triple, query in query_of.items() if query in from_them}
    shown = {triple: query for triple, query in query_of.items() if triple not in hidden and query is not None}
    run = evaluation.run
    returned = dict(returned_of(run, list(shown.values()), with_text=run.returns_passages))
    tops = {triple: returned[query][0] for triple, query in shown.items() if returned.get(query)}
    entries = _entries(run, {top.id for top in tops.values()})
    since = SaidSince(triple_ids)
    rows = []
    for one in missed:
        triple = one.row.triple_id
        if triple in hidden:
            rows.append(MissRow(one, is_hidden=True))
            continue
        first = _first(tops.get(triple), entries)
        count = len(returned.get(shown.get(triple, 0), []))
        known = _known(since, one.row, first) if first else ""
        rows.append(MissRow(one, False, count, first, known, since.doubts(one.row)))
    return rows


def _query_of(asked: dict, row: VersionTriple) -> int | None:
    return asked[row.revision_id].query_id if row.revision_id in asked else None


def _entries(run: Run, ids: Collection[str]) -> dict[str, SnapshotBlock]:
    """Blocks by their outside ids, as the run's snapshot has them."""
    rows = SnapshotBlock.objects.filter(snapshot=run.snapshot_id, block__outside_id__in=ids)
    return {entry.block.outside_id: entry for entry in rows.select_related("version", "block__document")}


def _first(top: Returned | None, entries: dict[str, SnapshotBlock]) -> ReadPassage | None:
    if top is None:
        return None
    entry = entries.get(top.id)
    return ReadPassage(1, top, entry, entry.version.text if entry and not top.text else top.text)


def _known(since: SaidSince, row: VersionTriple, first: ReadPassage) -> str:
    return since.about(row, first.digest, first.version_id)
