"""Who needs a lead: each annotator's share, pace and agreement, with what is unusual about them; and who reviews."""

from collections.abc import Sequence
from typing import NamedTuple

from apps.accounts.selectors import Member
from apps.agreement.core.attention import Mark, Pace, Word, marks_of
from apps.agreement.selectors.grade_cache import GradesNotRead
from apps.agreement.selectors.people import Closeness, closeness_of
from apps.dashboard.edges.paths import path
from apps.dashboard.pages.progress import Judging
from apps.judging.enums import RoundState
from apps.judging.models import Round
from apps.judging.selectors.workload import Workload, workloads
from apps.metrics.estimate import Estimate
from apps.review.selectors.board import ReviewerLoad, reviewer_loads

MOST_PEOPLE = 12
WORDS = tuple(Word)
NOBODY = Estimate.of(None, None, 0, reason="Nobody else graded these pairs.")


class PersonRow(NamedTuple):
    """One annotator of the newest round. `alpha` is their agreement with the others, as tables show it."""

    work: Workload
    url: str
    alpha: Estimate
    marks: list[Mark]


class PeopleRows(NamedTuple):
    """The annotators who need a lead first. `shared` is the range of pairs that agreement rests on, in words.

    `is_over`: nothing of the round is left to judge, so that no share is still to be done.
    """

    round: Round
    rows: list[PersonRow]
    more: int
    shared: str
    is_over: bool


def who_needs_me(member: Member, judging: Judging | None, rounds: Sequence[Round]) -> PeopleRows | None:
    """The annotators of the newest round as this lead may see them; None without a round.

    Agreement is over `rounds`, which the lead may see: one who still grades in a round learns nothing of it.
    """
    if judging is None:
        return None
    round_ = judging.round
    works = workloads(round_, judging.paces)
    closeness = _closeness(member, rounds, works)
    rows = [_row(member, work, works, closeness.get(work.person.pk), round_) for work in works]
    rows.sort(key=lambda row: WORDS.index(row.marks[0].word) if row.marks else len(WORDS))
    shown = rows[:MOST_PEOPLE]
    is_over = round_.state == RoundState.CLOSED or 0 < judging.planned <= judging.done
    return PeopleRows(round_, shown, len(rows) - len(shown), _shared(shown), is_over)


def who_reviews(member: Member) -> list[tuple[ReviewerLoad, str]]:
    """The people with most open reviews, each with the address of what they have open."""
    board = path("review:board", member.project)
    loads = reviewer_loads(member.project, member.user, MOST_PEOPLE)
    return [(load, f"{board}?reviewer={load.person}") for load in loads]


def _closeness(member: Member, rounds: Sequence[Round], works: list[Workload]) -> dict[int, Closeness]:
    try:
        return closeness_of(member.project, rounds, [work.person.pk for work in works])
    except GradesNotRead:
        return {}


def _row(
    member: Member, work: Workload, works: list[Workload], closeness: Closeness | None, round_: Round
) -> PersonRow:
    others = [other.mean_ms for other in works if other is not work and other.mean_ms]
    pace = Pace(work.done, work.share, work.timed, work.mean_ms, work.fast, work.lately, work.days)
    lean = closeness.lean if closeness else NOBODY
    marks = marks_of(pace, others, lean, is_open=round_.state == RoundState.OPEN)
    url = path("agreement:person", member.project, person=work.person.pk)
    return PersonRow(work, url, closeness.alpha.informative if closeness else NOBODY, marks)


def _shared(rows: list[PersonRow]) -> str:
    counts = sorted(row.alpha.n for row in rows if row.alpha.n)
    if not counts:
        return ""
    least, most = counts[0], counts[-1]
    return f"agreement on {least:,} pairs each" if least == most else f"agreement on {least:,} to {most:,} pairs each"
