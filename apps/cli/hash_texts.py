"""`karat hash-texts`: the hashes by which a training manifest names texts, so that nobody has to show the texts."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList, as_line
from apps.common.files.linefiles import lines_of, name_of
from apps.common.files.tabular import open_source, read_csv, read_jsonl
from apps.goldsets.core.splits import words_digest

OK, BAD_INPUT = 0, 2


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Adds `hash-texts` to the commands of `karat`."""
    parser = subparsers.add_parser(
        "hash-texts",
        help="hash the texts of a file for a training manifest",
        description="Print the SHA-256 of the words of each text: without case, accents, punctuation and order of white"
        " space. Texts without words are left out.",
        epilog="Exit codes: 0 printed; 2 wrong command line, or a file that cannot be read.",
    )
    parser.add_argument("file", metavar="FILE", help="one text a line, plain or gzip; - is standard input")
    parser.add_argument("--field", metavar="NAME", help="the texts are in this column of a CSV, or field of JSON lines")
    parser.set_defaults(run=run)
    return parser


def run(args: argparse.Namespace) -> int:
    try:
        for text in _texts(args.file, args.field):
            if digest := words_digest(text):
                print(digest)
    except InputError as error:
        print(f"karat hash-texts: {as_line(error)}", file=sys.stderr)
        return BAD_INPUT
    return OK


def _texts(path: str, field: str | None) -> Iterator[str]:
    if field is None:
        yield from _lines(path)
        return
    errors = ErrorList()
    with open_source(path) as source:
        is_json = source.head(1_024).lstrip().startswith(b"{")
        rows = read_jsonl(source, errors) if is_json else read_csv(source, errors, required=(field,))
        for line, values in rows:
            if not isinstance(text := values.get(field), str):
                raise source.error(line, field, text, "must be text")
            yield text
    for error in errors:
        raise error


def _lines(path: str) -> Iterator[str]:
    name = name_of(path)
    for number, line in enumerate(lines_of(path, name), 1):
        try:
            yield line.decode()
        except UnicodeDecodeError:
            raise InputError(name, number, "", "", "is not UTF-8; save the file as UTF-8") from None
