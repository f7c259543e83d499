"""The scorecard of runs measured on triples: `karat score --triples`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from apps.cli.score.measuring import TripleGround, card_of
from apps.cli.score.returned import Answers, Names, block_facts, returned_by_results, returned_by_run
from apps.cli.score.triple_files import load_triples, names_of, opened, with_texts
from apps.common.files.linefiles import name_of
from apps.metrics.estimate import NONE
from apps.metrics.expected.measures import DEFAULT_HIT_MEASURES, refuse_without_hits
from apps.metrics.expected.rules import BLOCK, HitRule, HitRuleError, Returned, parse_hit_rule
from apps.metrics.files.input_digests import Digests
from apps.metrics.files.strata import load_strata
from apps.metrics.measures.notation import MeasureError
from apps.metrics.measures.registry import named_measures
from apps.metrics.scorecard import Scorecard, ScoredRun, with_distinct_tags

WITHOUT_CORPUS = "Name the passages with --corpus corpus.jsonl, or measure with --hit block."


def scorecard_of_triples(args: argparse.Namespace, remarks: TextIO) -> Scorecard:
    """Read the files and measure the runs on the triples.

    Raises InputError and InputErrors for a file, and MeasureError for options that contradict each other.
    """
    rule = hit_rule(args.hit)
    measures = named_measures(args.measures or DEFAULT_HIT_MEASURES)
    refuse_without_hits(measures.values())
    paths = _paths(args)
    with Digests(_files(args, paths) if args.html or args.markdown else ()) as digests:
        triples = load_triples(args.triples)
        blocks = block_facts(args.corpus) if args.corpus else {}
        triples = triples._replace(questions=with_texts(triples.questions, blocks))
        ground, names = TripleGround(triples.questions, rule, measures), names_of(triples.questions)
        runs = [
            _scored(path, ground, _read(path, is_run=is_run, names=names, blocks=blocks), args, remarks)
            for path, is_run in paths
        ]
    divisions = load_strata(args.by, ground.asked).divisions if args.by else ground.divided(triples.divisions)
    return card_of(
        ground,
        with_distinct_tags([run for run, _ in runs], [path for path, _ in paths]),
        divisions,
        confidence=args.confidence,
        seed=args.seed,
        interval=args.ci,
        is_compared=bool(args.compare),
        with_queries=args.per_query,
        unreadable=sum(number for _, number in runs),
        inputs=list(digests.taken()),
    )


def hit_rule(text: str) -> HitRule:
    """The rule of the option --hit. Raises MeasureError."""
    try:
        return parse_hit_rule(text)
    except HitRuleError as error:
        raise MeasureError(str(error)) from error


def _paths(args: argparse.Namespace) -> list[tuple[str, bool]]:
    """The runs in the order of the output, the baseline first, each with whether it is a TREC run."""
    paths = [*((path, True) for path in args.runs or ()), *((path, False) for path in args.results or ())]
    if args.compare:
        first = next((one for one in paths if one[0] == args.compare), (args.compare, not is_results(args.compare)))
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


def is_results(path: str) -> bool:
    """Whether a file has returned passages; else it is a TREC run."""
    return Path(path.removesuffix(".gz")).suffix == ".jsonl"


def _files(args: argparse.Namespace, paths: Sequence[tuple[str, bool]]) -> list[tuple[str, str]]:
    files = [("triples", args.triples)]
    files += [("baseline" if path == args.compare else "run" if is_run else "results", path) for path, is_run in paths]
    files += [("passages", args.corpus), ("strata", args.by)]
    return [(role, path) for role, path in files if path]


def _scored(
    path: str,
    ground: TripleGround,
    answers: Answers,
    args: argparse.Namespace,
    remarks: TextIO,
) -> tuple[ScoredRun, int]:
    """One run, and how many of its passages the rule cannot read."""
    if answers.unknown:
        some = ", ".join(answers.unknown[:3])
        print(f"{name_of(path)}: {len(answers.unknown):,} of its questions are of no triple: {some}.", file=remarks)
    return ground.measured(answers.tag, answers.returned, confidence=args.confidence, with_interval=args.ci != NONE)


def _read(path: str, *, is_run: bool, names: Names, blocks: Mapping[str, Returned]) -> Answers:
    read = returned_by_run if is_run else returned_by_results
    with opened(path) as source:
        return read(source, names, blocks)
