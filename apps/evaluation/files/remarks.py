"""What a person would want to know about a run before trusting its figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from apps.evaluation.files.likeness import looks_alike
from apps.evaluation.files.trecfiles import RunFile


def remarks_on_file(file: RunFile, missing: Sequence[str]) -> Iterator[str]:
    """Remarks on a file of a run that lacks the judged queries `missing`."""
    if file.another:
        yield f"holds the tags '{file.tag}' and '{file.another}'; a file is one run, and is scored as one."
    if pair := looks_alike(missing, file.unjudged):
        alike = f"judged query '{pair[0]}' and '{pair[1]}' of the run are not the same query"
        yield f"{alike}; ids must agree letter by letter."


def remarks_on_judged(judged_at_10: float | None) -> Iterator[str]:
    """Remarks on a run of which this share of the first ten is judged; None: it answers no judged query."""
    if judged_at_10 is None:
        yield "answers none of the judged queries; every value is 0."
    elif judged_at_10 == 0:
        yield "no block in the first ten was ever judged; check the block ids."
