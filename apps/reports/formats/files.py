"""Reports written to files, for the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from apps.common.errors import InputError
from apps.reports.core.document import Document
from apps.reports.formats.html import as_html
from apps.reports.formats.markdown import as_markdown


def write_reports(document: Document, *, html: str | Path | None, markdown: str | Path | None) -> None:
    """Write the document in each format that has a path. Raises InputError for a path that cannot be written."""
    formats: list[tuple[str | Path | None, Callable[[Document], str]]] = [(html, as_html), (markdown, as_markdown)]
    for path, write in formats:
        if path:
            try:
                Path(path).write_text(write(document), encoding="utf-8", newline="\n")
            except OSError as error:
                raise InputError(str(path), None, "", "", f"cannot be written: {error.strerror}.") from error
