"""Which format a file of questions and answers has, from its first characters."""

from apps.common.errors import InputError
from apps.common.files.anytable import is_packed_table
from apps.common.files.parquet import is_parquet, parquet_names
from apps.common.files.tabular import TableFile
from apps.triples.formats.parquet import NEEDED
from apps.triples.formats.rag import is_rag

AUTO, TABLE = "auto", "table"
HEAD_BYTES = 4_096


def recognise(source: TableFile) -> str:
    """JSON lines and YAML begin in their own way; anything else is a table. The source stays at its beginning."""
    head = source.head(HEAD_BYTES)
    if is_parquet(head):
        return "parquet" if set(parquet_names(source)) >= NEEDED else TABLE
    if is_packed_table(source):
        return TABLE
    text = head.decode("utf-8", errors="replace").removeprefix("\ufeff").lstrip()
    if text.startswith("{"):
        return "rag" if _is_rag(source) else "jsonl"
    return "yaml" if text.startswith(("- ", "-\n", "---", "#", "[")) else TABLE


def _is_rag(source: TableFile) -> bool:
    """By the first line: a context can make it longer than what is looked at of other files."""
    try:
        return is_rag(source.read_line(1).decode("utf-8", errors="replace").removeprefix("\ufeff"))
    except InputError:
        return False
    finally:
        source.rewind()
