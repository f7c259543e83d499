"""Where the keys of rows stand, besides the columns that are foreign keys: in JSON, and in plain numbers.

A test makes a whole project and finds every key in it, so that none stands where this list does not name it.
"""

from apps.backups.selectors.belonging import PEOPLE

REPORTS = ("reports_biasreport", "reports_stabilityreport", "reports_negativesreport")
RUNS, SNAPSHOTS = "retrieval_run", "corpus_snapshot"

KEYS: dict[str, dict[str, tuple[str, ...]]] = {
    "corpus_import.options": {".snapshot": (SNAPSHOTS,)},
    "jobs_job.params": {
        ".corpus_id": ("corpus_corpus",),
        ".evaluation_id": ("evaluation_evaluation",),
        ".evaluation_ids[]": ("evaluation_evaluation",),
        ".gate_id": ("gates_gate",),
        ".import_id": ("corpus_import",),
        ".index_id": ("retrieval_loadedindex",),
        ".job_id": ("jobs_job",),
        ".pool_id": ("retrieval_pool",),
        ".query_ids[]": ("queries_query",),
        ".read_id": ("agreement_readgrades",),
        ".release_id": ("goldsets_publicrelease",),
        ".report_id": REPORTS,
        ".round_id": ("judging_round",),
        ".run_id": (RUNS,),
        ".run_ids[]": (RUNS,),
        ".snapshot_id": (SNAPSHOTS,),
        ".upload_id": ("jobs_upload",),
        ".version_id": ("goldsets_version",),
    },
    "jobs_job.result": {
        ".evaluation_id": ("evaluation_evaluation",),
        ".gate_id": ("gates_gate",),
        ".pool_id": ("retrieval_pool",),
        ".release_id": ("goldsets_publicrelease",),
        ".report_id": REPORTS,
        ".round_id": ("judging_round",),
        ".run_id": (RUNS,),
        ".snapshot_id": (SNAPSHOTS,),
    },
    "jobs_upload.options": {".job": ("jobs_job",), ".snapshot": (SNAPSHOTS,)},
    "agreement_readgrades.rounds": {"[]": ("judging_round",)},
    "agreement_readgrades.newest": {"": ("judging_judgement",)},
    "judging_round.plan": {".last_entry": ("retrieval_poolentry",)},
    "judging_roundannotator.cursor": {"": ("queries_query",)},
    "reports_biasreport.runs": {"[]": (RUNS,)},
    "reports_biasreport.result": {
        ".left_out[].system": ("retrieval_system",),
        ".runs[].run": (RUNS,),
        ".runs[].system": ("retrieval_system",),
    },
    "reports_negativesreport.runs": {"[]": (RUNS,)},
    "reports_negativesreport.result": {".runs[].run": (RUNS,)},
    "reports_stabilityreport.runs": {"[]": (RUNS,)},
    "reports_stabilityreport.result": {
        ".people[]": (PEOPLE,),
        ".runs[].run": (RUNS,),
        ".runs[].system": ("retrieval_system",),
    },
    "retrieval_pool.plan": {
        ".baseline": ("evaluation_evaluation",),
        ".before": (SNAPSHOTS,),
        ".candidate": ("evaluation_evaluation",),
        ".report": REPORTS,
    },
    "retrieval_pool.summary": {".runs[]": (RUNS,)},
    "retrieval_poolentry.found_by": {"[][0]": (RUNS,)},
    "retrieval_poolentry.sampled": {".as": ("corpus_blockversion",)},
    "review_candidateblock.evaluation": {"": ("evaluation_evaluation",)},
    "review_missnote.evaluation": {"": ("evaluation_evaluation",)},
}
"""The columns with keys, and in each the way to every key: `.name` for a value of an object, `[]` for
each of a list, `[0]` for its first. Where tables share a way, a row elsewhere says which of them it is."""
