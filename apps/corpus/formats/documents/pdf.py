"""PDF: the text page by page, with headings, paragraphs and lists as far as its lines show them (see `pdf_layout`).

The parser is a large program in C++ that reads files of strangers. It runs as a process of its own, one for each file
and with limits on time and memory, so that a file that crashes it or never ends costs that file only.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from apps.common.text.words import with_scripts
from apps.corpus.core.documents import Document
from apps.corpus.formats.documents import SourceFile, Unreadable
from apps.corpus.formats.documents.pdf_layout import Bookmark, Laid, Line, lay_out

SCRIPT = Path(__file__).with_name("pdf_pages.py")
SCANNED = "scanned PDF without text"
LONGEST_TITLE = 200


class Limits(NamedTuple):
    """For one PDF. `seconds` are of the processor; of the clock it may take twice as many."""

    pages: int = 5_000
    characters: int = 20_000_000
    seconds: int = 120
    memory: int = 1_500_000_000


LIMITS = Limits()


def reasons(limits: Limits) -> dict[str, str]:
    """The reasons by the word that the process prints."""
    return {
        "password": "PDF with a password",
        "damaged": "damaged PDF",
        "pages": f"PDF with more than {limits.pages:,} pages",
        "text": f"PDF with more than {limits.characters:,} characters",
        "stopped": "PDF that takes too long or too much memory",
    }


def read_pdf(source: SourceFile, limits: Limits = LIMITS) -> Iterator[Document]:
    found = _found_in(source.stream, limits)
    if reason := found.get("unreadable"):
        raise Unreadable(reasons(limits)[reason])
    pages = [[Line(with_scripts(text), *place) for text, *place in page] for page in found["pages"]]
    laid = lay_out(pages, [Bookmark(*entry) for entry in found["outline"]])
    if not laid.text.strip():
        raise Unreadable(SCANNED)
    yield Document(
        path=source.path,
        kind="pdf",
        title=_title(found["about"], laid, pages),
        text=laid.text,
        metadata=_metadata(found, pages),
        page_starts=laid.page_starts,
    )


def _found_in(stream: BinaryIO, limits: Limits) -> dict[str, Any]:
    """What `pdf_pages` prints about the file."""
    command = [sys.executable, "-I", str(SCRIPT), *map(str, limits)]
    with tempfile.TemporaryFile() as file, tempfile.TemporaryFile() as out:
        shutil.copyfileobj(stream, file)
        file.seek(0)
        try:
            ended = subprocess.run(
                command, stdin=file, stdout=out, stderr=subprocess.DEVNULL, timeout=2 * limits.seconds, check=False
            )
        except subprocess.TimeoutExpired:
            return {"unreadable": "stopped"}
        if ended.returncode:
            return {"unreadable": "stopped" if ended.returncode < 0 else "damaged"}
        out.seek(0)
        return json.load(out)


JUNK_TITLE = re.compile(
    r"(untitled.*|.*\.(docx?|indd|pptx?|xlsx?|pdf|tex|dvi|qxd|md|html?)|microsoft word - .*)$", re.IGNORECASE
)


def _title(about: dict[str, str], laid: Laid, pages: list[list[Line]]) -> str:
    """The title that the file states, unless it is the name of a file; else the line in the largest type on the first
    page with text, when it stands out; else the first heading, or the first line."""
    stated = " ".join(about.get("Title", "").split())
    if stated and not JUNK_TITLE.match(stated):
        return stated[:LONGEST_TITLE]
    first = next(page for page in pages if page)
    largest = max(first, key=lambda line: line.size)
    if largest.size > min(line.size for line in first) or not laid.headings:
        return largest.text[:LONGEST_TITLE]
    return laid.headings[0]


def _metadata(found: dict[str, Any], pages: list[list[Line]]) -> dict[str, Any]:
    about = {"author": " ".join(found["about"].get("Author", "").split()), "pages": len(pages)}
    about["pages_without_text"] = sum(not page for page in pages)
    return {name: value for name, value in about.items() if value}
