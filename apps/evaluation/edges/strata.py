"""Small charts by stratum, for one run or two over the same queries."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from apps.evaluation.core.charts import stratum_bounds
from apps.evaluation.core.robustness import KIND, UNNAMED
from apps.evaluation.edges import score_charts as charts
from apps.evaluation.edges.sheets import EvaluationSheet
from apps.evaluation.enums import STRATA
from apps.evaluation.selectors.rankings import JUDGED_NAME
from apps.goldsets.core.splits import VARIANT_OF
from apps.goldsets.models import VersionQuery
from apps.metrics.columns import Floats
from apps.metrics.statistics.significance import mean_of
from apps.metrics.statistics.strata import FEWEST_IN_STRATUM, ComparedStratum, compare_strata

SPLIT, WORDING = "split", "wording"
CLEAN = "clean"
MULTIPLES = 9


def strata_context(
    field_name: str, sheets: Sequence[EvaluationSheet], measure: str, names: Sequence[str]
) -> dict[str, Any]:
    """Context of `_strata.html`: the means of each run in every stratum of the requested field, else of the first.

    The queries are those of the last sheet: all are of the same.
    """
    queries, runs = sheets[-1].queries, [sheet.values[measure] for sheet in sheets]
    fields = fields_of(queries)
    field = field_name if field_name in fields else next(iter(fields), "")
    strata, small = strata_of(queries, field, runs) if field else ([], 0)
    judged = judged_inside(queries, field, strata, [sheet.values[JUDGED_NAME] for sheet in sheets])
    bounds = stratum_bounds(strata)
    return {
        "strata_fields": fields,
        "strata_field": field,
        "strata": [(one, charts.stratum(one, names, bounds), judged[at]) for at, one in enumerate(strata)],
        "strata_figures": charts.strata_figures(strata, names),
        "small_strata": small,
        "fewest": FEWEST_IN_STRATUM,
    }


def fields_of(queries: Sequence[VersionQuery]) -> dict[str, str]:
    """The fields with more than one stratum among these queries."""
    words = {**STRATA, SPLIT: "Split", WORDING: "Wording"}
    return {
        field: word for field, word in words.items() if len({stratum_of(query, field) for query in queries} - {""}) > 1
    }


def stratum_of(query: VersionQuery, field: str) -> str:
    """The stratum of a query, empty for none. A query has clean wording unless it is a variant."""
    if field == SPLIT:
        return query.split
    if field == WORDING:
        facts = query.fields.get("metadata") or {}
        return str(facts.get(KIND) or UNNAMED) if facts.get(VARIANT_OF) else CLEAN
    return str(query.fields.get(field) or "")


def strata_of(queries: Sequence[VersionQuery], field: str, runs: Sequence[Floats]) -> tuple[list[ComparedStratum], int]:
    """The largest strata with the mean of each run, and how many were too small to show."""
    strata, small = compare_strata([stratum_of(query, field) for query in queries], runs)
    return strata[:MULTIPLES], small


def judged_inside(
    queries: Sequence[VersionQuery], field: str, strata: Sequence[ComparedStratum], judged: Sequence[Floats]
) -> list[list[float | None]]:
    """For each stratum the mean share of judged blocks of each run, over the queries with results of the run."""
    labels = np.array([stratum_of(query, field) for query in queries], dtype=object)
    return [[mean_of(run[(labels == one.name) & ~np.isnan(run)]) for run in judged] for one in strata]
