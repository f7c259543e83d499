"""`karat agree`: agreement between annotators from a file of labels, without a server and without a database.

Results go to standard output, warnings and errors to standard error. Exit codes: 0 computed, also where every figure is
undefined; 2 unusable input or a wrong command line.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from apps.cli.agree import output
from apps.cli.agree.figures import figures_of
from apps.cli.arguments import share, whole
from apps.common.errors import InputError, InputErrors
from apps.common.files.faults import MOST_LISTED, ErrorList, all_of, as_lines
from apps.common.files.field_names import ITEM, QUERY
from apps.common.files.linefiles import name_of
from apps.metrics.agreement.counting import LEVELS
from apps.metrics.agreement.uncertainty import CONFIDENCE, RESAMPLES, Settings
from apps.metrics.files.attributes import Strata, load_strata
from apps.metrics.files.labels.columns import REPEATS, ROLES, ColumnLayout, LabelLayout
from apps.metrics.files.labels.labelling import Labelling, labelling_of, misread, read_labels, remarks_on
from apps.metrics.statistics.bootstrap import DEFAULT_SEED

EXIT_OK = 0
EXIT_BAD_INPUT = 2
FORMATS = {
    "table": output.as_table,
    "json": output.as_json,
    "csv": output.as_csv,
    "tsv": output.as_tsv,
}


def add_parser(subparsers: argparse._SubParsersAction) -> argparse.ArgumentParser:
    """Adds `agree` to the commands of `karat`."""
    parser = subparsers.add_parser(
        "agree",
        help="compute agreement between annotators, without a server",
        description="Coefficients of agreement with intervals, from labels in a long file (columns item, annotator, "
        "label and perhaps pass) or a wide one (the item, then a column for each annotator).",
        epilog="The file may be gzipped; - is standard input. Exit codes: 0 computed, 2 unusable input or wrong "
        "command line.",
    )
    parser.add_argument("file", metavar="FILE", help="labels as CSV, or separated by tabs or semicolons")
    _add_reading(parser)
    parser.add_argument(
        "--by", metavar="FILE", help="strata: a table with the columns item and stratum, or several; each by itself too"
    )
    clusters = parser.add_mutually_exclusive_group()
    clusters.add_argument(
        "--cluster",
        metavar="COLUMN",
        help=f"column of FILE whose values group items: intervals are over them (default: {', '.join(QUERY)}, if any)",
    )
    clusters.add_argument(
        "--no-cluster",
        dest="cluster",
        action="store_const",
        const="",
        help="intervals over items, whatever the columns",
    )
    parser.add_argument("--format", choices=FORMATS, default="table", help="how to print (default: table)")
    parser.add_argument("--label-model", action="store_true", help="also diagnose annotators by a label model")
    parser.add_argument("--seed", type=whole, default=DEFAULT_SEED, metavar="N", help=f"default: {DEFAULT_SEED}")
    parser.add_argument(
        "--resamples", type=_many, default=RESAMPLES, metavar="N", help=f"of the bootstrap (default: {RESAMPLES})"
    )
    parser.add_argument("--confidence", type=share, default=CONFIDENCE, metavar="SHARE", help=f"default: {CONFIDENCE}")
    parser.set_defaults(run=run)
    return parser


def _add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the options for the layout of the file."""
    parser.add_argument(
        "--level", choices=LEVELS, help="of the labels (default: ordinal for numbers, nominal for words)"
    )
    parser.add_argument(
        "--missing",
        type=_list,
        default=[],
        metavar="LIST",
        help="cells that mean no label, separated by commas; empty ones always do",
    )
    parser.add_argument(
        "--categories", type=_list, default=[], metavar="LIST", help="all possible labels, lowest first"
    )
    parser.add_argument(
        "--columns", type=_roles, default=[], metavar="LIST", help=f"what each column contains: {', '.join(ROLES)}"
    )
    parser.add_argument("--no-heading", action="store_true", help="the first line is a row too")
    parser.add_argument(
        "--repeats",
        choices=REPEATS,
        default="refuse",
        help="an item with a second label by one annotator, without a pass (default: refuse)",
    )


def run(args: argparse.Namespace) -> int:
    """Read, compute and print. Returns the exit code."""
    try:
        form, labelling = _labelling(args)
        strata = _strata(args, labelling)
    except (InputError, InputErrors) as errors:
        for line in as_lines(errors):
            print(f"karat agree: {line}", file=sys.stderr)
        return EXIT_BAD_INPUT
    for remark in [*form.remarks(), *remarks_on(labelling)]:
        print(f"{name_of(args.file)}: {remark}", file=sys.stderr)
    for remark in _remarks_on(strata) if strata else []:
        print(f"{name_of(args.by)}: {remark}", file=sys.stderr)
    settings = Settings(args.seed, args.resamples, args.confidence)
    figures = figures_of(labelling, settings, with_model=args.label_model, strata=strata)
    sys.stdout.write(FORMATS[args.format](figures))
    return EXIT_OK


def _labelling(args: argparse.Namespace) -> tuple[ColumnLayout, Labelling]:
    """The layout of the file and its labels. Raises InputErrors with the first MOST_LISTED errors."""
    errors = ErrorList(MOST_LISTED)
    reading = LabelLayout(
        columns=tuple(args.columns),
        has_heading=not args.no_heading,
        missing=frozenset(args.missing),
        repeats=args.repeats,
        level=args.level,
        categories=tuple(args.categories),
        cluster=args.cluster,
    )
    form = labelling = None
    try:
        form, labels = read_labels(args.file, reading, errors)
        if not errors:
            raters = [name for _, name in form.raters]
            labelling = labelling_of(name_of(args.file), labels, errors, reading, raters, form.cluster_name)
            if errors and not args.columns and (message := misread(form, labels)):
                raise InputErrors([InputError(name_of(args.file), None, "", "", message)])
    except InputError as error:
        errors.add(error)
    if errors or form is None or labelling is None:
        raise all_of(errors)
    return form, labelling


def _strata(args: argparse.Namespace, labelling: Labelling) -> Strata | None:
    """The strata of `--by`; None without it. Raises as `load_strata` does."""
    if not args.by:
        return None
    if args.by == args.file == "-":
        raise InputError(name_of("-"), None, "", "", "cannot be both FILE and --by.")
    return load_strata(args.by, labelling.items, names=ITEM, of="labelled items")


def _remarks_on(strata: Strata) -> Iterator[str]:
    """Warnings about what limits the figures."""
    if strata.unknown:
        yield f"items in it without a label: {strata.unknown:,}."
    if strata.unnamed:
        yield f"labelled items that it does not name, and that are in no stratum: {strata.unnamed:,}."


def _list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _roles(text: str) -> list[str]:
    roles = _list(text)
    unknown = next((role for role in roles if role not in ROLES), None)
    if unknown is not None:
        raise argparse.ArgumentTypeError(f"'{unknown}' is not one of {', '.join(ROLES)}")
    return roles


def _many(text: str) -> int:
    if whole(text) < 100:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 100")
    return int(text)
