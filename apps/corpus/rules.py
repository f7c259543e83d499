"""Rules about corpora. Each returns the reason against an action as a sentence, or None."""

from apps.corpus.models import BlockVersion, Corpus, Snapshot
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
