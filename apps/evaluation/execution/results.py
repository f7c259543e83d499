"""What runs returned, in the form that measures read: rankings of blocks, or by text the blocks that are covered."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from apps.common.database.bulk import chunks
from apps.evaluation.models import Evaluation
from apps.evaluation.selectors import rankings
from apps.evaluation.selectors.expected import marked_evidence
from apps.evaluation.selectors.rankings import AT_ONCE, PlacedBlock, graded_positions
from apps.goldsets.models import Version, VersionQuery
from apps.metrics.by_text.coverage import Evidence
from apps.metrics.columns import Covering, Ranked
from apps.metrics.expected.rules import USUAL_SHARE, HitRule
from apps.retrieval.execution.passage_location import LocatedRun, locate_run, open_texts
from apps.retrieval.models import Run


@dataclass
class VersionTexts:
    """What runs cover of a version's snapshot, by their words, for some of its queries.

    `numbers` has the row of each query by its key.
    """

    version: Version
    numbers: Mapping[int, int]

    @cached_property
    def evidence(self) -> Evidence:
        """The words that Q&As of the version mark in blocks, for the queries that ask them.

        A block with evidence whose words are not found in it has none.
        """
        marked = marked_evidence(self.version, self.numbers)
        index = open_texts(self.version.snapshot) if marked else None
        evidence = {}
        for (query, block), texts in marked.items():
            spans = [index.place_in(block, text) for text in texts] if index else []
            found = [span for span in spans if span is not None]
            if len(found) == len(texts):
                evidence[query, block] = found
        return evidence

    def located(self, run: Run, depth: int | None = None) -> LocatedRun:
        return locate_run(run, self.numbers, depth=depth)

    def covering(self, located: LocatedRun, share: float = USUAL_SHARE) -> Covering:
        return located.covering(share, self.evidence)


@dataclass
class RunResults:
    """The results of runs for the queries of a version in `numbers`; by `rule`, which is by text, or by id without."""

    version: Version
    numbers: dict[int, int]
    rule: HitRule | None = None

    @cached_property
    def texts(self) -> VersionTexts:
        return VersionTexts(self.version, self.numbers)

    def of(self, run: Run) -> Ranked | Covering:
        if self.rule is None:
            return rankings.ranked_of(run, self.numbers)
        return self.texts.covering(self.texts.located(run), self.rule.share)


def covered_by(evaluation: Evaluation, queries: Sequence[VersionQuery], depth: int) -> dict[int, list[PlacedBlock]]:
    """By query key the blocks that the first `depth` passages of a run cover, by text, each at its first rank."""
    numbers = {query.query_id: number for number, query in enumerate(queries)}
    texts, rule = VersionTexts(evaluation.version, numbers), evaluation.rule
    covering = texts.covering(texts.located(evaluation.run, depth), rule.share if rule else USUAL_SHARE)
    found: defaultdict[int, list[PlacedBlock]] = defaultdict(list)
    order = np.lexsort((covering.block, covering.rank, covering.query))
    for at in order.tolist():
        placed = PlacedBlock(int(covering.block[at]), int(covering.rank[at]) + 1, None)
        found[queries[int(covering.query[at])].query_id].append(placed)
    return dict(found)


def placed_for(pair: Sequence[Evaluation], query: VersionQuery, depth: int) -> dict[int, list[PlacedBlock]]:
    """By key of the run the blocks that it returned for a query, or by text covers in its first `depth` passages."""
    if not any(one.is_by_text for one in pair):
        return rankings.rankings_of([one.run_id for one in pair], query.query_id)
    return {one.run_id: covered_by(one, [query], depth).get(query.query_id, []) for one in pair}


def top_blocks(pair: Sequence[Evaluation], queries: Sequence[VersionQuery], depth: int) -> list[tuple[int, int]]:
    """The blocks at ranks 1 to `depth` of any of the runs, as (query key, position), each once, ascending."""
    if not any(one.is_by_text for one in pair):
        return rankings.top_positions([one.run_id for one in pair], queries, depth)
    covered = [covered_by(one, queries, depth) for one in pair]
    return sorted({(key, block.position) for found in covered for key, blocks in found.items() for block in blocks})


def unjudged_blocks(pair: Sequence[Evaluation], queries: Sequence[VersionQuery], depth: int) -> dict[int, list[int]]:
    """By query key those of the `top_blocks` without a grade; queries without one are out."""
    found: dict[int, list[int]] = {}
    for part in chunks(queries, AT_ONCE):
        judged = graded_positions(part)
        for query_id, position in top_blocks(pair, part, depth):
            if (query_id, position) not in judged:
                found.setdefault(query_id, []).append(position)
    return found
