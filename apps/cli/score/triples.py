"""The scorecard of runs measured on triples: `karat score --triples`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import compress
from pathlib import Path
from typing import TextIO

import numpy as np

from apps.cli.score.returned import block_facts, returned_by_results, returned_by_run
from apps.cli.score.triple_files import load_triples, names_of, opened, with_texts
from apps.metrics.estimate import NONE
from apps.metrics.expected import (
    DEFAULT_HIT_MEASURES,
    HitRule,
    HitRuleError,
    Question,
    Returned,
    find_hits,
    measure_hits,
    parse_hit_rule,
    refuse_without_hits,
)
from apps.metrics.expected.rules import BLOCK
from apps.metrics.expected.summaries import hit_summaries
from apps.metrics.files.input_digests import Digests
from apps.metrics.files.strata import QueryDivision, load_strata
from apps.metrics.measures import Measure, named_measures
from apps.metrics.measures.notation import MeasureError
from apps.metrics.scorecard import Input, Scorecard, ScoredRun, StratumScores, compared_with_first, with_distinct_tags
from apps.metrics.scoring import RunScores

WITHOUT_CORPUS = "Name the passages with --corpus corpus.jsonl, or measure with --hit block."


def scorecard_of_triples(args: argparse.Namespace, remarks: TextIO) -> Scorecard:
    """Read the files and measure the runs on the triples.

    Raises InputError and InputErrors for a file, and MeasureError for options that contradict each other.
    """
    rule = _rule(args.hit)
    measures = named_measures(args.measures or DEFAULT_HIT_MEASURES)
    refuse_without_hits(measures.values())
    paths = _paths(args)
    with Digests(_files(args, paths) if args.html or args.markdown else ()) as digests:
        triples = load_triples(args.triples)
        blocks = block_facts(args.corpus) if args.corpus else {}
        triples = triples._replace(questions=with_texts(triples.questions, blocks))
        ground = _Ground(triples.questions, names_of(triples.questions), blocks, rule, measures)
        runs = [ground.scored(path, is_run=is_run, args=args, remarks=remarks) for path, is_run in paths]
    divisions = load_strata(args.by, ground.asked).divisions if args.by else ground.divided(triples.divisions)
    return _card(
        ground,
        with_distinct_tags([run for run, _ in runs], [path for path, _ in paths]),
        divisions,
        args,
        unreadable=sum(number for _, number in runs),
        inputs=list(digests.taken()),
    )


def _rule(text: str) -> HitRule:
    try:
        return parse_hit_rule(text)
    except HitRuleError as error:
        raise MeasureError(str(error)) from error


def _paths(args: argparse.Namespace) -> list[tuple[str, bool]]:
    """The runs in the order of the output, the baseline first, each with whether it is a TREC run."""
    paths = [*((path, True) for path in args.runs or ()), *((path, False) for path in args.results or ())]
    if args.compare:
        first = next((one for one in paths if one[0] == args.compare), (args.compare, not _is_results(args.compare)))
        paths = [first, *(one for one in paths if one != first)]
        if len(paths) == 1:
            raise MeasureError("--compare names the baseline; name another run with --run or --results.")
    if not paths:
        raise MeasureError("Name a run with --run RUN, or the passages that a system returned with --results RESULTS.")
    if args.hit != BLOCK and any(is_run for _, is_run in paths) and not args.corpus:
        raise MeasureError(f"--hit {args.hit} reads more of a passage than the ids of a run. {WITHOUT_CORPUS}")
    if [args.triples, args.corpus, args.by, *(path for path, _ in paths)].count("-") > 1:
        raise MeasureError("Only one file can be standard input.")
    return paths


def _is_results(path: str) -> bool:
    return Path(path.removesuffix(".gz")).suffix == ".jsonl"


def _files(args: argparse.Namespace, paths: Sequence[tuple[str, bool]]) -> list[tuple[str, str]]:
    files = [("triples", args.triples)]
    files += [("baseline" if path == args.compare else "run" if is_run else "results", path) for path, is_run in paths]
    files += [("passages", args.corpus), ("strata", args.by)]
    return [(role, path) for role, path in files if path]


class _Ground:
    """What every run is measured against."""

    def __init__(
        self,
        questions: list[Question],
        names: dict[str, list[str]],
        blocks: dict[str, Returned],
        rule: HitRule,
        measures: dict[str, Measure],
    ) -> None:
        self.names, self.blocks, self.rule, self.measures = names, blocks, rule, measures
        nothing = find_hits(questions, {}, rule)
        self.undefined, self._is_defined = nothing.undefined, nothing.is_defined
        self.questions = list(compress(questions, self._is_defined))
        self.asked = tuple(one.id for one in self.questions)

    def divided(self, divisions: Sequence[QueryDivision]) -> list[QueryDivision]:
        """The divisions of all questions, for those that the rule says something about."""
        return [one._replace(labels=tuple(compress(one.labels, self._is_defined))) for one in divisions]

    def scored(self, path: str, *, is_run: bool, args: argparse.Namespace, remarks: TextIO) -> tuple[ScoredRun, int]:
        """One run, and how many of its passages the rule cannot read."""
        read = returned_by_run if is_run else returned_by_results
        with opened(path) as source:
            answers = read(source, self.names, self.blocks)
        if answers.unknown:
            some = ", ".join(answers.unknown[:3])
            print(f"{source.name}: {len(answers.unknown):,} of its questions are of no triple: {some}.", file=remarks)
        hits = find_hits(self.questions, answers.returned, self.rule)
        values = measure_hits(list(self.measures.values()), hits)
        summaries = hit_summaries(
            list(self.measures.values()), values, confidence=args.confidence, with_interval=args.ci != NONE
        )
        answered = int((hits.returned > 0).sum())
        scores = RunScores(values, summaries, None, answered, len(self.asked) - answered)
        return ScoredRun(answers.tag, scores, hits.missing), hits.unreadable


def _card(
    ground: _Ground,
    runs: list[ScoredRun],
    divisions: Sequence[QueryDivision],
    args: argparse.Namespace,
    *,
    unreadable: int,
    inputs: Sequence[Input],
) -> Scorecard:
    card = Scorecard(
        measures=ground.measures,
        queries=ground.asked,
        with_relevant=len(ground.asked),
        runs=runs,
        confidence=args.confidence,
        seed=args.seed,
        interval=args.ci,
        with_queries=args.per_query,
        strata=list(_strata(ground, runs, divisions, args)),
        inputs=inputs,
        hit=ground.rule,
        undefined=ground.undefined,
        unreadable=unreadable,
    )
    if not args.compare:
        return card
    compared = compared_with_first(
        runs, ground.measures, ground.asked, confidence=args.confidence, seed=args.seed, interval=args.ci
    )
    return card._replace(comparisons=compared)


def _strata(
    ground: _Ground, runs: Sequence[ScoredRun], divisions: Sequence[QueryDivision], args: argparse.Namespace
) -> Iterator[StratumScores]:
    measures = list(ground.measures.values())
    for division in divisions:
        labels = np.array(division.labels)
        named = sorted(set(division.labels) - {""}, key=lambda name: (-int((labels == name).sum()), name))
        for name in named:
            inside = labels == name
            summaries = tuple(
                hit_summaries(
                    measures, run.scores.values[inside], confidence=args.confidence, with_interval=args.ci != NONE
                )
                for run in runs
            )
            yield StratumScores(division.field, name, int(inside.sum()), summaries)
