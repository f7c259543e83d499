"""What a request does with a small run file and a job with a large one: look at it, and take it in."""

from typing import Any

from apps.corpus.selectors import snapshot_in
from apps.jobs.models import Upload
from apps.retrieval.actions.importing import same_rankings
from apps.retrieval.imports import Draft, facts_of


def facts_of_upload(upload: Upload, draft: Draft) -> dict[str, Any]:
    """What the file would come to: the draft's figures, and the runs of the system that have exactly its rankings.

    `same_run` is the one of the same tag, which taking in would not change; `equal_run` is one of another tag.
    """
    facts = facts_of(draft)
    tag = upload.options["tag"] or facts["tag"]
    found: dict[bool, int] = {}
    if draft.rankings and not draft.is_spoilt:
        snapshot = snapshot_in(upload.project, upload.options["snapshot"])
        system = upload.options["system"] or tag
        twins = same_rankings(project=upload.project, snapshot=snapshot, draft=draft, system=system)
        for pk, other in twins.values_list("pk", "tag"):
            found.setdefault(other == tag, pk)
    return {**facts, "same_run": found.get(True), "equal_run": found.get(False)}
