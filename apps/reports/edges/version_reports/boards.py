"""The runs scored on each split of a version, by grades and by each hit rule."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from apps.evaluation import rules
from apps.evaluation.edges.hit_sheets import rule_name
from apps.evaluation.models import Evaluation, Score
from apps.evaluation.selectors import evaluations, leaderboard
from apps.evaluation.selectors.leaderboard import RankedRun
from apps.evaluation.selectors.rankings import JUDGED_NAME
from apps.goldsets.models import Version
from apps.metrics.measures.registry import parse_measure
from apps.reports.core.mean_parts import Mean
from apps.reports.core.version_document import SplitBoard
from apps.retrieval.enums import SystemKind


class ScoredBoard(NamedTuple):
    """The runs scored on one split by grades or a hit rule, best first by the first of `measures`."""

    split: str
    hit: str
    measures: Sequence[str]
    runs: Sequence[RankedRun]

    @property
    def where(self) -> str:
        """ "the dev split, Q&As: same passage"."""
        split = rules.SPLIT_WORDS[self.split]
        where = f"the {split}" if self.split else split
        return where + (f", Q&As: {rule_name(self.hit).lower()}" if self.hit else "")


def scored_boards(version: Version) -> list[ScoredBoard]:
    """Scores by grades and by each hit rule have boards of their own, so that they are never read as one."""
    by_ground: defaultdict[tuple[str, str], list[Evaluation]] = defaultdict(list)
    for evaluation in evaluations.evaluations_of(version):
        by_ground[evaluation.hit, evaluation.split].append(evaluation)
    boards = []
    for hit, split in sorted(by_ground, key=lambda ground: (ground[0], rules.SPLITS.index(ground[1]))):
        names, runs = leaderboard.ranked_runs(by_ground[hit, split])
        if runs:
            boards.append(ScoredBoard(split, hit, names, runs))
    return boards


def split_board(board: ScoredBoard) -> SplitBoard:
    shown = board.measures if board.hit else [*board.measures, JUDGED_NAME]
    means = [_mean(ranked, name) for name in shown for ranked in board.runs if name in ranked.scores]
    return SplitBoard(board.where, [parse_measure(name) for name in board.measures], means)


def _mean(ranked: RankedRun, name: str) -> Mean:
    score: Score = ranked.scores[name]
    return Mean(name, ranked.run.tag, score.summary, score.people)


def best_and_baseline(board: ScoredBoard) -> list[RankedRun]:
    """The best run by the first measure, and BM25 or else the next best to read it against."""
    scored = [ranked for ranked in board.runs if board.measures[0] in ranked.scores]
    others = sorted(scored[1:], key=lambda ranked: ranked.run.system.kind != SystemKind.BM25)
    return [*scored[:1], *others[:1]]
