"""The flat CSV format: one row for each judged pair, cells that a spreadsheet would execute made safe."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from apps.common.files.csvsafe import line_writer, safe_cell
from apps.goldsets.formats.content import Content, GradeRow, in_order

COLUMNS = ("query_id", "query_text", "doc_id", "doc_title", "grade", "split", "notes")


def files(content: Content) -> Iterator[tuple[str, Iterator[bytes]]]:
    yield "csv/judgements.csv", _lines(content)


def _lines(content: Content) -> Iterator[bytes]:
    line = line_writer()
    yield line(COLUMNS).encode()
    written = _Notes(content)
    for row in in_order(content.grades(), lambda r: (r.query_id, r.block_id)):
        texts = map(safe_cell, (row.query_id, row.query_text, row.block_id, row.block_title))
        notes = safe_cell("; ".join([_resolved(row), *written.of(row)]))
        yield line((*texts, row.grade, row.split, notes)).encode()


class _Notes:
    """The notes of the judges of each pair, for pairs in their order; none for a reader who may not see answers."""

    def __init__(self, content: Content) -> None:
        answers = content.judgements(noted=True) or ()
        self._pairs = groupby(answers, lambda row: (row.query_id, row.block_id))
        self._next = next(self._pairs, None)

    def of(self, row: GradeRow) -> list[str]:
        """Each wording once, on one line."""
        here = row.query_id, row.block_id
        while self._next is not None:
            there, answers = self._next
            if there > here:
                break
            notes = [" ".join(answer.note.split()) for answer in answers] if there == here else []
            self._next = next(self._pairs, None)
            if there == here:
                return list(dict.fromkeys(note for note in notes if note))
        return []


def _resolved(row: GradeRow) -> str:
    judges = "1 judge" if row.judges == 1 else f"{row.judges} judges"
    return f"{row.resolution}, {judges}" if row.resolution else judges
