"""Which format a file of questions and answers has, from its first characters."""

from apps.common.files.tabular import TableFile
from apps.common.files.workbooks import is_workbook

AUTO, TABLE = "auto", "table"
HEAD_BYTES = 4_096


def recognise(source: TableFile) -> str:
    """JSON lines and YAML begin in their own way; anything else is a table. The source stays at its beginning."""
    head = source.head(HEAD_BYTES)
    if is_workbook(head):
        return TABLE
    text = head.decode("utf-8", errors="replace").removeprefix("\ufeff").lstrip()
    if text.startswith("{"):
        return "jsonl"
    return "yaml" if text.startswith(("- ", "-\n", "---", "#", "[")) else TABLE
