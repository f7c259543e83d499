"""The kinds of files that are read, each with its name on pages and its reader."""

from typing import NamedTuple

from apps.corpus.formats.documents import Reader
from apps.corpus.formats.documents.docx import read_docx
from apps.corpus.formats.documents.html import read_html
from apps.corpus.formats.documents.json_records import read_json
from apps.corpus.formats.documents.markdown import read_markdown
from apps.corpus.formats.documents.opencontrol import read_opencontrol
from apps.corpus.formats.documents.oscal import read_oscal
from apps.corpus.formats.documents.parquet import read_parquet
from apps.corpus.formats.documents.passage_files import passages_as
from apps.corpus.formats.documents.pdf import read_pdf
from apps.corpus.formats.documents.plain import read_text
from apps.corpus.formats.documents.rst import read_rst
from apps.corpus.formats.documents.tables import read_table
from apps.corpus.formats.documents.trec import read_trec


class Kind(NamedTuple):
    title: str
    read: Reader


KINDS: dict[str, Kind] = {
    "markdown": Kind("Markdown", read_markdown),
    "html": Kind("HTML", read_html),
    "rst": Kind("reStructuredText", read_rst),
    "text": Kind("Text", read_text),
    "pdf": Kind("PDF", read_pdf),
    "docx": Kind("Word", read_docx),
    "xlsx": Kind("Workbook", read_table),
    "csv": Kind("CSV or another table", read_table),
    "json": Kind("JSON", read_json),
    "parquet": Kind("Parquet", read_parquet),
    "trec": Kind("TREC documents", read_trec),
    "oscal": Kind("OSCAL catalog", read_oscal),
    "opencontrol": Kind("OpenControl component", read_opencontrol),
    "jsonl": Kind("JSONL, one passage per line", passages_as("jsonl")),
    "beir": Kind("BEIR corpus.jsonl", passages_as("beir")),
    "smart": Kind("SMART (.I .T .A .B .W)", passages_as("smart")),
}
"""By the word that `recognise` returns, in the order of lists."""
