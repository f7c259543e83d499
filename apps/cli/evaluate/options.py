"""The options of `karat eval`, and the system that they configure."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path

from apps.cli.arguments import amount, called, share, whole, whole_from_one
from apps.cli.evaluate.comment import add_comment
from apps.cli.evaluate.existing import STANDARD_INPUT
from apps.cli.evaluate.next_steps import Files
from apps.cli.evaluate.output import FORMATS
from apps.cli.evaluate.program import CommandEngine
from apps.cli.evaluate.scoring import Wanted
from apps.cli.score.triples import hit_rule
from apps.gates.core.rule import TIERS
from apps.metrics.expected.measures import DEFAULT_HIT_MEASURES, can_be_of_hits
from apps.metrics.expected.rules import TEXT
from apps.metrics.measures.entries import EXPECTED
from apps.metrics.measures.registry import DEFAULT_MEASURES, DEFAULT_TEXT_MEASURES, parse_measures
from apps.metrics.statistics.significance import DEFAULT_CONFIDENCE, DEFAULT_SEED
from apps.retrieval.core.engines.base import BadParameters
from apps.retrieval.core.engines.remote.base import RemoteEngine
from apps.retrieval.core.engines.remote.http_json import HttpJson
from apps.retrieval.core.engines.remote.own_passages import OwnPaths
from apps.retrieval.core.engines.remote.search import Pace

DEFAULT_IDS = "hits[*].id"
PASSAGE_PATHS = OwnPaths._fields
DEFAULT_BODY = '{"query": {{query}}, "k": {{k}}}'
EPILOG = (
    "Exit codes: 0 every gate passed, or there are none; 1 a gate failed; 2 wrong command line; "
    "3 unusable release, gates or run, or a system that did not answer; "
    "4 a gate is not known yet; 5 nothing was checked: no gate of this tier or slice, or a gate without any query."
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add all arguments but the release."""
    _add_system(parser)
    what = parser.add_argument_group("queries, measures and gates")
    what.add_argument("--split", choices=["dev", "test", "all"], help="default: dev; with --tier deep all")
    what.add_argument(
        "--slice",
        default="",
        metavar="NAME",
        help="only its questions: rotating, canary, challenge, regression, 2026-Q4",
    )
    what.add_argument(
        "--measures",
        metavar="LIST",
        help=f'default: "{DEFAULT_MEASURES}" by grades, by text "{DEFAULT_TEXT_MEASURES}", "{DEFAULT_HIT_MEASURES}" on '
        "Q&As; of a list each side takes those that it can have",
    )
    what.add_argument(
        "--hit",
        metavar="RULE",
        help="what counts as right for a Q&A: block, document, pages, evidence, evidence(share=0.9); default: block, "
        "for systems that return texts without an id of the release evidence. Or text, text(share=0.9): grades by "
        "text, as for systems that name no graded passage by an id",
    )
    what.add_argument("--gates", type=Path, metavar="FILE", help="TOML, a [[gate]] a rule")
    what.add_argument("--tier", choices=TIERS, default="full", help="which gates are checked (default: full)")
    what.add_argument(
        "--correct-gates",
        action="store_true",
        help="wider intervals for gates, so that all together are wrong in one case of twenty, not each of them",
    )
    what.add_argument("--baseline", metavar="FILE", help="the run that no_worse_than compares with")
    what.add_argument(
        "--fit-ids", action="store_true", help="read ids that nearly fit as those of the release, by one rule"
    )
    what.add_argument("--cost", type=amount, metavar="AMOUNT", help="what 1,000 queries cost, for gates on cost")
    what.add_argument(
        "--depth", type=whole_from_one, default=100, metavar="K", help="results requested for each query (default: 100)"
    )
    out = parser.add_argument_group("output")
    out.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    out.add_argument("--html", type=Path, metavar="FILE", help="also a report, one file")
    out.add_argument("--markdown", type=Path, metavar="FILE", help="also a report in Markdown")
    add_comment(out)
    out.add_argument("--save-run", type=Path, metavar="FILE", help="also the answers as a TREC run")
    out.add_argument(
        "--save-results", type=Path, metavar="FILE", help="also the returned passages, a JSON line each, for --results"
    )
    out.add_argument(
        "--misses",
        type=Path,
        metavar="FILE",
        help="also the missed questions, a JSON line each: what was expected, where it is, and what came first",
    )
    out.add_argument("--seed", type=whole, default=DEFAULT_SEED, help="default: %(default)s")
    out.add_argument(
        "--confidence", type=share, default=DEFAULT_CONFIDENCE, metavar="SHARE", help="default: %(default)s"
    )
    out.add_argument("--quiet", action="store_true", help="without progress, and without what to do next")


