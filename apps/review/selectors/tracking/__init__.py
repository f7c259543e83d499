"""Reads of verdicts for the quality tracker, aggregated by the database.

Open rounds are never counted: they are blind.
"""

from apps.review.selectors.tracking.counting import (
    FIRST_ROUND,
    FLAGS,
    PERSON,
    counted,
    last_verdict,
    newest_verdicts,
    reviews_of,
    verdict_key,
)
from apps.review.selectors.tracking.log import LogFilter, drops_logged, flags_logged
from apps.review.selectors.tracking.meeting import Meeting, aspect_tables, flag_table, meetings
from apps.review.selectors.tracking.past import past_rounds
from apps.review.selectors.tracking.rates import (
    Dimension,
    FlagShare,
    FlagTally,
    flags_by_day,
    reasons_named,
    shares,
    tallies,
)

__all__ = [
    "FIRST_ROUND",
    "FLAGS",
    "PERSON",
    "Dimension",
    "FlagShare",
    "FlagTally",
    "LogFilter",
    "Meeting",
    "aspect_tables",
    "counted",
    "drops_logged",
    "flag_table",
    "flags_by_day",
    "flags_logged",
    "last_verdict",
    "meetings",
    "newest_verdicts",
    "past_rounds",
    "reasons_named",
    "reviews_of",
    "shares",
    "tallies",
    "verdict_key",
]
