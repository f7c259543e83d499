"""A document as one self-contained HTML file: no script, no network, ready to print."""

from __future__ import annotations

from functools import cache
from html import escape
from importlib import resources

from apps.reports.core.document import Block, Document, Facts, Paragraph, ReportChart, ReportSection, Table

MOST_OPEN_ROWS = 24
POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'"
"""Holds where the file is opened from a disk too, without the headers of a server."""


@cache
def style() -> str:
    """The style sheet that is embedded in every report."""
    return resources.files(__package__).joinpath("report.css").read_text(encoding="utf-8")


def as_html(document: Document) -> str:
    """The whole file. Text is escaped; drawings are not, so they must come from our own code."""
    about = "".join(f"<p>{escape(line)}</p>" for line in document.about)
    parts = "\n".join(_part(part, number) for number, part in enumerate(document.parts, 1))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(document.title)}</title>\n<style>\n{style()}</style>\n</head>\n<body>\n<main>\n"
        f'<header><p class="title">{escape(document.title)}</p>\n<h1>{escape(document.lead)}</h1>\n'
        f'<div class="about">{about}</div></header>\n{parts}\n</main>\n</body>\n</html>\n'
    )


def _part(part: ReportSection, number: int) -> str:
    note = f'<span class="note">{escape(part.note)}</span>' if part.note else ""
    blocks = "\n".join(_block(block) for block in part.blocks)
    head = f'<h2 id="part-{number}">{escape(part.title)}</h2>{note}'
    return f'<section aria-labelledby="part-{number}"><div class="head">{head}</div>\n{blocks}\n</section>'


def _block(block: Block) -> str:
    if isinstance(block, Paragraph):
        css = ' class="quiet"' if block.quiet else ""
        return f"<p{css}>{escape(block.text)}</p>"
    if isinstance(block, Facts):
        return _facts(block)
    if isinstance(block, Table):
        return _table(block)
    return _chart(block)


def _facts(facts: Facts) -> str:
    css = ' class="code"' if facts.code else ""
    rows = "".join(f"<dt>{escape(term)}</dt><dd{css}>{escape(text)}</dd>" for term, text in facts.rows)
    return f"<dl>{rows}</dl>"


def _table(table: Table) -> str:
    """The table in a frame that scrolls sideways and can be reached by keyboard."""
    head = "".join(
        f'<th scope="col"{_css(table, column)}>{escape(words)}</th>' for column, words in enumerate(table.head)
    )
    rows = "\n".join(
        f"<tr>{''.join(_cell(table, column, text) for column, text in enumerate(row))}</tr>" for row in table.rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(table.name)}">'
        f"<table><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div>"
    )


def _cell(table: Table, column: int, text: str) -> str:
    shown = f"<code>{escape(text)}</code>" if text and column in table.code else escape(text)
    return f"<td{_css(table, column)}>{shown}</td>"


def _css(table: Table, column: int) -> str:
    if column in table.prose:
        return ' class="prose"'
    return "" if table.has_words(column) else ' class="num"'


def _chart(chart: ReportChart) -> str:
    """The drawings, and below them their figures: unfolded when there are few, and always in print."""
    drawn = "".join(f'<div class="drawing">{drawing}</div>' for drawing in chart.drawings)
    drawn += "".join(f'<div class="drawing narrow">{drawing}</div>' for drawing in chart.narrow)
    is_open = " open" if len(chart.figures.rows) <= MOST_OPEN_ROWS else ""
    return (
        f'<figure class="plot" tabindex="0" role="group" aria-label="{escape(chart.figures.name)}">{drawn}</figure>\n'
        f"<details{is_open}><summary>Figures</summary>{_table(chart.figures)}</details>"
    )
