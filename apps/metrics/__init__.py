"""Retrieval measures, agreement coefficients, intervals and tests, and the files they read.

It needs NumPy and SciPy, and no Django, settings or database.
The names below score a run in a script; docs/reference/measures.md shows how. Coefficients of agreement are in
`apps.metrics.agreement`.
"""

from apps.common.errors import InputError, InputErrors
from apps.metrics.columns import Judged, Ranked
from apps.metrics.comparison import compare
from apps.metrics.files.reading import RunFile, load_qrels, load_run
from apps.metrics.measures import Measure, measure_run, parse_measure, parse_measures
from apps.metrics.measures.notation import MeasureError
from apps.metrics.scoring import RunScores, score_run
from apps.metrics.statistics.significance import Summary

__all__ = [
    "InputError",
    "InputErrors",
    "Judged",
    "Measure",
    "MeasureError",
    "Ranked",
    "RunFile",
    "RunScores",
    "Summary",
    "compare",
    "load_qrels",
    "load_run",
    "measure_run",
    "parse_measure",
    "parse_measures",
    "score_run",
]