def _add_system(parser: argparse.ArgumentParser) -> None:
    system = parser.add_argument_group("the system").add_mutually_exclusive_group(required=True)
    system.add_argument("--run", dest="run_file", metavar="FILE", help="an existing run")
    system.add_argument(
        "--results",
        dest="results_file",
        metavar="FILE",
        help="existing results with qid, rank, and id, document_id, pages or text: JSON lines, a table or Parquet",
    )
    system.add_argument("--endpoint", metavar="URL", help="queried over HTTP; {{query}} and {{k}} are placeholders")
    system.add_argument(
        "--command", "--program", dest="command_line", metavar="LINE", help='run once a query: "prog {query}"'
    )
    how = parser.add_argument_group("requests to the system")
    how.add_argument("--name", default="", metavar="NAME", help="its name in tables and the saved run")
    how.add_argument("--body", metavar="JSON", help=f"what is posted (default: {DEFAULT_BODY}; none with --get)")
    how.add_argument("--get", action="store_true", help="use GET, with all parameters in the address")
    how.add_argument(
        "--ids", metavar="PATH", help=f"path to the ids (default: {DEFAULT_IDS}, if no path below is given)"
    )
    how.add_argument("--documents", default="", metavar="PATH", help="path to the ids of documents")
    how.add_argument("--texts", default="", metavar="PATH", help="path to the texts of returned passages")
    how.add_argument("--first-pages", default="", metavar="PATH", help="path to the page where each passage begins")
    how.add_argument("--last-pages", default="", metavar="PATH", help="path to the page where it ends")
    how.add_argument("--scores", default="", metavar="PATH", help="path to the scores; without, the order counts")
    how.add_argument("--header", action="append", default=[], metavar="LINE", help='"Name: value"; again for more')
    how.add_argument("--token-from", metavar="VARIABLE", help="environment variable with a bearer token")
    how.add_argument("--at-once", type=whole_from_one, default=4, metavar="N", help="concurrent queries (default: 4)")
    how.add_argument("--per-second", type=amount, default=0.0, metavar="N", help="at most so many (default: no limit)")
    how.add_argument("--tries", type=whole_from_one, default=4, metavar="N", help="of each query (default: 4)")
    how.add_argument("--timeout", type=amount, default=30.0, metavar="SECONDS", help="of each try (default: 30)")
    how.add_argument("--answers", type=Path, metavar="FILE", help="store answers here, and continue from those stored")


def wanted_of(args: argparse.Namespace) -> Wanted:
    """The measures of each side: of a list those that it can have, by default and where it can have none its usual.

    Raises MeasureError.
    """
    hit = hit_rule(args.hit) if args.hit else None
    text = hit if hit and hit.kind == TEXT else None
    by_grades, on_triples = [], []
    for measure in parse_measures(args.measures or DEFAULT_MEASURES):
        if EXPECTED not in measure.entry.needs:
            by_grades.append(measure)
        if can_be_of_hits(measure):
            on_triples.append(measure)
    if not args.measures or not on_triples:
        on_triples = list(parse_measures(DEFAULT_HIT_MEASURES))
    return Wanted(
        by_grades or parse_measures(DEFAULT_MEASURES),
        on_triples,
        None if text else hit,
        by_text=by_grades if args.measures else (),
        text=text,
    )


def engine_of(args: argparse.Namespace) -> RemoteEngine:
    """The system to query. Raises BadParameters."""
    if args.command_line:
        return CommandEngine(args.command_line)
    told = {label: getattr(args, label) for label in PASSAGE_PATHS}
    return HttpJson(
        url=args.endpoint,
        method="GET" if args.get else "POST",
        body="" if args.get else (args.body or DEFAULT_BODY),
        headers=dict(_header(line) for line in args.header),
        ids=("" if args.documents or args.texts else DEFAULT_IDS) if args.ids is None else args.ids,
        scores=args.scores,
        **told,
    )


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon:
        raise BadParameters(f"“{line[:80]}” is not a header. Write Name: value.")
    return name.strip(), value.strip()


def pace_of(args: argparse.Namespace) -> Pace:
    """Raises BadParameters."""
    limits = {"connect": min(args.timeout, 60.0), "read": min(args.timeout, 300.0), "whole": args.timeout}
    return Pace.of({"at_once": args.at_once, "per_second": args.per_second, "tries": args.tries, **limits})


def files_of(args: argparse.Namespace) -> Files:
    """The files beside the result, and the command that would score its answers again."""
    chosen = {"--split": args.split, "--slice": args.slice, "--measures": args.measures, "--hit": args.hit}
    words = [str(args.release)]
    words += [word for option, value in chosen.items() if value for word in (option, value)]
    existing = args.run_file or args.results_file
    saved = existing or args.save_results or args.save_run
    return Files(
        f"{called('eval')} {shlex.join(words)}",
        report=" and ".join(str(path) for path in (args.html, args.markdown) if path),
        answers="" if saved in (None, STANDARD_INPUT) else str(saved),
        option="--results" if args.results_file or (args.save_results and not existing) else "--run",
        were_there=bool(existing),
        misses=str(args.misses or ""),
    )


def timed_words(args: argparse.Namespace) -> str:
    """How latency was measured; "" for a run file, which has no times."""
    if args.run_file or args.results_file:
        return ""
    at_once = "one at a time" if args.at_once == 1 else f"up to {args.at_once:,} at a time"
    how = "the program is started for each query" if args.command_line else "over HTTP, until the whole answer is read"
    return f"{at_once}, {how}"


def signed(args: argparse.Namespace) -> dict[str, str]:
    """The header with the token. Raises BadParameters when the variable is empty."""
    if not args.token_from:
        return {}
    token = os.environ.get(args.token_from, "").strip()
    if not token:
        raise BadParameters(f"The environment variable {args.token_from} is empty. Put the token into it.")
    return {"Authorization": f"Bearer {token}"}
