"""Why an act on a corpus is refused, in a sentence; None when it is not."""

from apps.corpus.models import BlockVersion, Snapshot
from apps.corpus.snapshots import Pending


def freeze_refusal(pending: Pending, same: Snapshot | None) -> str | None:
    """Why a corpus cannot be frozen now. `same` is a snapshot known to hold exactly the same."""
    if not pending.blocks:
        return "There is nothing to freeze: the corpus has no blocks. Import some first."
    if same is not None:
        return f"Nothing to freeze: the corpus is exactly snapshot {same.number}, {same.name}."
    return None


def redaction_refusal(version: BlockVersion, reason: str) -> str | None:
    if version.redacted_at is not None:
        return "This text has already been redacted."
    if not reason.strip():
        return "A redaction needs its reason: it stays where the text was."
    return None
