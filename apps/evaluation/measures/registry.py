"""Which measures there are, how they are read from text, and their values for a run."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from apps.evaluation.columns import BlockIds, Floats, Judged, Ranked
from apps.evaluation.files.attributes import BLOCKS, TIMES, Attributes
from apps.evaluation.measures import facets, graded, incomplete, sets, variety
from apps.evaluation.measures.entries import FACETS, GRADES, REGISTRY, Measure
from apps.evaluation.measures.parameters import checked
from apps.evaluation.measures.passes import Pass
from apps.evaluation.notation import MeasureError, Value, split_measures, take_apart

NEED_WORDS = {
    GRADES: "grades",
    FACETS: "the facets of queries: a qrels file whose second column names, for each grade, the facet it is about",
    BLOCKS: "attributes of blocks, from a file",
    TIMES: "the times of blocks and of queries, from a file each",
}

REGISTRY.update(
    (entry.name, entry) for family in (sets, incomplete, graded, facets, variety) for entry in family.ENTRIES
)
_NAMES = {name: entry for entry in REGISTRY.values() for name in (entry.name, *entry.aliases)}


def parse_measure(text: str, *, rel: int = 1) -> Measure:
    """The measure that the text names; `rel` holds where the text names no level of its own.

    Raises MeasureError with the nearest names for an unknown one, and with what is wrong for any other fault.
    """
    name, parameters, cutoff = take_apart(text)
    entry = _NAMES.get(name)
    if entry is None:
        raise MeasureError(f"'{text.strip()}' is not a measure Karat knows; {_nearest(name)}.")
    if entry.cutoff == "needed" and cutoff is None:
        raise MeasureError(f"{name} needs a cutoff, such as {entry.example}.")
    if entry.cutoff == "none" and cutoff is not None:
        raise MeasureError(f"{name} takes no cutoff.")
    for key in sorted(parameters.keys() - entry.takes):
        takes = ", ".join(sorted(entry.takes)) or "none"
        raise MeasureError(f"{name} has no parameter {key}; parameters of {name}: {takes}.")
    for key in sorted(entry.asks - parameters.keys()):
        raise MeasureError(f"{name} needs {key}, such as {entry.example}.")
    given: dict[str, Value] = {"rel": rel} if "rel" in entry.takes else {}
    values = {key: checked(name, key, value) for key, value in (given | parameters).items()}
    return Measure(entry.name, cutoff, **values)


def parse_measures(text: str, *, rel: int = 1) -> tuple[Measure, ...]:
    """The measures of a list, each once, in the order of first mention. Raises MeasureError."""
    found = dict.fromkeys(parse_measure(piece, rel=rel) for piece in split_measures(text))
    if not found:
        raise MeasureError("Name at least one measure, such as nDCG@10.")
    return tuple(found)


def needs_of(measures: Iterable[Measure]) -> frozenset[str]:
    """Everything that some of the measures read: grades, facets, blocks, times."""
    return frozenset[str]().union(*(measure.entry.needs for measure in measures))


def refuse_unmet(measures: Iterable[Measure], given: Collection[str], where: str = "") -> None:
    """Raises MeasureError for the first measure that reads what is not given; `where` says who does not have it."""
    for measure in measures:
        for need in sorted(measure.entry.needs - set(given)):
            raise MeasureError(f"{measure} needs {NEED_WORDS[need]}.{' ' if where else ''}{where}")


def measure_run(
    measures: Sequence[Measure],
    judged: Judged,
    ranked: Ranked,
    block_ids: BlockIds,
    attributes: Attributes | None = None,
) -> Floats:
    """Values of every measure for every judged query: shape (queries, measures), in the order given.

    `block_ids[n]` is the id of block n; it decides ties. NaN where a value is not defined: Judged@k of a query without
    results, ILD@k of one with fewer than two. Raises MeasureError for a measure that reads what is not there.
    """
    run = Pass(judged, ranked, block_ids, attributes)
    given = run.attributes.given | {GRADES} | ({FACETS} if judged.facets is not None else set())
    refuse_unmet(measures, given)
    columns = [measure.entry.values(run, measure) for measure in measures]
    return np.column_stack(columns) if columns else np.empty((run.size, 0))


def _nearest(name: str) -> str:
    by_lower = {known.lower(): entry.name for known, entry in _NAMES.items()}
    close = difflib.get_close_matches(name.lower(), by_lower, n=3, cutoff=0.5)
    names = list(dict.fromkeys(by_lower[match] for match in close))
    return f"nearest: {', '.join(names)}" if names else f"known: {', '.join(REGISTRY)}"
