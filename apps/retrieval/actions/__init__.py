"""The actions on systems, runs and pools."""

from apps.retrieval.actions.chosen import MOST_CHOSEN, ChoiceRefused, choose_pairs
from apps.retrieval.actions.fusions import create_fusion
from apps.retrieval.actions.indexes import request_indexes
from apps.retrieval.actions.intake import confirm_upload, discard_run_file, import_file, push_run, upload_run
from apps.retrieval.actions.loading import create_loaded_system, drop_index, load_snapshot
from apps.retrieval.actions.pools import PoolRefused, grow_pool, request_missing, request_pool
from apps.retrieval.actions.remote import change_pace, create_remote_system
from apps.retrieval.actions.runs import add_runs_again, annotate_run, lock_queries, request_run
from apps.retrieval.actions.systems import create_system

__all__ = [
    "MOST_CHOSEN",
    "ChoiceRefused",
    "PoolRefused",
    "add_runs_again",
    "annotate_run",
    "change_pace",
    "choose_pairs",
    "confirm_upload",
    "create_fusion",
    "create_loaded_system",
    "create_remote_system",
    "create_system",
    "discard_run_file",
    "drop_index",
    "grow_pool",
    "import_file",
    "load_snapshot",
    "lock_queries",
    "push_run",
    "request_indexes",
    "request_missing",
    "request_pool",
    "request_run",
    "upload_run",
]
