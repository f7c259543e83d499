"""The runs scored on each split of a version, by grades and by each hit rule, with their strata and hard negatives."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from django.db.models import Count

from apps.common.text.wording import count
from apps.evaluation import rules
from apps.evaluation.core import packing
from apps.evaluation.core.basis import RULE_NAMES, basis_words
from apps.evaluation.models import Evaluation, Score
from apps.evaluation.rules import EVERY_SPLIT
from apps.evaluation.selectors import evaluations, leaderboard
from apps.evaluation.selectors.comparisons import Background, EvaluationPair
from apps.evaluation.selectors.leaderboard import RankedRun
from apps.evaluation.selectors.rankings import JUDGED_NAME
from apps.goldsets.enums import Split
from apps.goldsets.models import Version, VersionGrade
from apps.metrics.columns import Floats
from apps.metrics.expected.rules import BY_GRADES, TEXT, counts_questions, is_by_text
from apps.metrics.measures.entries import Measure
from apps.metrics.measures.registry import parse_measure
from apps.metrics.scorecard import Scorecard
from apps.metrics.statistics.significance import DEFAULT_CONFIDENCE, Summary, summaries
from apps.reports.core.document import Block, Mean, Paragraph, ReportSection, Table
from apps.reports.core.negatives import MeasuredSplit, negative_parts
from apps.reports.core.score_document import measures_part, verdict_of
from apps.reports.core.version_document import SplitBoard, Stratum, strata_section
from apps.reports.models import NegativesReport
from apps.reports.presenters.version_reports.questions import VersionQuestions, divided, in_order
from apps.reports.selectors.analyses import latest_negatives
from apps.retrieval.enums import SystemKind

NOT_MEASURED = (
    "What they do to scores has not been measured: a lead can start that under Training negatives of the version."
)
CHOSEN_BY_SCORE = "It is the best of {} runs by these very figures: by chance alone it looks better here than it is."
ALL = ("All", "all questions")


def negative_blocks(version: Version) -> list[Block]:
    """From the newest measurement of each split; until there is one, the number of pairs judged not relevant."""
    measured = measured_splits(latest_negatives(version))
    return list(negative_parts(measured)) if measured else _counted(version)


def measured_splits(reports: Mapping[str, NegativesReport]) -> list[MeasuredSplit]:
    return [
        MeasuredSplit(split, report.baseline.tag, report.depth, report.result)
        for split in Split.values
        if (report := reports.get(split))
    ]


def _counted(version: Version) -> list[Block]:
    found = VersionGrade.objects.filter(query__version=version, grade__lte=0)
    by_split = dict(found.values_list("query__split").annotate(n=Count("pk")).order_by("query__split"))
    if not by_split:
        return []
    rows = [[str(split), count(by_split.get(split, 0))] for split in Split.values]
    return [Table("Judged and not relevant", ["Split", "Pairs judged not relevant"], rows), Paragraph(NOT_MEASURED)]


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
        return where + (f", {basis_words(self.hit)}" if self.hit else "")

    @property
    def counts_questions(self) -> bool:
        return counts_questions(self.hit)


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
    shown = board.measures if board.counts_questions else [*board.measures, JUDGED_NAME]
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


def scores_with_values(boards: Sequence[ScoredBoard]) -> dict[int, Score]:
    """By key every score, with its values by question, of the runs that strata and comparisons are of.

    The evaluations of these runs get their query ids.
    """
    main = [ranked.scores[board.measures[0]] for board in _chosen(boards) for ranked in best_and_baseline(board)]
    rows = Score.objects.filter(evaluation__in={score.evaluation_id for score in main})
    scores = {score.pk: score for score in rows.select_related("evaluation").order_by("order")}
    for score in main:
        score.evaluation.query_ids = scores[score.pk].evaluation.query_ids
    return scores


def to_compare(boards: Sequence[ScoredBoard]) -> list[tuple[ScoredBoard, Evaluation, Evaluation]]:
    """The best run of each chosen board, and its baseline."""
    found = []
    for board in _chosen(boards):
        scored = [ranked.scores[board.measures[0]].evaluation for ranked in best_and_baseline(board)]
        found += [(board, scored[0], other) for other in scored[1:]]
    return found


def compared_pairs(
    boards: Sequence[ScoredBoard], scores: Mapping[int, Score], backgrounds: Mapping[int, Background]
) -> list[tuple[ScoredBoard, EvaluationPair]]:
    """Those of `to_compare` that have values for the same questions."""
    values: defaultdict[int, dict[str, Floats]] = defaultdict(dict)
    for score in scores.values():
        values[score.evaluation_id][score.measure] = packing.unpack(bytes(score.values))
    pairs = [
        (board, EvaluationPair(old, new, (values[old.pk], values[new.pk]), background=backgrounds[new.pk]))
        for board, new, old in to_compare(boards)
    ]
    return [(board, pair) for board, pair in pairs if pair.comparison.measure(board.measures[0]) is not None]


def comparison_section(board: ScoredBoard, pair: EvaluationPair) -> ReportSection:
    """The comparison of its own page, without single questions."""
    first, compared = board.measures[0], pair.among(board.measures[0])
    compared = replace(compared, measures=sorted(compared.measures, key=lambda row: row.measure != first))
    card = Scorecard(
        measures={row.measure: parse_measure(row.measure) for row in compared.measures},
        queries=tuple(pair.candidate.query_ids),
        with_relevant=pair.candidate.counts.get("with_relevant", len(pair.candidate.query_ids)),
        runs=[],
        confidence=DEFAULT_CONFIDENCE,
        seed=pair.candidate.seed,
        hit=pair.candidate.rule,
        comparisons=[compared],
    )
    section = measures_part(card, compared)
    blocks = [Paragraph(verdict_of(card, compared)), *section.blocks]
    if len(board.runs) > 2:
        blocks.append(Paragraph(CHOSEN_BY_SCORE.format(count(len(board.runs))), quiet=True))
    return section._replace(title=f"{section.title} on {board.where}", blocks=blocks)


def _chosen(boards: Sequence[ScoredBoard]) -> list[ScoredBoard]:
    """By grades, by text and by one hit rule, on dev and test; on both together where neither was scored by itself."""
    by_grades = [board for board in boards if not board.hit]
    by_text = [board for board in boards if is_by_text(board.hit)]
    on_triples = [board for board in boards if board.counts_questions]
    return [board for kind in (by_grades, by_text, on_triples) for board in _by_split(_by_one_rule(kind))]


def strata_sections(
    questions: VersionQuestions, boards: Sequence[ScoredBoard], scores: Mapping[int, Score]
) -> list[ReportSection]:
    sections = [_section(questions, board, scores) for board in _chosen(boards)]
    return [section for section in sections if section.blocks]


def _by_split(boards: Sequence[ScoredBoard]) -> list[ScoredBoard]:
    by_split = {board.split: board for board in boards}
    single = [by_split[split] for split in Split.values if split in by_split]
    return single or [by_split[split] for split in [EVERY_SPLIT] if split in by_split]


def _by_one_rule(boards: Sequence[ScoredBoard]) -> list[ScoredBoard]:
    """The boards of the rule by which most runs were scored, the strictest of several."""
    runs: dict[str, int] = {}
    for board in boards:
        runs[board.hit] = runs.get(board.hit, 0) + len(board.runs)
    kinds = [BY_GRADES, TEXT, *RULE_NAMES]
    chosen = min(runs, key=lambda hit: (-runs[hit], kinds.index(hit.partition("(")[0]), hit), default=None)
    return [board for board in boards if board.hit == chosen]


def _section(questions: VersionQuestions, board: ScoredBoard, scores: Mapping[int, Score]) -> ReportSection:
    runs, measure = best_and_baseline(board), parse_measure(board.measures[0])
    names, columns = _values_of([scores[ranked.scores[board.measures[0]].pk] for ranked in runs])
    kinds = questions.kinds(board.split, by_triples=board.counts_questions)
    large, small = divided(names, kinds, questions.in_test)
    whole = Stratum(*ALL, len(names), _summaries(measure, columns))
    strata = [
        Stratum(*kind, len(places), _summaries(measure, [column[places] for column in columns]))
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
    columns = [in_order(packing.unpack(bytes(score.values)), score.evaluation.query_ids, names) for score in scores]
    return names, columns


def _summaries(measure: Measure, columns: Sequence[Floats]) -> list[Summary]:
    return [summaries([measure], column[:, None])[0] for column in columns]
