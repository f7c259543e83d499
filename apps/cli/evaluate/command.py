"""`karat eval`: run any system outside Karat against a released gold set: retrieve, score, check gates, report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from apps.cli.evaluate import options
from apps.cli.evaluate.answers import OtherRun
from apps.cli.evaluate.by_text import texts_without_ids
from apps.cli.evaluate.comment import check_comment, write_comment
from apps.cli.evaluate.existing import from_file
from apps.cli.evaluate.misses import misses_of, write_misses
from apps.cli.evaluate.next_steps import next_steps
from apps.cli.evaluate.output import FORMATS, ResultSheet
from apps.cli.evaluate.released import ReleaseSplit, asked_of, read_release
from apps.cli.evaluate.requested import NotAnswered, from_system, some
from apps.cli.evaluate.scoring import Answered, Wanted, evaluate
from apps.cli.score.by_text import remarks_by_text
from apps.cli.score.triples import is_results
from apps.common.errors import InputError, InputErrors
from apps.common.files.faults import as_lines
from apps.common.web.addresses import BadAddress
from apps.gates.core.rule import TIERS, GateRule, measures_of, rules_in
from apps.gates.formats import read_rules
from apps.goldsets.formats.verification import NotAnExport
from apps.metrics.columns import Judged
from apps.metrics.expected.measures import can_be_of_hits
from apps.metrics.expected.rules import BLOCK, is_by_text
from apps.metrics.files.input_digests import Digests
from apps.metrics.files.run_warnings import remarks_on_depth, remarks_on_judged
from apps.metrics.measures.entries import EXPECTED, UNANSWERABLE, Measure
from apps.metrics.measures.notation import MeasureError, faults_of
from apps.metrics.measures.registry import parse_measures
from apps.metrics.vocabulary import Vocabulary
from apps.retrieval.core.engines.base import BadParameters

USAGE, DATA_ERROR, STOPPED = 2, 3, 130
NO_GRADES = "It names no passage of a graded query by an id, so nothing was scored by grades."
NO_WORDS = "It returned no texts either, which could be located."
NO_CORPUS = "has no texts of passages in which others could be located: export it with karat export --format jsonl."


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
    is_asked = not (args.run_file or args.results_file)
    try:
        wanted = options.wanted_of(args)
        engine = options.engine_of(args) if is_asked else None
        pace, headers = options.pace_of(args), options.signed(args)
        check_comment(args)
    except (MeasureError, BadParameters) as error:
        return _refuse(error, USAGE)
    try:
        rules = rules_in(read_rules(args.gates), args.tier) if args.gates else None
        read = read_release(args.release, _split(args), with_corpus=_may_be_by_text(args, wanted, rules or []))
        release = asked_of(read, rules or [], part=args.slice, tier=args.tier, seed=args.seed)
        _check_sides(args, release, wanted)
        rules = _on_slice(args, release, rules)
        if rules == []:
            _remark_on_no_gate(args)
        blocks = Vocabulary()
        judged = release.judged(blocks) if release.queries else None
        with Digests(_files(args)) as digests:
            if engine is None:
                path = args.run_file or args.results_file
                is_own = bool(args.results_file)
                answered = from_file(
                    path, release, judged, blocks, fits_ids=args.fit_ids, name=args.name, has_results=is_own
                )
            else:
                _remark_on_depth(args.depth, [*wanted.by_grades, *wanted.on_triples, *measures_of(rules or [])])
                answered = from_system(args, engine, pace, headers, release, judged, blocks)
            sheet = _sheet(args, release, judged, blocks, answered, wanted, rules)
        _write_reports(args, sheet, digests)
        write_comment(args, release, judged, answered, sheet.evaluated)
        if args.misses:
            write_misses(args.misses, sheet.misses)
    except MeasureError as error:
        return _refuse(error, USAGE)
    except (InputError, InputErrors, NotAnExport, OtherRun, BadAddress, NotAnswered, OSError) as error:
        return _refuse(error, DATA_ERROR)
    except KeyboardInterrupt:
        if engine is None:
            raise
        return _refuse("stopped. The answers so far are saved. Run the same command again to continue.", STOPPED)
    _remark_on_grades(sheet, answered, is_asked=is_asked)
    sys.stdout.write(FORMATS[args.format](sheet))
    return sheet.evaluated.code


def _remark_on_grades(sheet: ResultSheet, answered: Answered, *, is_asked: bool) -> None:
    """What limits the figures by grades, and where there are none though there are grades."""
    card = sheet.evaluated.by_grades
    if card is not None and card.is_by_text:
        for run in card.runs:
            for remark in remarks_by_text(run, card.measures, with_depth=not is_asked):
                print(f"{run.tag}: {remark}", file=sys.stderr)
        return
    if card is None or answered.ranked is None:
        if sheet.release.queries:
            print(f"{answered.name}: {_no_grades(sheet.release)}", file=sys.stderr)
        return
    if remark := texts_without_ids(answered.passages, sheet.release.blocks):
        print(f"{answered.name}: {remark}", file=sys.stderr)
    for run in card.runs:
        for remark in remarks_on_judged(run.scores.judged_at_10):
            print(f"{run.tag}: {remark}", file=sys.stderr)
    if not is_asked:
        for remark in remarks_on_depth(card.measures, answered.ranked):
            print(f"{answered.name}: {remark}", file=sys.stderr)


def _no_grades(release: ReleaseSplit) -> str:
    """Why nothing was scored by grades: neither by ids, nor by text."""
    return f"{NO_GRADES} {NO_WORDS if release.blocks else f'{release.name} {NO_CORPUS}'}"


def _may_be_by_text(args: argparse.Namespace, wanted: Wanted, rules: Sequence[GateRule]) -> bool:
    """Whether passages may have to be located in the texts of the release."""
    is_own = not args.run_file or bool(args.baseline and is_results(args.baseline))
    return is_own or wanted.text is not None or any(is_by_text(rule.hit) for rule in rules)


def _check_sides(args: argparse.Namespace, release: ReleaseSplit, wanted: Wanted) -> None:
    """Raises NotAnExport for a hit rule or measures that go with what the release does not have."""
    if wanted.text and not (release.queries and release.blocks):
        lacks = NO_CORPUS if release.queries else "has no grades here."
        raise NotAnExport(f"--hit {args.hit} measures nothing: {release.name} {lacks}")
    if wanted.hit and wanted.hit.kind != BLOCK and not release.triples:
        raise NotAnExport(f"{release.name} has no Q&As here, so --hit {args.hit} measures nothing. Leave it out.")
    measures = parse_measures(args.measures) if args.measures else ()
    of_unanswerable = [str(one) for one in measures if UNANSWERABLE in one.entry.needs]
    if of_unanswerable and not any(query.is_unanswerable for query in release.queries):
        raise NotAnExport(f"{of_unanswerable[0]} counts unanswerable queries, and {release.name} has none here.")
    if of_triples := [str(one) for one in measures if EXPECTED in one.entry.needs and not release.triples]:
        raise NotAnExport(f"{release.name} has no Q&As here, and {', '.join(of_triples)} counts what they expect.")
    if measures and not release.queries and not any(map(can_be_of_hits, measures)):
        raise NotAnExport(f"{release.name} has no grades here, and {args.measures} needs grades.")


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


def _on_slice(args: argparse.Namespace, release: ReleaseSplit, rules: list[GateRule] | None) -> list[GateRule] | None:
    """The rules to check: with --slice without those on another slice, whose questions are not all asked."""
    if not args.slice or not rules:
        return rules
    asked = release.slices[args.slice]
    others = [one for one in rules if one.slice and one.slice.is_named and release.slices.get(one.slice.value) != asked]
    left = [one for one in rules if one not in others]
    if others:
        names = some([one.name for one in others])
        print(f"karat eval: not checked, since they are on another slice: {names}.", file=sys.stderr)
    return left


def _remark_on_no_gate(args: argparse.Namespace) -> None:
    """Said before anything is retrieved: the figures are worth having, but a pipeline must not take them for passed."""
    part = f"the {args.tier} tier" + (f" and the {args.slice} slice" if args.slice else "")
    others = [tier for tier in TIERS if rules_in(read_rules(args.gates), tier)]
    cure = f"run it with --tier {others[0]}" if others and not args.slice else "add a gate"
    print(f"karat eval: {args.gates} has no gate of {part}, so nothing is checked; {cure}.", file=sys.stderr)


def _remark_on_depth(depth: int, measures: Iterable[Measure]) -> None:
    """Warn before any request is sent, since repeating them takes time."""
    cutoffs = {str(measure): measure.cutoff for measure in measures if measure.cutoff and measure.cutoff > depth}
    if cutoffs:
        read, deepest = "reads" if len(cutoffs) == 1 else "read", max(cutoffs.values())
        warning = f"{', '.join(cutoffs)} {read} no more than the {depth:,} requested results"
        print(f"karat eval: {warning}; --depth {deepest} requests all.", file=sys.stderr)


def _sheet(
    args: argparse.Namespace,
    release: ReleaseSplit,
    judged: Judged | None,
    blocks: Vocabulary,
    answered: Answered,
    wanted: Wanted,
    rules: Sequence[GateRule] | None,
) -> ResultSheet:
    """The scores. Raises NotAnswered where the answers can be measured by nothing that the release has."""
    path = args.baseline
    baseline = from_file(path, release, judged, blocks, fits_ids=args.fit_ids) if path else None
    scored = evaluate(
        release,
        judged,
        answered,
        wanted=wanted,
        rules=rules,
        baseline=baseline,
        cost=args.cost,
        seed=args.seed,
        confidence=args.confidence,
        corrects_gates=args.correct_gates,
    )
    if not scored.cards:
        raise NotAnswered(f"{_no_grades(release)} {release.name} has no Q&As to measure it on.")
    misses = misses_of(release, judged, answered, scored)
    steps = None
    if not args.quiet:
        files = options.files_of(args)
        steps = next_steps(release, scored, misses, files, returned=answered.returned, names_hit=wanted.hit is not None)
    return ResultSheet(release, scored, None if rules is None else args.tier, options.timed_words(args), misses, steps)


def _files(args: argparse.Namespace) -> list[tuple[str, str]]:
    """The input files of a report besides the release, with their roles."""
    if not (args.html or args.markdown):
        return []
    named = {
        "run": args.run_file,
        "results": args.results_file,
        "answers": args.answers,
        "baseline": args.baseline,
        "gates": args.gates,
    }
    return [(role, str(path)) for role, path in named.items() if path]


def _write_reports(args: argparse.Namespace, sheet: ResultSheet, digests: Digests) -> None:
    """Write the requested reports. Raises InputError for a file that cannot be written."""
    if args.html or args.markdown:
        from apps.cli.evaluate.output import document_of  # only for a report
        from apps.reports.formats.markdown import write_reports

        write_reports(document_of(sheet, list(digests.taken())), html=args.html, markdown=args.markdown)
