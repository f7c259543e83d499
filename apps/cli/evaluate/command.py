"""`karat eval`: run any system outside Karat against a released gold set: retrieve, score, check gates, report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from apps.cli.evaluate import options, retrieval
from apps.cli.evaluate.answers import AnswerFile, OtherRun, write_run
from apps.cli.evaluate.output import FORMATS, ResultSheet
from apps.cli.evaluate.program import CommandEngine
from apps.cli.evaluate.progress import Progress
from apps.cli.evaluate.release import ReleaseSplit, read_release
from apps.cli.evaluate.scoring import Answered, evaluate, fit_answers, from_answers
from apps.common.digests import digest_of
from apps.common.errors import InputError, InputErrors
from apps.common.files.faults import as_lines
from apps.common.web.addresses import BadAddress
from apps.gates.core.rule import PASSED, GateRule, measures_of
from apps.gates.core.tiers import rules_in, sample
from apps.gates.formats import read_rules
from apps.goldsets.formats.verification import NotAnExport
from apps.metrics.columns import Judged
from apps.metrics.files.input_digests import Digests
from apps.metrics.files.reading import load_run, missing_of
from apps.metrics.files.run_warnings import remarks_on_blocks, remarks_on_depth, remarks_on_file, remarks_on_judged
from apps.metrics.measures import Measure, parse_measures
from apps.metrics.measures.notation import MeasureError, faults_of
from apps.metrics.vocabulary import Vocabulary
from apps.retrieval.core.engines.base import BadParameters

PASS, GATE_FAILED, USAGE, DATA_ERROR, STOPPED = 0, 1, 2, 3, 130
ANSWERS_FOLDER = Path(".karat-eval")
NAMED = 3


class NotAnswered(Exception):
    """A system left queries without an answer; the message is a sentence."""


def add_parser(subparsers: argparse._SubParsersAction) -> argparse.ArgumentParser:
    """Adds `eval` to the commands of `karat`."""
    parser = subparsers.add_parser(
        "eval",
        help="run an outside system against a released gold set, score and gate it",
        description="Run every query of a released gold set on any system, score the answers, check gates.",
        epilog=options.EPILOG,
    )
    parser.add_argument("release", type=Path, metavar="RELEASE", help="an exported folder, or the zip file of one")
    options.add_options(parser)
    parser.set_defaults(run=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Retrieve, score, check gates and print. Returns the exit code."""
    try:
        measures = parse_measures(args.measures)
        engine = None if args.run_file else options.engine_of(args)
        pace, headers = options.pace_of(args), options.signed(args)
    except (MeasureError, BadParameters) as error:
        return _refuse(error, USAGE)
    try:
        rules = rules_in(read_rules(args.gates), args.tier) if args.gates else []
        release = _asked(args, read_release(args.release, _split(args)), rules)
        rules = _on_slice(args, release, rules)
        blocks = Vocabulary()
        judged = release.judged(blocks)
        with Digests(_files(args)) as digests:
            if engine is None:
                answered = _from_file(args, args.run_file, judged, blocks, name=args.name)
            else:
                _remark_on_depth(args.depth, [*measures, *measures_of(rules)])
                answered = _from_system(args, engine, pace, headers, release, judged, blocks)
            sheet = _sheet(args, release, judged, blocks, answered, measures, rules)
        _write_reports(args, sheet, digests)
    except (InputError, InputErrors, NotAnExport, OtherRun, BadAddress, NotAnswered, OSError) as error:
        return _refuse(error, DATA_ERROR)
    except KeyboardInterrupt:
        if engine is None:
            raise
        return _refuse("stopped. The answers so far are saved. Run the same command again to continue.", STOPPED)
    for run in sheet.evaluated.card.runs:
        for remark in remarks_on_judged(run.scores.judged_at_10):
            print(f"{run.tag}: {remark}", file=sys.stderr)
    if engine is None:
        for remark in remarks_on_depth(sheet.evaluated.card.measures, answered.ranked):
            print(f"{answered.name}: {remark}", file=sys.stderr)
    sys.stdout.write(FORMATS[args.format](sheet))
    return PASS if sheet.evaluated.state in (None, PASSED) else GATE_FAILED


