"""The scorecard of the files given to `karat score`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from itertools import compress
from typing import NamedTuple

from apps.common.files.linefiles import name_of
from apps.metrics.columns import Attributes, Ints, Judged
from apps.metrics.expected.hits import find_hits
from apps.metrics.expected.measures import measure_hits
from apps.metrics.expected.rules import HitRule, Question, Returned
from apps.metrics.files.attributes import (
    load_block_attributes,
    load_query_attributes,
    load_strata,
    load_unanswerable,
    load_weights,
)
from apps.metrics.files.input_digests import Digests
from apps.metrics.files.reading import load_qrels, load_run, missing_of
from apps.metrics.files.run_warnings import remarks_on_depth, remarks_on_file, remarks_on_judged
from apps.metrics.measures.entries import FACETS, GRADES, POOLED, UNANSWERABLE, WORDS, Measure
from apps.metrics.measures.notation import MeasureError
from apps.metrics.measures.registry import named_measures, needs_of, refuse_unmet
from apps.metrics.scorecard import (
    Input,
    Scorecard,
    ScoredRun,
    with_distinct_tags,
)
from apps.metrics.scoring import RunScores, queries_with_relevant, score_run, unknown_values
from apps.metrics.statistics.significance import summaries, weighted_summaries
from apps.metrics.statistics.strata import Division
from apps.metrics.vocabulary import Vocabulary


class TripleGround:
    """What every run is measured against: the questions that the rule says something about.

    `asked` are their ids, `undefined` those of the others.
    """

    def __init__(self, questions: Sequence[Question], rule: HitRule, measures: Mapping[str, Measure]) -> None:
        self.rule, self.measures = rule, measures
        nothing = find_hits(questions, {}, rule)
        self.undefined, self._is_defined = nothing.undefined, nothing.is_defined
        self.questions = list(compress(questions, self._is_defined))
        self.asked = tuple(one.id for one in self.questions)

    def divided(self, divisions: Sequence[Division]) -> list[Division]:
        """The divisions of all questions, for those that the rule says something about."""
        return [one._replace(labels=tuple(compress(one.labels, self._is_defined))) for one in divisions]

    def measured(
        self, tag: str, returned: Mapping[str, Sequence[Returned]], *, confidence: float, with_interval: bool = True
    ) -> tuple[ScoredRun, int]:
        """One run, and how many of its passages the rule cannot read."""
        measures = list(self.measures.values())
        hits = find_hits(self.questions, returned, self.rule)
        values = measure_hits(measures, hits)
        overall = summaries(measures, values, confidence=confidence, with_interval=with_interval)
        answered = int((hits.returned > 0).sum())
        scores = RunScores(values, overall, None, answered, len(self.asked) - answered)
        return ScoredRun(tag, scores, hits.missing), hits.unreadable

    def card(self, measured: Sequence[tuple[ScoredRun, int]], *, confidence: float, seed: int) -> Scorecard:
        """The scorecard of runs that were `measured` with this confidence."""
        return Scorecard(
            measures=self.measures,
            queries=self.asked,
            with_relevant=len(self.asked),
            runs=[run for run, _ in measured],
            confidence=confidence,
            seed=seed,
            hit=self.rule,
            undefined=self.undefined,
            unreadable=sum(number for _, number in measured),
        )


NO_MARKS = "no grade below 0 marks what was in the pool and not judged, so infAP is no more than AP."
BY_RESULTS = "Name them with --results RESULTS --corpus corpus.jsonl."
NO_UNANSWERABLE = "Name the file of their ids with --unanswerable FILE."
MISSING_FILE = "Name it with --blocks FILE; times of queries come with --query-attributes FILE."


class ScoringGround(NamedTuple):
    """What every run is scored against; `blocks` numbers the blocks where a measure needs more than grades."""

    measures: dict[str, Measure]
    judged: Judged
    blocks: Vocabulary | None
    divisions: tuple[Division, ...]
    stratified: Division | None

    @property
    def within(self) -> Ints | None:
        """The number of each query's stratum within which intervals are computed."""
        return self.stratified.numbers if self.stratified else None


def scorecard_of(args: argparse.Namespace) -> Scorecard:
    """Read the files and score them.

    Raises InputError and InputErrors for a file, and MeasureError for options that contradict each other.
    """
    paths = _run_paths(args)
    with Digests(_files(args, paths) if args.html or args.markdown else ()) as digests:
        ground = ground_of(args)
        refuse_unmet(_named_only(ground.measures, WORDS), {GRADES}, BY_RESULTS)
        known = {UNANSWERABLE} if args.unanswerable else set()
        refuse_unmet(_named_only(ground.measures, UNANSWERABLE), {GRADES} | known, NO_UNANSWERABLE)
        given = ground.judged.attributes.given | {GRADES, POOLED, FACETS} | known
        refuse_unmet(ground.measures.values(), given, MISSING_FILE)
        runs = [_scored(path, ground, args) for path in paths]
    runs = with_distinct_tags(runs, paths)
    return weighted_card(card_by_grades(ground, runs, args, list(digests.taken())), args.weights)


def _named_only(measures: Mapping[str, Measure], need: str) -> list[Measure]:
    """The measures that need this input."""
    return [one for one in measures.values() if need in one.entry.needs]


