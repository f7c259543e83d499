"""The plan of a round, loaded from its row."""

from apps.judging.core.plan import Plan
from apps.judging.models import PilotDecision, Round


def plan_of(round_: Round) -> Plan:
    """The plan of this round."""
    return Plan.from_json(round_.plan, overlap=round_.overlap_share, judges=round_.judges, seed=round_.seed)


def pilot_queries(round_: Round) -> list[int]:
    """The queries of the pilot, by key; none for a round without one."""
    return (round_.plan or {}).get("pilot_queries", [])


def last_entry(round_: Round) -> int | None:
    """The key of the last pair of the pool when it was planned; later pairs are not part of the round."""
    return (round_.plan or {}).get("last_entry")


def seats_at_opening(round_: Round) -> int | None:
    """How many seats were shared when the round opened; None for rounds from before this was stored."""
    return (round_.plan or {}).get("seats")


def kept_count(round_: Round) -> int:
    """How many pairs of the pool were left out, because their text had been judged or was being judged."""
    return (round_.plan or {}).get("kept", 0)


def undecided_pilot_queries(round_: Round) -> list[int] | None:
    """The queries of an undecided pilot, to which everybody is confined; None without such a pilot."""
    queries = pilot_queries(round_)
    if not queries or PilotDecision.objects.filter(round=round_).exists():
        return None
    return queries
