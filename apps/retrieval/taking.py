"""What a request does with a small run file and a job with a large one: look at it, and take it in."""

from typing import Any

from apps.corpus.selectors import snapshot_in
from apps.jobs.models import Upload
from apps.retrieval.actions.importing import import_upload, same_run
from apps.retrieval.imports import Draft, facts_of

__all__ = ["facts_of_upload", "import_upload"]


def facts_of_upload(upload: Upload, draft: Draft) -> dict[str, Any]:
    """What the file would come to: the draft's figures, and `same_run`, the run that has exactly these rankings."""
    facts = facts_of(draft)
    system = upload.options["system"] or upload.options["tag"] or facts["tag"]
    same = None
    if draft.rankings and not draft.is_spoilt:
        snapshot = snapshot_in(upload.project, upload.options["snapshot"])
        same = same_run(project=upload.project, snapshot=snapshot, draft=draft, system=system)
    return {**facts, "same_run": same.pk if same else None}
