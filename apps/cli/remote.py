"""`karat pull` and `karat push`: a released version from a server, and a run to it, over the API."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from apps.cli.arguments import finite
from apps.cli.client.client import BadInput, Client, KaratError, NoAnswer
from apps.common.errors import InputError, InputErrors
from apps.common.files.faults import as_lines

OK, BAD_INPUT, REFUSED, NO_ANSWER = 0, 2, 3, 4
CODES = "Exit codes: 0 done; 2 wrong command line or input; 3 rejected by the server; 4 no answer."


def add_parser(subparsers: Any) -> None:
    """Adds `pull` and `push` to the commands of `karat`."""
    pull = subparsers.add_parser(
        "pull",
        help="download a gold version from a server",
        description="Download a gold version from a server as a zip, whole or not at all. `karat verify` and `karat"
        " eval` take it as it is.",
        epilog=CODES,
    )
    pull.add_argument("version", metavar="GOLDSET/vN")
    _add_server(pull)
    pull.add_argument("--out", metavar="FILE", type=Path, required=True, help="the zip; replaced when it is there")
    pull.add_argument("--form", metavar="FORM", default="jsonl", help="jsonl (default), trec, beir and so on, or all")
    pull.add_argument("--split", choices=["dev", "test"], help="one split only; default: what the token may have")
    pull.add_argument(
        "--run", metavar="TAG", action="append", default=[], dest="run_tags", help="of letor: a run as feature"
    )
    pull.set_defaults(run=partial(_reported, "pull", _pull))

    push = subparsers.add_parser(
        "push",
        help="push a run to a server",
        description="Push a run to a server, and have it scored where asked. The same run pushed again is the"
        " run that is there.",
        epilog=CODES,
    )
    push.add_argument(
        "file", metavar="FILE", type=Path, help="TREC's six columns, a table, or returned passages (JSON lines)"
    )
    _add_server(push)
    push.add_argument("--snapshot", metavar="NAME", required=True, help="such as handbook@1")
    push.add_argument("--system", metavar="NAME", required=True)
    push.add_argument("--tag", metavar="TAG", required=True, help="what this run is called")
    push.add_argument("--commit", metavar="SHA", default="", help="of the system")
    push.add_argument("--as-role", metavar="ROLE", default="", help="the role for whom it searched, such as guest")
    push.add_argument(
        "--abstains-below", type=finite, metavar="SCORE", help="a query whose best score is below this gets no answer"
    )
    push.add_argument("--score", metavar="GOLDSET/vN", help="have it scored on the dev split, and print the scores")
    push.set_defaults(run=partial(_reported, "push", _push))


def _add_server(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--server", metavar="URL", required=True)
    parser.add_argument("--project", metavar="SLUG", required=True)
    parser.add_argument(
        "--token-from", metavar="NAME", default="KARAT_TOKEN", help="environment variable of the token (KARAT_TOKEN)"
    )


def run(args: argparse.Namespace) -> int:
    result: int = args.run(args)
    return result


def _reported(command: str, work: Callable[[Client, argparse.Namespace], None], args: argparse.Namespace) -> int:
    """Do the work with a client; its errors as a line, and as an exit code."""
    token = os.environ.get(args.token_from, "")
    if not token:
        print(f"karat {command}: the environment variable {args.token_from} holds no token.", file=sys.stderr)
        return BAD_INPUT
    try:
        with Client(args.server, args.project, token=token) as client:
            work(client, args)
    except KaratError as error:
        print(f"karat {command}: {error}", file=sys.stderr)
        for line in _mistakes(error):
            print(line, file=sys.stderr)
        return NO_ANSWER if isinstance(error, NoAnswer) else BAD_INPUT if isinstance(error, BadInput) else REFUSED
    except (InputError, InputErrors) as error:
        for line in as_lines(error):
            print(line, file=sys.stderr)
        return BAD_INPUT
    except OSError as fault:
        print(f"karat {command}: {fault}", file=sys.stderr)
        return BAD_INPUT
    return OK


def _mistakes(error: KaratError) -> list[str]:
    """Each mistake of an input: those of a file have a line, those of a body the name of a field."""
    errors = error.errors if isinstance(error, BadInput) else []
    if isinstance(errors, dict):
        return [f"  {name}: {told}" for name, told in errors.items()]
    return [f"  line {each.get('line')}, {each.get('field')}: {each.get('message')}" for each in errors]


def _pull(client: Client, args: argparse.Namespace) -> None:
    path = client.pull(args.version, args.out, form=args.form, split=args.split, runs=args.run_tags)
    print(f"{args.version} is in {path}.")


def _push(client: Client, args: argparse.Namespace) -> None:
    from apps.cli.pushed import run_in  # loads what reads tables, which `karat pull` needs not

    pushed = client.push(
        snapshot=args.snapshot,
        system=args.system,
        tag=args.tag,
        commit=args.commit,
        as_role=args.as_role,
        abstains_below=args.abstains_below,
        **run_in(str(args.file)),
    )
    print(f"Run {pushed['id']}: {pushed['tag']} of {pushed['system']}, {pushed['query_count']} queries.")
    if args.score:
        for row in client.score(pushed["id"], args.score)["scores"]:
            print(f"{row['measure']:<12} {_figure(row)}")


def _figure(row: dict[str, Any]) -> str:
    if row["value"] is None:
        return str(row["reason"])
    spread = f"  {row['low']:.4f} to {row['high']:.4f}" if row["low"] is not None else ""
    return f"{row['value']:.4f}{spread}  n = {row['n']}"
