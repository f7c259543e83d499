"""Retrieval measures and their values for a run: all measures in one pass over integer columns.

The conventions are trec_eval's (version 10, with `-c`): rows by score descending, ties by block id descending, the rank
column ignored; every judged query counts, and one that is missing from the run is scored as an empty ranking, which is
zero for all but FailureRate; a block without a judgement is not relevant; a negative grade is judged, not relevant, and
has no gain.

`entries` defines what a measure is, `registry` lists the measures and parses them; `passes` is the run that they share;
the other modules compute the values, a family each.
"""

from apps.metrics.measures.entries import EXPECTED, FACETS, GRADES, GRADES_ALONE, REGISTRY, Entry, Measure
from apps.metrics.measures.graded import refuse_above
from apps.metrics.measures.parameters import DCG_FORMS, PARAMETERS, Parameter
from apps.metrics.measures.passes import Pass
from apps.metrics.measures.registry import (
    measure_run,
    named_measures,
    needs_of,
    parse_measure,
    parse_measures,
    refuse_unmet,
)

__all__ = [
    "DCG_FORMS",
    "EXPECTED",
    "FACETS",
    "GRADES",
    "GRADES_ALONE",
    "PARAMETERS",
    "REGISTRY",
    "Entry",
    "Measure",
    "Parameter",
    "Pass",
    "measure_run",
    "named_measures",
    "needs_of",
    "parse_measure",
    "parse_measures",
    "refuse_above",
    "refuse_unmet",
]
