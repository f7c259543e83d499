"""The state of a project: triples by state, progress, agreement, flag rates, with charts."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import islice
from typing import NamedTuple

from django.utils import timezone
from django.utils.safestring import SafeString

from apps.accounts.models import Project
from apps.accounts.selectors import Member
from apps.agreement.actions import have_grades_read
from apps.agreement.core.attention import FAST_MS
from apps.agreement.presenters import estimate, short_names
from apps.agreement.selectors import agreement
from apps.agreement.selectors.breakdowns import overview_of
from apps.agreement.selectors.grade_cache import GradesNotRead
from apps.calibration.core.control_chart import limits
from apps.calibration.rules import person_refusal
from apps.calibration.selectors import rates
from apps.common.database.batched_reads import BatchedRead, CountOf
from apps.common.drawing import charts
from apps.common.drawing.charts import Period, control_chart
from apps.common.text.wording import count, day, percent
from apps.judging.core.eta import Lately
from apps.judging.core.eta import estimate as expected_end
from apps.judging.enums import RoundState
from apps.judging.models import Round
from apps.judging.selectors import board
from apps.judging.selectors.board import RoundAnswers, answers_in
from apps.judging.selectors.progress import Totals, seat_counts, stuck
from apps.metrics.agreement.results import Coefficient
from apps.metrics.statistics.proportions import wilson
from apps.review.enums import RateSide
from apps.review.selectors import tracking

STATE_FILLS = {
    "accepted": "part-accepted",
    "stale": "part-stale",
    "in_review": "part-review",
    "disputed": "part-disputed",
    "draft": "part-draft",
    "dropped": "part-dropped",
}
ALPHA, FLEISS = "α ordinal", "κ Fleiss"
WHO = {ALPHA: "All annotators", FLEISS: "Reviewers"}
Line = tuple[tuple[int, ...], str, Coefficient]
"""The people, the name of the coefficient, and its value."""
MOST_PAIRS_OF_PEOPLE = 4
WEEK = timedelta(days=7)
WEEKS = 12
LEAST_WEEKS = 3


@dataclass(frozen=True, slots=True)
class StateCount:
    state: str
    count: int


class States(NamedTuple):
    """Triples by state; `stale` ones are not in `accepted`, so that the parts add up to `total`."""

    total: int
    accepted: int
    counts: list[StateCount]
    bar: SafeString


def states_from(counts: dict[str, int]) -> States | None:
    """The triples of a project by state, from their counts; None when there is none. Withdrawn drafts do not count."""
    counts = dict(counts)
    counts.pop("withdrawn", None)
    counts["accepted"] -= counts["stale"]
    total = sum(counts.values())
    if not total:
        return None
    usual = [StateCount(state, counts[state]) for state in STATE_FILLS]
    others = [StateCount(state, number) for state, number in counts.items() if number and state not in STATE_FILLS]
    parts = [charts.BarPart(state.replace("_", " "), counts[state], fill) for state, fill in STATE_FILLS.items()]
    return States(total, counts["accepted"], usual + others, charts.parts_bar(f"{total:,} Q&As by state", parts))


class Judging(NamedTuple):
    """The progress of the newest round; `forecast` is a sentence, `answers` are its people's."""

    round: Round
    answers: RoundAnswers
    done: int
    planned: int
    forecast: str
    bar: SafeString


def seats_asked(round_: Round, at: datetime) -> BatchedRead[tuple[Totals, int]]:
    """The seats of a round, and how many leases have lapsed, for a page that asks other things with it."""
    seats, late = seat_counts(round_), board.lapsed(round_, at=at)
    return BatchedRead({**seats.asks, "lapsed": CountOf(late.values("pk"))}, lambda n: (seats.read(n), n["lapsed"]))


def progress_of(round_: Round, seats: Totals, lapsed: int, at: datetime) -> Judging:
    name = f"{seats.done:,} of {seats.planned:,} judgements of {round_} are given"
    answers = answers_in(round_, at=at, fast_ms=FAST_MS)
    words = forecast(round_, seats, lapsed, answers, at=at)
    return Judging(round_, answers, seats.done, seats.planned, words, charts.meter(name, seats.done, seats.planned))


def forecast(round_: Round, seats: Totals, lapsed: int, answers: RoundAnswers, *, at: datetime) -> str:
    """The line of an open round, or the closing date of a closed one. `lapsed` counts leases that have expired."""
    overlap = _overlap(round_)
    today = timezone.localdate(at)
    if round_.state == RoundState.CLOSED:
        closed = f"closed on {day(timezone.localdate(round_.closed_at), today)}" if round_.closed_at else "closed"
        return f"{overlap}, {closed}."
    nobodys = stuck(round_)
    end = ending(seats.to_go - nobodys, answers.lately, today)
    left = f" {_seats(nobodys)} that nobody can give." if nobodys else ""
    midnight = timezone.localtime(at).replace(hour=0, minute=0, second=0, microsecond=0)
    people = _people(answers.judged_since(midnight))
    return f"{overlap}, {end}.{left} {people}; {_open_seats(seats.held, lapsed)}."


