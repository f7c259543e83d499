"""What a round's row says of its plan, read back."""

from apps.judging.core.plan import Plan
from apps.judging.models import PilotDecision, Round


def plan_of(round_: Round) -> Plan:
    """The plan of this round."""
    return Plan.from_json(round_.plan, overlap=round_.overlap_share, judges=round_.judges, seed=round_.seed)


def pilot_queries(round_: Round) -> list[int]:
    """The queries of the pilot, by key; none for a round without one."""
    return (round_.plan or {}).get("pilot_queries", [])


def last_entry(round_: Round) -> int | None:
    """The last pair of the pool that the plan has seen; pairs that came later are no part of the round."""
    return (round_.plan or {}).get("last_entry")


def seats_at_opening(round_: Round) -> int | None:
    """How many seats everybody shared when the round opened; None for rounds from before this was written down."""
    return (round_.plan or {}).get("seats")


def kept_at_opening(round_: Round) -> int:
    """How many pairs of the pool nobody was asked for, because their text had been judged or was being judged."""
    return (round_.plan or {}).get("kept", 0)


def gate(round_: Round) -> list[int] | None:
    """The queries to which a pilot that is not decided yet confines everybody; None where there is no such pilot."""
    queries = pilot_queries(round_)
    if not queries or PilotDecision.objects.filter(round=round_).exists():
        return None
    return queries
