"""Reports written to where the command line says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from apps.common.errors import InputError
from apps.reports.core.document import Document
from apps.reports.formats.html import as_html
from apps.reports.formats.markdown import as_markdown


def write_reports(document: Document, *, html: str | Path | None, markdown: str | Path | None) -> None:
    """Writes the file of each form that has a path. Raises InputError for one that cannot be written."""
    forms: list[tuple[str | Path | None, Callable[[Document], str]]] = [(html, as_html), (markdown, as_markdown)]
    for path, written in forms:
        if path:
            try:
                Path(path).write_text(written(document), encoding="utf-8", newline="\n")
            except OSError as error:
                raise InputError(str(path), None, "", "", f"cannot be written: {error.strerror}.") from error
