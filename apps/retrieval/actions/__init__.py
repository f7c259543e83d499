"""Everything a person or a machine can do with systems, runs and pools."""

from apps.retrieval.actions.importing import Imported, import_run, import_upload, same_run
from apps.retrieval.actions.lengths import TooLong
from apps.retrieval.actions.pools import PoolRefused, grow_pool, request_pool
from apps.retrieval.actions.runs import RUN_DEPTH, RunRefused, annotate_run, lock_queries, request_run
from apps.retrieval.actions.systems import SystemRefused, create_system

__all__ = [
    "RUN_DEPTH",
    "Imported",
    "PoolRefused",
    "RunRefused",
    "SystemRefused",
    "TooLong",
    "annotate_run",
    "create_system",
    "grow_pool",
    "import_run",
    "import_upload",
    "lock_queries",
    "request_pool",
    "request_run",
    "same_run",
]
