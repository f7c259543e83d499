"""What a run scored by text covers, and what its page tells of it beside the scores."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from apps.evaluation.core.earnings import FIRST, Earned, earned_by
from apps.evaluation.execution.results import VersionTexts
from apps.evaluation.models import Evaluation
from apps.evaluation.selectors.rankings import ScoringGround
from apps.metrics.columns import Covering
from apps.metrics.expected.rules import USUAL_SHARE
from apps.metrics.measures.entries import Measure
from apps.metrics.measures.registry import measure_run
from apps.metrics.statistics.significance import summaries
from apps.retrieval.execution.passage_location import LocatedRun

MOST_LISTED = 200
"""So many passages that were not located are listed."""

SHARES = (0.5, USUAL_SHARE, 1.0)
"""The shares of words by which a page also gives the first measure."""


@dataclass
class TextScores:
    """What an evaluation by text is computed from; its passages are located once, for every share."""

    evaluation: Evaluation
    ground: ScoringGround

    @cached_property
    def texts(self) -> VersionTexts:
        return VersionTexts(self.evaluation.version, self.ground.numbers)

    @cached_property
    def located(self) -> LocatedRun:
        return self.texts.located(self.evaluation.run)

    @property
    def share(self) -> float:
        assert self.evaluation.rule is not None
        return self.evaluation.rule.share

    @cached_property
    def covering(self) -> Covering:
        return self.texts.covering(self.located, self.share)

    def counts(self, measure: Measure) -> dict[str, Any]:
        """How many of the first passages were located, what they earn, and the measure by other shares of words."""
        earned: Earned = earned_by(self.covering, self.ground.judged, self.share, self.texts.evidence)
        passages = int(np.minimum(self.covering.returned, FIRST).sum())
        return {
            "passages": passages,
            "located": passages - earned["lost"],
            "lost": earned["lost"],
            "lost_at": self._lost_at(),
            "earn": earned,
            "shares": [self._by_share(measure, share) for share in sorted({*SHARES, self.share})],
        }

    def _lost_at(self) -> list[tuple[str, int]]:
        """Query and rank from 1 of the first passages that were not located, by query and rank."""
        queries, covering = self.ground.judged.queries, self.covering
        rows = sorted(zip(covering.lost_query.tolist(), covering.lost_rank.tolist(), strict=True))
        return [(queries[query], rank + 1) for query, rank in rows if rank < FIRST][:MOST_LISTED]

    def _by_share(self, measure: Measure, share: float) -> dict[str, float | None]:
        judged, ids = self.ground.judged, range(self.evaluation.version.snapshot.block_count)
        covering = self.covering if share == self.share else self.texts.covering(self.located, share)
        values = measure_run([measure], judged, covering, ids)
        (found,) = summaries([measure], values, originals=judged.originals)
        low, high = found.interval or (None, None)
        return {"share": share, "mean": found.mean, "low": low, "high": high}
