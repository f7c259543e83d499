"""The tools and resources of an agent, each with the operation of the API that it is.

What is not here no agent can do: no tool grades, decides, signs, closes a round, freezes or releases a version, takes
verdicts or grades from elsewhere, or changes people and settings. A tool is a name, an operation and a sentence; its
parameters are those of the operation.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class Tool(NamedTuple):
    """`given` are parameters that the agent does not choose."""

    name: str
    operation: str
    says: str
    given: Mapping[str, Any] = MappingProxyType({})


class Resource(NamedTuple):
    """A text to read. Its address names the path parameters of the operation in braces; `given` are the others."""

    address: str
    name: str
    operation: str
    says: str
    media_type: str = "text/markdown"
    given: Mapping[str, Any] = MappingProxyType({})


def _imports(kind: str, what: str) -> tuple[Tool, ...]:
    """The steps of an import, which are the same for every kind."""
    return (
        Tool(
            f"import_{what}",
            f"{kind}_import",
            f"Upload a file of {what} as text. Nothing is imported yet: read the plan, mend it, confirm it.",
        ),
        Tool(f"list_{what}_imports", f"{kind}_imports_list", f"List the imports of {what}, oldest first."),
        Tool(
            f"read_{what}_import",
            f"{kind}_import_read",
            "Read the plan of an import: what it would add and change, its mistakes, its fixes, its columns.",
        ),
        Tool(f"choose_{what}_options", f"{kind}_import_options", "Read the uploaded file again with other options."),
        Tool(
            f"choose_{what}_columns",
            f"{kind}_import_columns",
            "Say what each column of an uploaded table is. Ask a person where you are not sure.",
        ),
        Tool(f"fix_{what}_import", f"{kind}_import_fix", "Read the file again as one of the plan's fixes proposes."),
        Tool(f"confirm_{what}_import", f"{kind}_import_confirm", "Import what the plan says: all of it, or nothing."),
        Tool(f"discard_{what}_import", f"{kind}_import_discard", "Delete an uploaded file that was not imported."),
        Tool(
            f"undo_{what}_import", f"{kind}_import_undo", "Put back what an import changed, while nothing rests on it."
        ),
    )


TOOLS = (
    *_imports("corpus", "documents"),
    *_imports("queries", "queries"),
    Tool("list_corpora", "corpora_list", "List the corpora."),
    Tool("list_queries", "queries_list", "List or search the queries, with their properties."),
    Tool("list_snapshots", "snapshots_list", "List the frozen snapshots of corpora."),
    Tool(
        "freeze_snapshot",
        "snapshots_freeze",
        "Freeze a corpus as it is now. Runs, pools and grades rest on a snapshot.",
    ),
    Tool("read_freeze", "snapshots_freeze_read", "Read how far the freezing of a large corpus is."),
    Tool("list_systems", "systems_list", "List the retrieval systems."),
    Tool("create_system", "systems_create", "Describe a system that Karat runs itself, such as BM25."),
    Tool("run_system", "systems_run", "Let a system answer the queries on a snapshot, in a job."),
    Tool("push_run", "runs_push", "Send the rankings of a system that runs elsewhere."),
    Tool("read_push", "runs_push_read", "Read how far the import of a large run is."),
    Tool("list_runs", "runs_list", "List the runs, newest first."),
    Tool("read_run", "runs_read", "Read one run: its system, its snapshot, what it lacks."),
    Tool("build_pool", "pools_build", "Collect the pairs to judge from the best results of runs, in a job."),
    Tool("grow_pool", "pools_grow", "Add the best results of further runs to a pool."),
    Tool("list_pools", "pools_list", "List the pools, newest first."),
    Tool("read_pool", "pools_read", "Read one pool: its size, and what it was made from."),
    Tool("read_round_offer", "judging_rounds_offer", "Read who can judge, and which pools have pairs to judge."),
    Tool("plan_round", "judging_round_plan", "Open a round, in which people judge the pairs of a pool."),
    Tool("list_rounds", "judging_rounds_all", "Read the progress of every round: judged, to do, to decide."),
    Tool(
        "score_run",
        "evaluations_request",
        "Score a run on the dev split of a released version, in a job.",
        MappingProxyType({"split": "dev"}),
    ),
    Tool("list_scores", "evaluations_list", "List the scores of runs, newest first."),
    Tool("read_scores", "evaluations_read", "Read the scores of one run on one version, with intervals."),
    Tool("compare", "comparisons_read", "Compare two scored runs, measure by measure, with a test and an interval."),
    Tool("list_drops", "comparisons_drops", "List the queries that fell from one run to the other."),
    Tool("list_unjudged", "comparisons_unjudged", "List the queries of a comparison with passages that lack a grade."),
    Tool("pool_unjudged", "comparisons_request_grades", "Make a pool of the pairs of a query that lack a grade."),
    Tool(
        "list_misses", "evaluations_misses", "List the questions whose expected passage a run did not return, and why."
    ),
    Tool("list_gates", "gates_list", "List the gates, with what each asks and how its last run did."),
    Tool("read_gate", "gates_read", "Read one gate and the runs that it has checked."),
    Tool("list_gold_sets", "gold_sets_list", "List the gold sets."),
    Tool("list_versions", "projects_versions_list", "List the versions of the gold sets."),
    Tool("read_version", "projects_versions_v_retrieve", "Read one version: its state and what is in it."),
    Tool("draft_version", "versions_draft", "Begin the next version of a gold set as a draft. A lead freezes it."),
    Tool("list_jobs", "jobs_list", "List the jobs, newest first."),
    Tool("read_job", "projects_jobs_retrieve", "Read how far a job is, and why it failed."),
)

REPORT = MappingProxyType({"format": "md"})
RESOURCES = (
    Resource(
        "karat://guideline",
        "guideline",
        "judging_guidelines",
        "The guideline by which people grade, the latest version first.",
        "application/json",
    ),
    Resource(
        "karat://scores/{id}/report",
        "report of a run",
        "evaluation_report_read",
        "One run on one version, as a text; `id` is that of the scores.",
        given=REPORT,
    ),
    Resource(
        "karat://versions/{version_pk}/report",
        "report of a version",
        "version_report_read",
        "A gold version and the runs on it, as a text; `version_pk` is the id of the version.",
        given=REPORT,
    ),
    Resource(
        "karat://comparisons/{baseline}/{candidate}/report",
        "report of a comparison",
        "comparison_report_read",
        "Two scored runs beside each other, as a text; both are ids of scores.",
        given=REPORT,
    ),
)