def _refuse(error: Exception | str, code: int) -> int:
    for line in _lines_on(error):
        print(f"karat eval: {line}", file=sys.stderr)
    return code


def _lines_on(error: Exception | str) -> Iterable[str]:
    if isinstance(error, InputError | InputErrors):
        return as_lines(error)
    return map(str, faults_of(error)) if isinstance(error, MeasureError) else [str(error)]


def _split(args: argparse.Namespace) -> str | None:
    """The requested split; None leaves the choice to the release."""
    if args.split is None:
        return "" if args.tier == "deep" else None
    return "" if args.split == "all" else args.split


def _asked(args: argparse.Namespace, release: ReleaseSplit, rules: Sequence[GateRule]) -> ReleaseSplit:
    """The release with the queries to ask: of a slice, or in the smoke tier a sample and the slices that gates name."""
    if args.slice:
        return release.in_slice(args.slice)
    if args.tier != "smoke":
        return release
    ids = [query.query_id for query in release.queries]
    sampled = {ids[place] for place in sample(ids, seed=args.seed)}
    named = (rule.slice.value for rule in rules if rule.slice is not None and rule.slice.is_named)
    return release.only(sampled.union(*(release.slices.get(name, ()) for name in named)))


def _on_slice(args: argparse.Namespace, release: ReleaseSplit, rules: list[GateRule]) -> list[GateRule]:
    """The rules to check: with --slice without those on another slice, whose questions are not all asked.

    Raises InputError when none is left: such a pipeline would always pass.
    """
    if not args.slice or not rules:
        return rules
    asked = release.slices[args.slice]
    others = [one for one in rules if one.slice and one.slice.is_named and release.slices.get(one.slice.value) != asked]
    left = [one for one in rules if one not in others]
    if not left:
        message = f"Every gate is on another slice than {args.slice}, so none would be checked."
        raise InputError(str(args.gates), None, "slice", args.slice, message)
    if others:
        names = _some([one.name for one in others])
        print(f"karat eval: not checked, since they are on another slice: {names}.", file=sys.stderr)
    return left


def _remark_on_depth(depth: int, measures: Iterable[Measure]) -> None:
    """Warn before any request is sent, since repeating them takes time."""
    cutoffs = {str(measure): measure.cutoff for measure in measures if measure.cutoff and measure.cutoff > depth}
    if cutoffs:
        read, deepest = "reads" if len(cutoffs) == 1 else "read", max(cutoffs.values())
        warning = f"{', '.join(cutoffs)} {read} no more than the {depth:,} requested results"
        print(f"karat eval: {warning}; --depth {deepest} requests all.", file=sys.stderr)


def _from_file(args: argparse.Namespace, path: str, judged: Judged, blocks: Vocabulary, *, name: str = "") -> Answered:
    file = load_run(path, judged, blocks, fits_ids=args.fit_ids)
    for remark in remarks_on_file(file, judged, missing_of(judged, file.ranked)):
        print(f"{file.path}: {remark}", file=sys.stderr)
    return Answered(name or file.tag, file.ranked, file.ids)


