"""The tasks of one person in a project: rows with a key, a count and an age."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

from django.db.models import Subquery

from apps.accounts.selectors import Member
from apps.calibration.models import Calibration
from apps.calibration.rules import PARTICIPANTS
from apps.calibration.selectors.calibrations import unanswered_items
from apps.common.database.batched_reads import BatchedRead, CountOf, joined
from apps.common.text.wording import age, day
from apps.dashboard.pages.paths import path
from apps.goldsets.selectors.versions import versions_due
from apps.jobs.enums import JobState
from apps.jobs.models import Job
from apps.judging.selectors.pending_work import JudgingWork, what_waits_for
from apps.queries.models import Permission
from apps.review.selectors import queues as review

FAILED_JOBS_SHOWN = timedelta(days=7)
JUST_NOW = timedelta(minutes=1)
PERMISSION_WARNING = timedelta(days=30)

GRADE_KEY = "g"
ORDER = "xlatzo3ebmfs1dgrivwcp64hyq"
"""The keys of the rows of Home: gate, score, decisions, rounds, grades, jobs, stale Q&As; own work; what
waits for others; goal; queries.
"""
VERBS = {
    "i": "Check",
    "z": "Decide",
    "r": "Review",
    "d": "Answer",
    "w": "Write on",
    "v": "Revise",
    "t": "Decide",
    "s": "Read",
}

# The tasks that review reports, as this page shows them: key, title, and the line below.
REVIEW_ROWS = {
    "triples to review": ("r", "Review Q&As", "question, passage and answer; others do not see your verdict yet"),
    "passages to check": ("i", "Passages to check", "is this passage right for the question as well?"),
    "passages to decide": ("z", "Passages to decide", "two reviewers differ on whether a passage is right as well"),
    "disputes to answer": ("d", "Disputes to answer", "it is your turn"),
    "drafts to finish": ("w", "Your drafts", "Q&As you began and have not submitted"),
    "revisions to finish": ("v", "Your revisions", "the next review starts when you submit them"),
    "disputes to adjudicate": ("t", "Disputes to decide", "a lead who is not involved decides"),
    "stale triples": ("s", "Stale Q&As", "their passage has changed in a newer snapshot"),
}


@dataclass(frozen=True, slots=True)
class Task:
    """One task. `key` is the keyboard key that opens it, `verb` the words of its button; `is_bad` marks a failure."""

    key: str
    title: str
    small: str
    count: int
    when: str
    url: str
    verb: str = "Open"
    is_bad: bool = False


def open_tasks(member: Member, at: datetime) -> BatchedRead[list[Task]]:
    """The open tasks of this person, most pressing first."""
    parts = [_judging(member, at), _review(member, at), _calibrations(member, at)]
    if member.is_lead:
        parts += [_permissions(member, at), _failed_jobs(member, at), _due(member, at)]
    whole = joined(dict(enumerate(parts)))
    return BatchedRead(whole.asks, lambda found: in_order(chain.from_iterable(whole.read(found).values())))


def in_order(items: Iterable[Task]) -> list[Task]:
    """By what they block: a gate and a score first, then decisions, rounds and grades, then one's own work."""
    return sorted(items, key=lambda item: ORDER.index(item.key))


def grade_url(items: Iterable[Task]) -> str:
    """Where this person grades their pairs, or helps with those of others; "" when none waits."""
    return next((item.url for item in items if item.key == GRADE_KEY), "")


def _oldest(since: datetime | None, at: datetime) -> str:
    if since is None:
        return ""
    return "just now" if at - since < JUST_NOW else f"oldest {age(since, at)}"


def _judging(member: Member, at: datetime) -> BatchedRead[list[Task]]:
    waits = what_waits_for(member.user, member.project, member.roles)
    return BatchedRead(waits.asks, lambda found: _judging_tasks(member, waits.read(found), at))


