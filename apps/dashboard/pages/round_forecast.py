"""The line under a round's progress: its overlap, expected end, people who judge today, and open seats."""

from datetime import date, datetime, timedelta

from django.utils import timezone

from apps.common.text.wording import count, day, percent
from apps.judging.core.eta import Lately, estimate
from apps.judging.enums import RoundState
from apps.judging.models import Round
from apps.judging.selectors import progress
from apps.judging.selectors.progress import Totals
from apps.judging.selectors.workload import RoundAnswers

WEEK = timedelta(days=7)


def forecast(round_: Round, seats: Totals, lapsed: int, answers: RoundAnswers, *, at: datetime) -> str:
    """The line of an open round, or the closing date of a closed one. `lapsed` counts leases that have expired."""
    overlap = _overlap(round_)
    today = timezone.localdate(at)
    if round_.state == RoundState.CLOSED:
        closed = f"closed on {day(timezone.localdate(round_.closed_at), today)}" if round_.closed_at else "closed"
        return f"{overlap}, {closed}."
    stuck = progress.stuck(round_)
    end = ending(seats.to_go - stuck, answers.lately, today)
    left = f" {_seats(stuck)} that nobody can give." if stuck else ""
    midnight = timezone.localtime(at).replace(hour=0, minute=0, second=0, microsecond=0)
    people = _people(answers.judged_since(midnight))
    return f"{overlap}, {end}.{left} {people}; {_open_seats(seats.held, lapsed)}."


def ending(to_go: int, lately: Lately, today: date) -> str:
    """The expected end of `to_go` judgements at the recent rate, in words."""
    if to_go <= 0:
        return "all possible judgements are done"
    forecast = estimate(to_go, lately, today=today)
    if forecast.day:
        return f"done {_when(forecast.day, today)} at this pace"
    return f"no end date yet: {forecast.why_not}"


def _when(then: date, today: date) -> str:
    """ "tomorrow", the weekday within a week, else the date."""
    if then <= today + timedelta(days=1):
        return "today" if then <= today else "tomorrow"
    return f"on {then:%A}" if then < today + WEEK else f"on {day(then, today)}"


def _overlap(round_: Round) -> str:
    if round_.judges < 2 or not round_.overlap_share:
        return "One person a pair"
    people = "two" if round_.judges == 2 else round_.judges
    return f"{percent(round_.overlap_share, 0)} of the pairs are for {people} people each"


def _seats(n: int) -> str:
    return f"{count(n)} {'judgement' if n == 1 else 'judgements'}"


def _people(n: int) -> str:
    return f"{count(n)} {'person' if n == 1 else 'people'} judged today" if n else "Nobody judged today"


def _open_seats(held: int, lapsed: int) -> str:
    if not held:
        return "nobody has pairs open"
    are = "is" if held == 1 else "are"
    if not lapsed:
        return f"{_seats(held)} {are} open, none has expired"
    them = "it" if lapsed == 1 else "them"
    return f"{_seats(held)} {are} open, {count(lapsed)} of them expired: others get {them} next"
