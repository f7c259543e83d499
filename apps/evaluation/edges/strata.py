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
from apps.metrics.statistics.strata import FEWEST_IN_STRATUM, ComparedStratum, compare_strata, open_strata

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
    labels = open_labels(sheets[-1])[field] if field else [""] * len(queries)
    strata, _ = compare_strata(labels, runs)
    strata = strata[:MULTIPLES]
    small = len({stratum_of(query, field) for query in queries} - {"", *labels}) if field else 0
    judged = judged_inside(labels, strata, [sheet.values[JUDGED_NAME] for sheet in sheets])
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


def open_labels(sheet: EvaluationSheet) -> dict[str, list[str]]:
    """For each field the stratum of each query, "" for none and for those that would tell of single test queries."""
    queries = sheet.queries
    labels = {field: [stratum_of(query, field) for query in queries] for field in fields_of(queries)}
    rows = [[(field, own[at]) for field, own in labels.items() if own[at]] for at in range(len(queries))]
    shown = set(open_strata(rows, sheet.is_test, by_subtraction=bool(sheet.sealed), fields=list(labels)))
    return {field: [label if (field, label) in shown else "" for label in own] for field, own in labels.items()}


def judged_inside(
    labels: Sequence[str], strata: Sequence[ComparedStratum], judged: Sequence[Floats]
) -> list[list[float | None]]:
    """For each stratum the mean share of judged blocks of each run, over the queries with results of the run."""
    names = np.array(labels, dtype=object)
    return [[mean_of(run[(names == one.name) & ~np.isnan(run)]) for run in judged] for one in strata]
