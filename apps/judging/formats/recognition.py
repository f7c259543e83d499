"""Which format a file of judgements has, from its first lines."""

import csv
import re

from apps.common.files.anytable import is_packed_table
from apps.common.files.parquet import is_parquet, parquet_names
from apps.common.files.tabular import TableFile
from apps.judging.formats.judgements import FLAT_KNOWN, HUB_NAMES, RATINGS, RECORD_KNOWN, RECORD_NEEDED, heading_of
from apps.judging.formats.ratings import BLOCK_NAMES
from apps.judging.formats.tools.recognition import tool_of, tool_of_columns, tool_of_headings

AUTO, TABLE = "auto", "table"
HEAD_BYTES = 16_384
_QRELS = re.compile(r"\S+[ \t]+\S+[ \t]+\S+[ \t]+[+-]?[0-9]{1,4}[ \t]*\Z")


def recognise(source: TableFile) -> str:
    """The format: qrels, tables with Karat's own columns, and exports of tools; anything else is a table.

    The source is at its beginning, before and after.
    """
    head = source.head(HEAD_BYTES)
    if is_parquet(head):
        columns = parquet_names(source)
        names = {HUB_NAMES.get(name, name) for name in columns}
        own = "parquet" if set(RECORD_NEEDED) <= names <= set(RECORD_KNOWN) else ""
        return own or tool_of_columns(columns) or TABLE
    if is_packed_table(source):
        return TABLE
    if tool := tool_of(source):
        return tool
    lines = [
        line for line in head.decode("utf-8", errors="replace").removeprefix("\ufeff").splitlines() if line.strip()
    ]
    lines = lines[:-1] if len(head) == HEAD_BYTES else lines
    shown = [line for line in lines if not line.startswith("#")][:50]
    if shown and (all(map(_QRELS.match, shown)) or heading_of(shown[0])):
        return "qrels"
    if lines and lines[0].startswith("{"):
        return "jsonl"
    return _by_headings(lines[0]) if lines else TABLE


def names_in(line: str) -> list[str]:
    return [name.strip() for name in next(csv.reader([line]), [])]


def _by_headings(line: str) -> str:
    names = set(names_in(line))
    has_block = len(names & set(BLOCK_NAMES)) == 1
    if has_block and {"query_id", "annotator", "grade"} <= names:
        return RATINGS
    if has_block and {"query_id", "grade"} <= names <= set(FLAT_KNOWN):
        return "csv"
    return tool_of_headings(names_in(line)) or TABLE