def _judging_tasks(member: Member, waits: JudgingWork, at: datetime) -> list[Task]:
    items = []
    if waits.to_adjudicate and waits.adjudicate_round:
        items.append(
            Task(
                "a",
                "Grades to decide",
                "people disagree; decide the grade, lowest agreement first",
                waits.to_adjudicate,
                _oldest(waits.adjudicate_since, at),
                path("adjudicate", member.project, pk=waits.adjudicate_round.pk),
                "Decide",
            )
        )
    if waits.to_grade and waits.grade_round:
        items.append(
            Task(
                GRADE_KEY,
                "Grade pairs",
                f"{waits.grade_round}, one pair a screen",
                waits.to_grade,
                "",
                path("grade", member.project, pk=waits.grade_round.pk),
                "Grade",
            )
        )
    elif waits.help_round:
        small = f"your share of {waits.help_round} is done; others have not judged these yet"
        url = path("grade", member.project, pk=waits.help_round.pk)
        items.append(Task(GRADE_KEY, "Help others grade", small, waits.to_help, "", url, "Help"))
    if waits.to_reconcile and waits.reconcile_round:
        url = path("judging:differences", member.project, pk=waits.reconcile_round.pk)
        small = "you and another judge differ; look at both grades, keep yours or change it"
        items.append(Task("3", "Differences to settle", small, waits.to_reconcile, "", url, "Settle"))
    if waits.full_round:
        url = path("judging:round", member.project, pk=waits.full_round.pk)
        small = "all grades are in; close it to fix them"
        items.append(Task("e", f"Close {waits.full_round}", small, 1, "", url, "Close"))
    if waits.settling_round:
        url = path("judging:round", member.project, pk=waits.settling_round.pk)
        small = "all grades are in, and its judges settle these first; see whose answers are missing"
        items.append(Task("4", f"Differences in {waits.settling_round}", small, waits.settling, "", url, "See whose"))
    if waits.left and waits.left_round:
        url = path("adjudicate", member.project, pk=waits.left_round.pk)
        small = "you judged these pairs, so a lead who did not judge them decides"
        items.append(Task("o", "Grades for another lead", small, waits.left, "", url))
    return items


def _review(member: Member, at: datetime) -> BatchedRead[list[Task]]:
    waits = review.what_waits_for(member.user, member.project, member.roles, at)
    return BatchedRead(waits.asks, lambda found: [_review_task(member, wait, at) for wait in waits.read(found)])


def _review_task(member: Member, wait: review.QueuedWork, at: datetime) -> Task:
    key, title, small = REVIEW_ROWS[wait.word]
    url = path(wait.url_name, member.project)
    return Task(key, title, small, wait.count, _oldest(wait.since, at), url, VERBS[key])


def _calibrations(member: Member, at: datetime) -> BatchedRead[list[Task]]:
    if not member.holds(*PARTICIPANTS):
        return BatchedRead({}, lambda found: [])
    items = unanswered_items(member.user, member.project)
    asks: dict[str, Subquery] = {"n": CountOf(items.order_by().values("pk"))}
    for name in ("number", "calibration__number", "calibration__opened_at"):
        asks[name] = Subquery(items.values(name)[:1])

    def read(found: Mapping[str, Any]) -> list[Task]:
        if not found["n"]:
            return []
        first = Calibration(number=found["calibration__number"])
        url = path("calibration:item", member.project, number=first.number, place=found["number"])
        since = _oldest(found["calibration__opened_at"], at)
        return [
            Task("c", f"Calibrate, {first}", "review past Q&As again, blind", found["n"], since, url, "Review again")
        ]

    return BatchedRead(asks, read)


def _permissions(member: Member, at: datetime) -> BatchedRead[list[Task]]:
    ending = Permission.objects.filter(
        source__project=member.project, revoked_at=None, expires_at__gt=at, expires_at__lte=at + PERMISSION_WARNING
    )
    asks = {
        "n": CountOf(ending.values("pk")),
        "first": Subquery(ending.order_by("expires_at").values("expires_at")[:1]),
    }

    def read(found: Mapping[str, Any]) -> list[Task]:
        if not found["n"]:
            return []
        first = found["first"]
        small = f"the first on {day(first.date(), at.date())}; later exports leave out what depends on it"
        url = path("sources", member.project)
        return [Task("p", "Permissions about to expire", small, found["n"], f"in {age(first, at)}", url)]

    return BatchedRead(asks, read)


def _due(member: Member, at: datetime) -> BatchedRead[list[Task]]:
    due = versions_due(member.project, at)
    if due.query.is_empty():
        return BatchedRead({}, lambda found: [])
    asks = {
        "n": CountOf(due.order_by().values("pk")),
        "name": Subquery(due.values("gold_set__name")[:1]),
        "first": Subquery(due.values("released_at")[:1]),
    }

    def read(found: Mapping[str, Any]) -> list[Task]:
        if not found["n"]:
            return []
        small = f"{found['name']} first: add new queries, freeze the texts of today, then cut the next version"
        when = f"released {age(found['first'], at)} ago"
        return [Task("6", "Gold sets due for a refresh", small, found["n"], when, path("versions", member.project))]

    return BatchedRead(asks, read)


def _failed_jobs(member: Member, at: datetime) -> BatchedRead[list[Task]]:
    failed = Job.objects.filter(project=member.project, state=JobState.FAILED, finished_at__gt=at - FAILED_JOBS_SHOWN)
    last = failed.order_by("-finished_at").values("finished_at")[:1]

    def read(found: Mapping[str, Any]) -> list[Task]:
        if not found["n"]:
            return []
        when, url = f"last {age(found['last'], at)} ago", path("jobs", member.project)
        return [Task("f", "Failed jobs", "see the reason and retry", found["n"], when, url)]

    return BatchedRead({"n": CountOf(failed.order_by().values("pk")), "last": Subquery(last)}, read)
