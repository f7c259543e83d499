"""What is allowed with a new edition. Each rule returns the reason against it, or None."""

from apps.audit.models import Event
from apps.corpus.enums import ImportState
from apps.corpus.models import Import, Snapshot

COMPARED_AT_ONCE_ROWS = 20_000


def take_refusal(before: Snapshot | None, taken: Event | None) -> str | None:
    """Why the grades of the snapshot before can't be taken along to this one."""
    if before is None:
        return "This is the first snapshot of its corpus. There is no earlier edition to take grades from."
    if taken is not None:
        return "This edition has been taken already. Its page shows the round and what came along."
    return None


def shown_refusal(shown: str, now: str) -> str | None:
    """Why a decision on the changes that were shown no longer applies. Both are marks of the changes."""
    if shown and shown != now:
        return "The passages have changed since you looked at them. Nothing was done; look at the changes again."
    return None


def import_refusal(item: Import, before: Snapshot | None) -> str | None:
    """Why an import can't be compared with an earlier edition."""
    if item.kind != "corpus":
        return "Only an import of passages makes a new edition."
    if before is None:
        return "The corpus has no snapshot yet, so there is no earlier edition. Apply the import, then freeze one."
    if item.state != ImportState.READY:
        state = item.get_state_display()
        being = state if state.startswith("has ") else f"is {state}"
        return f"This import {being}. A new edition is compared before its import is applied."
    if item.plan["rows"] > COMPARED_AT_ONCE_ROWS:
        return (
            "This file is too large to compare in the preview. Apply it and freeze a snapshot: "
            "the snapshot's page leads to the same comparison."
        )
    return None


def round_refusal(*, has_guideline: bool, people: int) -> str | None:
    """Why no round can be made with the edition itself."""
    if not has_guideline:
        return "There is no guideline yet, so the pairs are kept in a pool. Publish one, then plan a round on the pool."
    if people == 0:
        return "Nobody has judged on this corpus yet, so the pairs are kept in a pool. Choose people in a new round."
    return None