def card_by_grades(
    ground: ScoringGround, runs: Sequence[ScoredRun], args: argparse.Namespace, inputs: Sequence[Input]
) -> Scorecard:
    """The scorecard of runs that were scored by grades, the baseline first."""
    card = Scorecard(
        measures=ground.measures,
        queries=ground.judged.queries,
        with_relevant=queries_with_relevant(ground.judged, args.rel_level),
        runs=runs,
        confidence=args.confidence,
        seed=args.seed,
        with_intervals=args.with_intervals,
        with_queries=args.per_query,
        stratified=ground.stratified.field if ground.stratified else "",
        inputs=inputs,
        unanswerable=int((~ground.judged.answerable).sum()),
    ).by_strata(ground.divisions)
    return card.compared(ground.within) if args.compare else card


def weighted_card(card: Scorecard, path: str | None) -> Scorecard:
    """The scorecard with the means weighted by the file at `path`; as it is without one. Raises as `load_weights`."""
    if not path:
        return card
    weights, others = load_weights(path, card.queries)
    if others:
        was = "is" if others == 1 else "are"
        print(f"{name_of(path)}: {others:,} of its queries {was} not measured here.", file=sys.stderr)

    def weighed(run: ScoredRun) -> ScoredRun:
        is_shown, values = card.with_intervals, run.scores.values
        found = weighted_summaries(values, weights, confidence=card.confidence, with_interval=is_shown)
        return run._replace(weighted=found)

    return card._replace(runs=[weighed(run) for run in card.runs], weights=weights)


def _run_paths(args: argparse.Namespace) -> list[str]:
    """The runs in the order of the output, the baseline first."""
    paths = list(args.runs)
    if args.compare:
        paths = [args.compare, *(path for path in args.runs if path != args.compare)]
        if len(paths) == 1:
            raise MeasureError("--compare names the baseline; name another run with --run.")
    tables = [args.by, args.weights, args.blocks, args.query_attributes, args.unanswerable]
    if [args.qrels, *paths, *tables].count("-") > 1:
        raise MeasureError("Only one file can be standard input.")
    return paths


def _files(args: argparse.Namespace, paths: Sequence[str]) -> list[tuple[str, str]]:
    """Every file that is read, with its role."""
    files = [("judgements", args.qrels)]
    files += [("baseline" if path == args.compare else "run", path) for path in paths]
    files += [("strata", args.by), ("weights", args.weights), ("attributes of blocks", args.blocks)]
    files += [("attributes of queries", args.query_attributes), ("unanswerable queries", args.unanswerable)]
    return [(role, path) for role, path in files if path]


def ground_of(args: argparse.Namespace, numbers: Vocabulary | None = None) -> ScoringGround:
    """Read what runs are scored against. Blocks are numbered by `numbers`, where given."""
    measures = named_measures(args.measures, rel=args.rel_level)
    needs = needs_of(measures.values())
    blocks = Vocabulary() if numbers is None and (args.blocks or FACETS in needs) else numbers
    judged = load_qrels(args.qrels, blocks, with_facets=FACETS in needs)
    for remark in judged.remarks:
        print(f"{name_of(args.qrels)}: {remark}", file=sys.stderr)
    if args.unanswerable:
        judged = load_unanswerable(args.unanswerable, judged)
    judged.attributes = Attributes(
        load_block_attributes(args.blocks, blocks) if args.blocks and blocks is not None else None,
        load_query_attributes(args.query_attributes, judged.queries) if args.query_attributes else None,
    )
    if POOLED in needs and not (judged.grade < 0).any():
        print(f"{name_of(args.qrels)}: {NO_MARKS}", file=sys.stderr)
    divisions: tuple[Division, ...] = ()
    if args.by:
        divisions, unjudged, _ = load_strata(args.by, judged.queries)
        if unjudged:
            was = "was" if unjudged == 1 else "were"
            print(f"{name_of(args.by)}: {unjudged:,} of its queries {was} never judged.", file=sys.stderr)
    return ScoringGround(measures, judged, blocks, divisions, _stratified(args, divisions))


def _stratified(args: argparse.Namespace, divisions: Sequence[Division]) -> Division | None:
    if not args.stratify:
        return None
    chosen = next((division for division in divisions if division.field == args.stratify), None)
    if chosen is None:
        named = ", ".join(division.field for division in divisions)
        hint = f"{name_of(args.by)} has {named}." if divisions else "Name the file of strata with --by."
        raise MeasureError(f"--stratify {args.stratify}: there is no such column. {hint}")
    return chosen


def _scored(path: str, ground: ScoringGround, args: argparse.Namespace) -> ScoredRun:
    judged = ground.judged
    file = load_run(path, judged, ground.blocks, fits_ids=args.fit_ids)
    scores = score_run(
        list(ground.measures.values()),
        judged,
        file.ranked.abstaining(args.abstains_below, len(judged.queries)),
        file.ids,
        confidence=args.confidence,
        with_intervals=args.with_intervals,
        strata=ground.within,
        with_bounds=args.bounds,
        rel=args.rel_level,
    )
    missing = missing_of(judged, file.ranked)
    for remark in [
        *remarks_on_file(file, judged, missing),
        *remarks_on_judged(scores.judged_at_10),
        *remarks_on_depth(ground.measures, file.ranked),
        *(one.words for one in unknown_values(ground.measures.values(), judged, file.ranked, file.ids)),
    ]:
        print(f"{file.path}: {remark}", file=sys.stderr)
    return ScoredRun(file.tag, scores, missing)
