"""Reads of systems, runs and pools. A row of another project raises Http404, like a missing one."""

from apps.retrieval.selectors.estimates import PoolForecast, estimate_pool
from apps.retrieval.selectors.finding import in_parts
from apps.retrieval.selectors.pools import (
    entries_of,
    missing_job,
    pool_in,
    pool_query_ids,
    pool_runs,
    pools_in,
    pools_with,
)
from apps.retrieval.selectors.queries import (
    ALL_QUERIES,
    QueryChoice,
    ids_and_texts,
    queries_in,
    query_strata,
    query_texts,
)
from apps.retrieval.selectors.runs import (
    complete_runs_on,
    components_of,
    job_of_upload,
    push_in,
    ranked_queries,
    result_counts,
    reusable_run,
    run_in,
    runs_in,
    runs_to_make,
    stored_tops,
)
from apps.retrieval.selectors.snapshots import (
    block_texts,
    position_of_blocks,
    positions_of,
    snapshot_named,
    version_ids,
)
from apps.retrieval.selectors.systems import engines_in, fused_systems, indexed_in, indexing_job, system_in, systems_in

__all__ = [
    "ALL_QUERIES",
    "PoolForecast",
    "QueryChoice",
    "block_texts",
    "complete_runs_on",
    "components_of",
    "engines_in",
    "entries_of",
    "estimate_pool",
    "fused_systems",
    "ids_and_texts",
    "in_parts",
    "indexed_in",
    "indexing_job",
    "job_of_upload",
    "missing_job",
    "pool_in",
    "pool_query_ids",
    "pool_runs",
    "pools_in",
    "pools_with",
    "position_of_blocks",
    "positions_of",
    "push_in",
    "queries_in",
    "query_strata",
    "query_texts",
    "ranked_queries",
    "result_counts",
    "reusable_run",
    "run_in",
    "runs_in",
    "runs_to_make",
    "snapshot_named",
    "stored_tops",
    "system_in",
    "systems_in",
    "version_ids",
]
