"""What a project contains, counted: what goes when it is deleted."""

from typing import NamedTuple

from apps.accounts.models import Project
from apps.backups.selectors.belonging import count_rows

COUNTED = {
    "passages": "corpus_block",
    "queries": "queries_query",
    "Q&As": "triples_triple",
    "runs": "retrieval_run",
    "grades": "judging_judgement",
    "gold versions": "goldsets_version",
    "scored runs": "evaluation_evaluation",
    "uploaded files": "jobs_upload",
}
"""What people know of a project, and the table of each.

Neither verdicts nor events of history: while they grow, a lead who also reviews would learn what the other answered.
"""


class Content(NamedTuple):
    what: str
    rows: int


def contents_of(project: Project) -> list[Content]:
    """How much of each kind of thing there is."""
    return [Content(what, count_rows(project.pk, table)) for what, table in COUNTED.items()]
