"""Which tool an export is of, from its beginning; "" for what is none of theirs."""

from collections.abc import Sequence

from apps.common.files.tabular import TableFile
from apps.judging.formats.tools import argilla, doccano, label_studio, quepid
from apps.judging.formats.tools.rows import is_zip, paths_in

BY_JSON = {
    "quepid": quepid.is_json,
    "label-studio": label_studio.is_json,
    "argilla": argilla.is_json,
    "doccano": doccano.is_json,
}
HEAD_BYTES = 256 * 1024
"""A case of Quepid begins with the code of its scorer."""


def tool_of(source: TableFile) -> str:
    """By the fields of JSON, or the paths of a zip. The source is at its beginning, before and after."""
    if is_zip(source):
        return "argilla" if argilla.is_folder(paths_in(source)) else "doccano"
    if not source.head(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"{", b"[")):
        return ""
    head = source.head(HEAD_BYTES).decode("utf-8", errors="replace").removeprefix("\ufeff").lstrip()
    return next((tool for tool, is_its_json in BY_JSON.items() if is_its_json(head)), "")


def tool_of_columns(names: Sequence[str]) -> str:
    """By the columns of Parquet."""
    return "argilla" if argilla.is_dataset(list(names)) else ""


def tool_of_headings(headings: Sequence[str]) -> str:
    """By the headings of CSV."""
    return "quepid" if quepid.is_book(headings) else ""
