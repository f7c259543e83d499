"""Rules about corpora. Each returns the reason against an action as a sentence, or None."""

from apps.corpus.enums import ImportState
from apps.corpus.models import BlockVersion, Corpus, Import, Snapshot
from apps.corpus.selectors.import_kinds import kind_named
from apps.corpus.selectors.snapshots import Pending


def freeze_refusal(pending: Pending, same: Snapshot | None) -> str | None:
    """Why a corpus cannot be frozen now. `same` is a snapshot with exactly the same content."""
    if not pending.blocks:
        return "There is nothing to freeze: the corpus has no passages. Import some first."
    if same is not None:
        return f"Nothing to freeze: the corpus is unchanged since snapshot {same.number}, {same.name}."
    return None


def busy_refusal(corpus: Corpus, job_id: int | None = None) -> str | None:
    """Why a corpus can neither change nor be frozen now: the requested state is the one to freeze.

    `job_id` is the calling job, if it is one.
    """
    if corpus.is_being_frozen and corpus.freeze_job_id != job_id:
        return f"{corpus.name} is being frozen. Wait until its job is done, or cancel the job first."
    return None


def redaction_refusal(version: BlockVersion, reason: str) -> str | None:
    if version.redacted_at is not None:
        return "This text has already been redacted."
    if not reason.strip():
        return "A redaction needs a reason. It is shown in place of the text."
    return None


def undo_refusal(item: Import) -> str | None:
    """Why an import cannot be undone."""
    return ended_refusal(item) or kind_named(item.kind).undo_refusal(item)


def ended_refusal(item: Import) -> str | None:
    """Why nothing of an import can be taken back."""
    if item.undone_at:
        return "This import has been undone."
    if item.state != ImportState.APPLIED:
        return "This import is not applied; there is nothing to undo."
    if item.result.get("changes_nothing"):
        return "This import changed nothing; there is nothing to undo."
    return None


def corpus_undo_refusal(item: Import, corpus: Corpus | None, *, is_changed_since: bool) -> str | None:
    """Why an applied import of passages cannot be undone: runs, grades and Q&As all rest on a snapshot."""
    if corpus is None or "snapshots_before" not in item.result:
        return "This import is older than undoing; what it changed was not recorded."
    # By number and not by time: a freeze that waited for the import has the earlier time, and freezes what it brought.
    frozen = corpus.snapshots.filter(number__gt=item.result["snapshots_before"]).order_by("number").first()
    if frozen is not None:
        return f"{frozen.name} was frozen after it, and a snapshot never changes. Import the earlier files instead."
    if is_changed_since:
        return "Another import has changed the same passages since. Undo that one first."
    return busy_refusal(corpus)
