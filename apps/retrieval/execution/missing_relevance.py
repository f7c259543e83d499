"""Estimating what a pool misses, from the grades of the blocks sampled outside it."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from apps.jobs.execution.context import JobContext
from apps.retrieval.core.missing_relevance import Sampled, found_share, missing
from apps.retrieval.core.pooling import Ints
from apps.retrieval.core.sampling import ALL, EDGE, RANDOM, REST, PoolPlan, plan_of
from apps.retrieval.execution.budgets import positions_of
from apps.retrieval.execution.pool_sampling import NOTHING, edge_of
from apps.retrieval.models import Pool, PoolEntry
from apps.retrieval.selectors import known_grades
from apps.retrieval.selectors.finding import in_parts
from apps.retrieval.selectors.pools import pool_query_ids
from apps.retrieval.selectors.snapshots import version_ids

QUERIES_AT_ONCE = 200


class MissingRelevanceLine(NamedTuple):
    """One stratum of one query: its blocks outside the pool, and how many were sampled, judged and relevant."""

    query: int
    stratum: str
    size: int
    sampled: int
    judged: int
    relevant: int


def estimate_missing(ctx: JobContext, pool: Pool) -> dict[str, Any]:
    """The value of `Pool.summary["missing"]`: the estimate and the pool's recall with intervals, and their counts.

    A sampled block that a run brought in later belongs to the pool and no longer to the sample; the rest is still a
    random sample of the blocks outside. Queries with sampled strata but no judged block are left out; `queries` and
    `of_queries` count all queries and those used.
    """
    plan, query_ids = plan_of(pool.plan), pool_query_ids(pool)
    grades = known_grades.grades_of(pool)
    versions = version_ids(pool.snapshot)
    lines: list[MissingRelevanceLine] = []
    relevant_inside: dict[int, int] = {}
    for done, part in enumerate(in_parts(query_ids, QUERIES_AT_ONCE)):
        ctx.progress(done * QUERIES_AT_ONCE, len(query_ids), "counting sampled and judged passages")
        lines += lines_of(pool, part, plan, grades, versions, relevant_inside)
    sampled, judged = sum(line.sampled for line in lines), sum(line.judged for line in lines)
    counts: dict[str, Any] = {"sampled": sampled, "judged": judged, "queries": len(query_ids)}
    counts["relevant_from"] = known_grades.RELEVANT_FROM
    unjudged = {line.query for line in lines if line.size and not line.judged}
    judged_lines = [line for line in lines if line.query not in unjudged]
    counts["of_queries"] = len({line.query for line in judged_lines})
    if not any(line.judged for line in judged_lines):
        return counts
    used = [line for line in judged_lines if line.size]
    columns = zip(*((line.size, line.judged, line.relevant) for line in used), strict=True)
    outside = missing(Sampled(*(np.array(column, dtype=np.int64) for column in columns)))
    inside = sum(relevant_inside.get(query, 0) for query in {line.query for line in judged_lines})
    counts |= {"relevant": sum(line.relevant for line in used), "found": inside, "missing": list(outside)}
    return {**counts, "share": list(found_share(inside, outside)) if inside + outside.low > 0 else None}


def lines_of(
    pool: Pool,
    query_ids: Sequence[int],
    plan: PoolPlan,
    grades: Mapping[tuple[int, int], int],
    versions: Ints,
    relevant_inside: dict[int, int],
) -> list[MissingRelevanceLine]:
    """The strata of some queries. Adds the number of relevant blocks in the pool, by query, to `relevant_inside`."""
    inside: dict[int, list[int]] = {}
    sampled: dict[tuple[int, str], list[int]] = {}
    rows = PoolEntry.objects.filter(pool=pool, query__in=query_ids)
    for query, version, found_by, how in rows.values_list("query_id", "version_id", "found_by", "sampled").iterator():
        if how and how["how"] == RANDOM and not found_by:
            sampled.setdefault((query, how["stratum"]), []).append(version)
            continue
        inside.setdefault(query, []).append(version)
        if grades.get((query, version), -1) >= known_grades.RELEVANT_FROM:
            relevant_inside[query] = relevant_inside.get(query, 0) + 1
    edge = edge_of(plan, query_ids)
    lines = []
    for query in query_ids:
        pooled = positions_of(np.array(inside.get(query, []), dtype=np.int64), versions)
        sizes = sizes_outside(plan, pooled, edge.get(query, NOTHING), len(versions))
        for stratum, size in sizes.items():
            block_ids = sampled.get((query, stratum), [])
            known = [grades[query, version] for version in block_ids if (query, version) in grades]
            relevant = sum(grade >= known_grades.RELEVANT_FROM for grade in known)
            lines.append(MissingRelevanceLine(query, stratum, size, len(block_ids), len(known), relevant))
    return lines


def sizes_outside(plan: PoolPlan, pooled: Ints, edge: Ints, blocks: int) -> dict[str, int]:
    """How many blocks each stratum of the plan has outside the pool; `pooled` and `edge` are positions."""
    at_edge = len(np.setdiff1d(edge, pooled))
    sizes = {ALL: blocks - len(pooled), EDGE: at_edge, REST: blocks - len(pooled) - at_edge}
    return {stratum: sizes[stratum] for stratum in plan.strata}
