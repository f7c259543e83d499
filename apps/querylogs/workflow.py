"""The transition table of an offered query."""

from apps.common.errors import IllegalStep
from apps.querylogs.enums import OfferState

STEPS: dict[tuple[OfferState, str], OfferState] = {
    (OfferState.WAITING, "keep"): OfferState.KEPT,
    (OfferState.WAITING, "same"): OfferState.SAME,
    (OfferState.WAITING, "reject"): OfferState.REJECTED,
    (OfferState.WAITING, "expire"): OfferState.EXPIRED,
    (OfferState.KEPT, "undo"): OfferState.WAITING,
    (OfferState.SAME, "undo"): OfferState.WAITING,
    (OfferState.REJECTED, "undo"): OfferState.WAITING,
}


def after(state: str, step: str) -> OfferState:
    """The state after a step. Raises IllegalStep where the table has none."""
    if (target := STEPS.get((OfferState(state), step))) is None:
        raise IllegalStep(
            f"A query that is {OfferState(state).label} cannot be changed by “{step}”. Load the page again."
        )
    return target