def _from_system(
    args: argparse.Namespace,
    engine: options.RemoteEngine,
    pace: options.Pace,
    headers: dict[str, str],
    release: ReleaseSplit,
    judged: Judged,
    blocks: Vocabulary,
) -> Answered:
    """The answers to every query. Raises NotAnswered when some are missing; the others are stored for the next time."""
    identity = {
        "release": release.digest or release.name,
        "split": release.split,
        "system": {key: value for key, value in engine.identity().items() if key != "auth"},
        "depth": args.depth,
    }
    file = AnswerFile(args.answers or ANSWERS_FOLDER / f"{digest_of(identity)[:16]}.jsonl", identity)
    progress = Progress(sys.stderr, is_quiet=args.quiet)
    outcome = retrieval.retrieve(
        engine, release.queries, file, k=args.depth, pace=pace, headers=headers, progress=progress
    )
    if len(outcome.answers) < len(release.queries):
        raise NotAnswered(_unanswered(outcome, len(release.queries), file))
    answers = [outcome.answers[query.query_id] for query in release.queries]
    name = args.name or (engine.called if isinstance(engine, CommandEngine) else engine.address)
    if args.save_run:
        write_run(args.save_run, name, answers)
    if not args.answers:
        file.remove()
    words = ""
    if args.fit_ids:
        answers, words = fit_answers(answers, judged, blocks)
    answered = from_answers(name, answers, judged, blocks)
    for remark in [words] if words else remarks_on_blocks(answered.ranked, answered.ids, judged):
        print(f"{name}: {remark}", file=sys.stderr)
    return answered


def _unanswered(outcome: retrieval.RetrievalOutcome, total: int, file: AnswerFile) -> str:
    """Which queries have no answer, why, and what to do."""
    left = total - len(outcome.answers)
    by_reason: dict[str, list[str]] = {}
    for query, reason in outcome.failed.items():
        by_reason.setdefault(reason, []).append(query)
    sentences = [f"{left:,} of {total:,} queries have no answer, so nothing was scored{_unsent(outcome, left)}."]
    sentences += [f"{_some(queries)}: {reason}" for reason, queries in list(by_reason.items())[:NAMED]]
    if others := sum(map(len, list(by_reason.values())[NAMED:])):
        sentences.append(f"{others:,} more for other reasons.")
    if outcome.answers:
        sentences.append(f"The answers so far are saved in {file.path}. Run the same command again to continue.")
    return " ".join(sentences)


def _unsent(outcome: retrieval.RetrievalOutcome, left: int) -> str:
    """How many queries failed and how many were not sent, where some were not."""
    unsent = left - len(outcome.failed)
    if not unsent:
        return ""
    return f": {len(outcome.failed):,} failed, {unsent:,} {'was' if unsent == 1 else 'were'} not sent"


def _some(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more:,} more" if more > 0 else "")


def _sheet(
    args: argparse.Namespace,
    release: ReleaseSplit,
    judged: Judged,
    blocks: Vocabulary,
    answered: Answered,
    measures: Sequence[Measure],
    rules: Sequence[GateRule],
) -> ResultSheet:
    baseline = _from_file(args, args.baseline, judged, blocks) if args.baseline else None
    scored = evaluate(
        release,
        judged,
        answered,
        measures=measures,
        rules=rules,
        baseline=baseline,
        cost=args.cost,
        seed=args.seed,
        confidence=args.confidence,
    )
    return ResultSheet(release, scored, args.tier if rules else None, options.timed_words(args))


def _files(args: argparse.Namespace) -> list[tuple[str, str]]:
    """The input files of a report besides the release, with their roles."""
    if not (args.html or args.markdown):
        return []
    named = {"run": args.run_file, "answers": args.answers, "baseline": args.baseline, "gates": args.gates}
    return [(role, str(path)) for role, path in named.items() if path]


def _write_reports(args: argparse.Namespace, sheet: ResultSheet, digests: Digests) -> None:
    """Write the requested reports. Raises InputError for a file that cannot be written."""
    if args.html or args.markdown:
        from apps.cli.evaluate.report import document_of  # only for a report
        from apps.reports.formats.files import write_reports

        card = sheet.evaluated.card._replace(inputs=list(digests.taken()))
        sheet = sheet._replace(evaluated=sheet.evaluated._replace(card=card))
        write_reports(document_of(sheet), html=args.html, markdown=args.markdown)
