"""Retrieval measures, agreement coefficients, intervals and tests, and the files they read.

It needs NumPy and SciPy, and no Django, settings or database.

The names below score a run in a script; docs/reference/measures.md shows how. Coefficients of agreement are in
`apps.metrics.agreement`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from apps.common.errors import InputError, InputErrors
    from apps.metrics.columns import Judged, Ranked
    from apps.metrics.comparison import RunComparison, RunValues, compare_runs
    from apps.metrics.estimate import Estimate
    from apps.metrics.files.reading import RunFile, load_qrels, load_run
    from apps.metrics.measures.entries import Measure
    from apps.metrics.measures.notation import MeasureError
    from apps.metrics.measures.registry import measure_run, parse_measure, parse_measures
    from apps.metrics.scoring import RunScores, score_run
    from apps.metrics.statistics.significance import Summary

__all__ = [
    "Estimate",
    "InputError",
    "InputErrors",
    "Judged",
    "Measure",
    "MeasureError",
    "Ranked",
    "RunComparison",
    "RunFile",
    "RunScores",
    "RunValues",
    "Summary",
    "compare_runs",
    "load_qrels",
    "load_run",
    "measure_run",
    "parse_measure",
    "parse_measures",
    "score_run",
]

_MODULES = {
    "apps.common.errors": ("InputError", "InputErrors"),
    "apps.metrics.columns": ("Judged", "Ranked"),
    "apps.metrics.comparison": ("RunComparison", "RunValues", "compare_runs"),
    "apps.metrics.estimate": ("Estimate",),
    "apps.metrics.files.reading": ("RunFile", "load_qrels", "load_run"),
    "apps.metrics.measures.entries": ("Measure",),
    "apps.metrics.measures.notation": ("MeasureError",),
    "apps.metrics.measures.registry": ("measure_run", "parse_measure", "parse_measures"),
    "apps.metrics.scoring": ("RunScores", "score_run"),
    "apps.metrics.statistics.significance": ("Summary",),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that importing one statistic does not load every measure."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
