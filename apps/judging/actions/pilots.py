"""Opening the rest of a round after its pilot."""

from datetime import datetime

from django.db import transaction

from apps.accounts.models import User
from apps.audit.actions import record
from apps.common.errors import Refusal
from apps.judging import rules
from apps.judging.actions.locks import locked_round
from apps.judging.models import PilotDecision
from apps.judging.selectors.pilots import alpha_over
from apps.judging.selectors.round_plan import pilot_queries, undecided_pilot_queries


class PilotRefused(Refusal):
    """A pilot cannot be decided."""


@transaction.atomic
def open_after_pilot(*, round_id: int, actor: User, reason: str, at: datetime) -> PilotDecision:
    """Open the rest of a round whatever the agreement in its pilot, with the lead's reason on record."""
    round_ = locked_round(round_id)
    reason = reason.strip()
    if refusal := rules.pilot_refusal(round_, is_waiting=undecided_pilot_queries(round_) is not None, reason=reason):
        raise PilotRefused(refusal, code="pilot_not_open")
    alpha = alpha_over(round_, pilot_queries(round_))
    decision = PilotDecision.objects.create(round=round_, alpha=alpha, decided_by=actor, reason=reason, decided_at=at)
    after = {"alpha": alpha, "reason": reason}
    record(project=round_.project, actor=actor, action="round.pilot_opened", obj=round_, after=after, at=at)
    return decision
