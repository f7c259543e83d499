"""A small version as plain rows, for the writers' tests."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from apps.corpus.core.passage_ids import SnapshotEntry, block_digests, metadata_digest, snapshot_digest
from apps.goldsets.formats.content import (
    Content,
    ExpectedBlock,
    Feature,
    FrozenBlock,
    FrozenQuery,
    GradeRow,
    JudgementRow,
    Scores,
    SliceRow,
    TracedGrade,
    Traces,
    TripleRow,
)


@dataclass(frozen=True)
class ListContent:
    """Content from lists that are already in order."""

    query_rows: list[FrozenQuery] = field(default_factory=list)
    block_rows: list[FrozenBlock] = field(default_factory=list)
    grade_rows: list[GradeRow] = field(default_factory=list)
    triple_rows: list[TripleRow] = field(default_factory=list)
    judgement_rows: list[JudgementRow] | None = field(default_factory=list)
    slice_rows: list[SliceRow] = field(default_factory=list)
    run_scores: Scores | None = None
    traces_now: Traces | None = None

    def queries(self) -> Iterator[FrozenQuery]:
        return iter(self.query_rows)

    def blocks(self) -> Iterator[FrozenBlock]:
        return iter(self.block_rows)

    def grades(self, split: str | None = None) -> Iterator[GradeRow]:
        return (row for row in self.grade_rows if split is None or row.split == split)

    def triples(self) -> Iterator[TripleRow]:
        return iter(self.triple_rows)

    def judgements(self, *, noted: bool = False) -> Iterator[JudgementRow] | None:
        if self.judgement_rows is None:
            return None
        return (row for row in self.judgement_rows if row.note or not noted)

    def scores(self) -> Scores | None:
        return self.run_scores

    def traces(self) -> Traces | None:
        return self.traces_now

    def slices(self) -> Iterator[SliceRow]:
        return iter(self.slice_rows)


class ListScores(NamedTuple):
    """Scores from a list for each pair."""

    features: list[Feature]
    of_pairs: dict[tuple[str, str], list[float]]

    def beside(self, grades: Iterable[GradeRow]) -> Iterator[tuple[GradeRow, list[float]]]:
        return ((row, self.of_pairs[row.query_id, row.block_id]) for row in grades)


class OneTrace(NamedTuple):
    """All pairs were returned in one span, one after the other."""

    def of(self, grades: Iterable[GradeRow]) -> Iterator[TracedGrade]:
        for place, row in enumerate(grades):
            yield TracedGrade(f"{1:032x}", f"{1:016x}", place, "search", "2026-11-01T08:00:00Z", row)


SMALL = ListContent(
    query_rows=[
        FrozenQuery("Q01", "How long are keys kept?", description="Retention", tags=("keys",), split="dev"),
        FrozenQuery("Q02", '=SUM("a")', split="test"),
    ],
    block_rows=[
        FrozenBlock("b1", "doc", "Keys", "Keys are kept for 90 days.\nThen they go.", ("Security", "Keys"), 3, 4),
        FrozenBlock("b2", "doc", "Größe", "„Anführung“ 数据", metadata={"z": 1, "a": 2}),
    ],
    grade_rows=[
        GradeRow("Q01", "b1", 3, "dev", "unanimous", 2, "How long are keys kept?", "Keys"),
        GradeRow("Q01", "b2", 0, "dev", "single", 1, "How long are keys kept?", "Größe"),
        GradeRow("Q02", "b1", 1, "test", "majority", 3, '=SUM("a")', "Keys"),
    ],
    triple_rows=[
        TripleRow(
            "T-0001",
            "How long are keys kept?",
            "90 days",
            (ExpectedBlock("b1", "doc", 3, 4, ("90 days",)),),
            query_id="Q01",
            domain="security",
            difficulty="easy",
            added_by="Mara",
            added_at="2026-11-01T08:00:00Z",
            reviewed_by=("Ines", "Tobias"),
            resolution="consensus",
            split="dev",
        )
    ],
    judgement_rows=[
        JudgementRow("Q01", "b1", 1, "person 1", 1, 3, "", "names the days", "2026-11-01T08:00:00Z", 900, 0, 1, "dev"),
        JudgementRow("Q01", "b1", 1, "person 2", 1, 3, "", "-90 days,\nnot more", split="dev"),
        JudgementRow("Q01", "b1", 1, "person 2", 2, 2, split="dev"),
        JudgementRow("Q01", "b2", 1, "person 1", 1, 0, split="dev"),
        JudgementRow("Q02", "b1", 1, "person 1", 1, None, "unreadable", split="test"),
        JudgementRow("Q02", "b1", 1, "person 2", 1, 1, split="test"),
    ],
    run_scores=ListScores(
        [Feature("bm25 of May", "BM25", "5d41"), Feature("dense", "Dense", "9a0c")],
        {("Q01", "b1"): [2.5, 0.25], ("Q01", "b2"): [1e-05, -3.0], ("Q02", "b1"): [0.0, 0.5]},
    ),
    traces_now=OneTrace(),
)


def with_query(**changes: object) -> ListContent:
    """SMALL with its first query changed, and the grades of that query with it."""
    first = SMALL.query_rows[0]._replace(**changes)
    grades = [g._replace(query_id=first.query_id) if g.query_id == "Q01" else g for g in SMALL.grade_rows]
    return replace(SMALL, query_rows=[first, SMALL.query_rows[1]], grade_rows=grades)


def _entry(row: FrozenBlock) -> SnapshotEntry:
    digests = block_digests(
        title=row.title, section_path=row.section, page_start=row.page_start, page_end=row.page_end, text=row.text
    )
    return SnapshotEntry(
        row.block_id, row.document_id, digests.version, metadata_digest(row.metadata), row.document_title
    )


def snapshot_facts(content: Content) -> dict[str, str]:
    """What a manifest says of the snapshot that holds these blocks."""
    return {"digest": snapshot_digest(_entry(row) for row in content.blocks())}


FACTS = {
    "project": {"slug": "keys"},
    "gold_set": {"slug": "handbook", "name": "Handbook"},
    "version": "v1",
    "snapshot": snapshot_facts(SMALL),
}
"""What the manifest of SMALL says, its list of files apart."""


def written(files) -> dict[str, bytes]:
    return {path: b"".join(chunks) for path, chunks in files}
