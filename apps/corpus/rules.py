"""Why an act on a corpus is refused, in a sentence; None when it is not."""

from apps.corpus.models import BlockVersion, Corpus, Snapshot
from apps.corpus.snapshots import Measured, current_blocks, measure


def freeze_refusal(corpus: Corpus, measured: Measured | None = None) -> str | None:
    """Why the corpus cannot be frozen now."""
    if not current_blocks(corpus).exists():
        return "There is nothing to freeze: the corpus has no blocks. Import some first."
    digest = (measured or measure(corpus)).digest
    same = Snapshot.objects.filter(corpus=corpus, digest=digest).first()
    if same is not None:
        return f"Nothing to freeze: the corpus is exactly snapshot {same.number}, {same.name}."
    return None


def redaction_refusal(version: BlockVersion, reason: str) -> str | None:
    if version.redacted_at is not None:
        return "This text has already been redacted."
    if not reason.strip():
        return "A redaction needs its reason: it stays where the text was."
    return None
