"""Files for a project that has nothing of its own yet: documents, queries and grades that fit together."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from django.contrib.staticfiles import finders

from apps.corpus.selectors.import_kinds import SampleFile, kind_named

KINDS = ("corpus", "queries", "judgements")


class SampleRow(NamedTuple):
    file: SampleFile
    size: int


@cache
def to_begin() -> tuple[SampleRow, ...]:
    """One file of each kind, in the order in which they are imported."""
    files = [sample for kind in KINDS for sample in kind_named(kind).samples if sample.to_begin]
    return tuple(SampleRow(file, _size(file)) for file in files)


def _size(file: SampleFile) -> int:
    """In bytes; 0 where only the collected copy is left."""
    found = finders.find(file.path)
    return Path(found).stat().st_size if isinstance(found, str) else 0