def ending(to_go: int, lately: Lately, today: date) -> str:
    """The expected end of `to_go` judgements at the recent rate, in words."""
    if to_go <= 0:
        return "all possible judgements are done"
    expected = expected_end(to_go, lately, today=today)
    if expected.day:
        return f"done {_when(expected.day, today)} at this pace"
    return f"no end date yet: {expected.why_not}"


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


class ProgressChart(NamedTuple):
    drawing: SafeString
    figures: SafeString


def chart_of(member: Member, rows: list[Line]) -> ProgressChart | None:
    """The chart of these coefficients; None while nothing is counted in any."""
    if not any(coefficient.n for _, _, coefficient in rows):
        return None
    names = agreement.names_for(member, {pk for people, _, _ in rows for pk in people})
    short = short_names({pk: name.removeprefix("Person ") for pk, name in names.items()})
    shown = []
    for people, measure, coefficient in rows:
        label = " and ".join(short[pk] for pk in people) if people else WHO[measure]
        shown.append(estimate(charts.clip(label, 20), measure, coefficient, strong=not people))
    drawing = charts.estimates("Agreement with 95 % intervals", shown)
    return ProgressChart(charts.plot(drawing, caption=charts.undefined_note(shown)), charts.estimate_figures(shown))


def coefficients(member: Member, rounds: Sequence[Round]) -> list[Line]:
    """Agreement of everybody, of the pairs of people with most shared items, and of reviewers, in these rounds.

    The reviewers' alone while a job computes the others.
    """
    project = member.project
    have_grades_read(project=project, rounds=rounds, actor=member.user, at=timezone.now())
    reviewers: Line = ((), FLEISS, agreement.verdict_agreement(project).kappa)
    try:
        grades = overview_of(project, rounds)
    except GradesNotRead:
        return [reviewers]
    pairs_with_alpha = zip(grades.pairs, grades.pair_alphas, strict=True)
    pairs = [
        ((pair.first, pair.second), ALPHA, alpha) for pair, alpha in islice(pairs_with_alpha, MOST_PAIRS_OF_PEOPLE)
    ]
    return [((), ALPHA, grades.alpha), *pairs, reviewers]


class AuthorRate(NamedTuple):
    """Flags on the first revisions of one author."""

    name: str
    flags: int
    reviews: int
    rate: float
    interval: tuple[float, float] | None
    is_calibrating: bool


class FlagRates(NamedTuple):
    authors: list[AuthorRate]
    weeks: ProgressChart | None


def flag_rates(member: Member) -> FlagRates | None:
    """First-round flag rates by author and by week; None before the first closed round. Members see their own only."""
    author_rates = rates.side_rates(member.project, RateSide.AUTHOR)
    if not author_rates.everybody.n:
        return None
    shown = [row for row in author_rates.people if person_refusal(member, row.person) is None]
    names = agreement.names_for(member, [row.person for row in shown])
    authors = []
    for row in shown:
        flags = row.people.hits + row.machine.hits
        interval = wilson(flags, row.n)
        authors.append(AuthorRate(names[row.person], flags, row.n, flags / row.n, interval, row.is_calibrating))
    return FlagRates(sorted(authors), _by_week(member.project))


def _by_week(project: Project) -> ProgressChart | None:
    """The control chart of the last weeks; None when there are too few."""
    weeks: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0])
    for when, flags, n in rates.cached(project, "days", lambda: tracking.flags_by_day(project)):
        year, week, _ = date.fromisoformat(when).isocalendar()
        weeks[year, week][0] += flags
        weeks[year, week][1] += n
    if len(weeks) < LEAST_WEEKS:
        return None
    mean = sum(flags for flags, _ in weeks.values()) / sum(n for _, n in weeks.values())
    periods = [
        Period(str(week), flags, n, limits(mean, n)[1]) for (_, week), (flags, n) in sorted(weeks.items())[-WEEKS:]
    ]
    outside = ", ".join(period.label for period in periods if period.is_outside)
    words = f"outside: week {outside}" if outside else "no week is outside"
    chart = control_chart(f"Flag rate by week with control limits; {words}", periods, mean)
    figures = charts.figures(
        ["Week", "Reviewed", "Flagged", "Rate", "Limit"],
        [[p.label, p.n, p.hits, f"{p.hits / p.n * 100:.1f} %", f"{(p.limit or 0) * 100:.1f} %"] for p in periods],
    )
    return ProgressChart(charts.plot(chart), figures)
