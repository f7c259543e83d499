"""The kinds of files that are read, each with its name on pages and its reader."""

from typing import NamedTuple

from apps.corpus.formats.documents import Reader
from apps.corpus.formats.documents.docx import read_docx
from apps.corpus.formats.documents.given import given_blocks
from apps.corpus.formats.documents.markdown import read_markdown
from apps.corpus.formats.documents.pdf import read_pdf


class Kind(NamedTuple):
    title: str
    read: Reader


KINDS: dict[str, Kind] = {
    "markdown": Kind("Markdown", read_markdown),
    "pdf": Kind("PDF", read_pdf),
    "docx": Kind("Word", read_docx),
    "jsonl": Kind("JSONL, one passage per line", given_blocks("jsonl")),
    "beir": Kind("BEIR corpus.jsonl", given_blocks("beir")),
    "smart": Kind("SMART (.I .T .A .B .W)", given_blocks("smart")),
}
"""By the word that `recognise` returns, in the order of lists."""
