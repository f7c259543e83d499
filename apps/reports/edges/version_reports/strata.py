"""The means by stratum of the best run and of the one it is read against, for each split of a version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from apps.evaluation.core import misses
from apps.evaluation.edges.hit_sheets import RULE_NAMES
from apps.evaluation.models import Score
from apps.evaluation.rules import EVERY_SPLIT
from apps.goldsets.enums import Split
from apps.metrics.columns import Floats
from apps.metrics.expected.measures import hit_summaries
from apps.metrics.measures.entries import Measure
from apps.metrics.measures.registry import parse_measure
from apps.metrics.statistics.significance import DEFAULT_CONFIDENCE, Summary, summaries
from apps.reports.core.document import ReportSection
from apps.reports.core.stratum_parts import Stratum, strata_section
from apps.reports.edges.version_reports.boards import ScoredBoard, best_and_baseline
from apps.reports.edges.version_reports.questions import VersionQuestions, divided, in_order

ALL = ("All", "all questions")


def strata_sections(questions: VersionQuestions, boards: Sequence[ScoredBoard]) -> list[ReportSection]:
    """By grades and by one hit rule, for dev and test; for both together where neither was scored by itself."""
    by_grades = [board for board in boards if not board.hit]
    chosen = [*_by_split(by_grades), *_by_split(_by_one_rule(boards))]
    scores = _main_scores(chosen)
    sections = [_section(questions, board, scores) for board in chosen]
    return [section for section in sections if section.blocks]


def _by_split(boards: Sequence[ScoredBoard]) -> list[ScoredBoard]:
    by_split = {board.split: board for board in boards}
    single = [by_split[split] for split in Split.values if split in by_split]
    return single or [by_split[split] for split in [EVERY_SPLIT] if split in by_split]


def _by_one_rule(boards: Sequence[ScoredBoard]) -> list[ScoredBoard]:
    """The boards of the hit rule by which most runs were scored, the strictest of several."""
    runs: dict[str, int] = {}
    for board in boards:
        if board.hit:
            runs[board.hit] = runs.get(board.hit, 0) + len(board.runs)
    kinds = list(RULE_NAMES)
    chosen = min(runs, key=lambda hit: (-runs[hit], kinds.index(hit.partition("(")[0]), hit), default=None)
    return [board for board in boards if board.hit and board.hit == chosen]


def _main_scores(boards: Sequence[ScoredBoard]) -> dict[int, Score]:
    """The scores that the boards are read by, with their values by question, by key."""
    keys = [ranked.scores[board.measures[0]].pk for board in boards for ranked in best_and_baseline(board)]
    return Score.objects.filter(pk__in=keys).select_related("evaluation").in_bulk()


def _section(questions: VersionQuestions, board: ScoredBoard, scores: Mapping[int, Score]) -> ReportSection:
    runs, measure = best_and_baseline(board), parse_measure(board.measures[0])
    names, columns = _values_of([scores[ranked.scores[board.measures[0]].pk] for ranked in runs])
    kinds = questions.kinds(board.split, by_triples=bool(board.hit))
    large, small = divided(names, kinds, questions.in_test)
    whole = Stratum(*ALL, len(names), list(_summaries(measure, columns, board.hit)))
    strata = [
        Stratum(*kind, len(places), list(_summaries(measure, [column[places] for column in columns], board.hit)))
        for kind, places in large.items()
    ]
    return strata_section(
        f"Strata on {board.where}",
        f"{measure}, best run and baseline" if len(runs) > 1 else f"{measure}",
        [ranked.run.tag for ranked in runs],
        [whole, *strata] if strata else [],
        is_cut=bool(small),
        confidence=DEFAULT_CONFIDENCE,
    )


def _values_of(scores: Sequence[Score]) -> tuple[list[str], list[Floats]]:
    """The questions of the first run's score, and each run's values in their order."""
    names = list(scores[0].evaluation.query_ids)
    columns = [in_order(misses.unpack(bytes(score.values)), score.evaluation.query_ids, names) for score in scores]
    return names, columns


def _summaries(measure: Measure, columns: Sequence[Floats], hit: str) -> Iterator[Summary]:
    for column in columns:
        values = column[:, None]
        yield hit_summaries([measure], values)[0] if hit else summaries(values)[0]
