"""Sections of the page “My work”, rows oldest first and a page at a time, and the guideline for reviewers."""

from collections.abc import Callable
from datetime import datetime
from operator import attrgetter
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.utils.safestring import SafeString, mark_safe

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import Member, policy
from apps.common.text.markdown import to_html
from apps.review.selectors import queues
from apps.review.selectors.candidate_blocks import to_answer, to_decide
from apps.review.selectors.queues import page
from apps.triples.models import Triple

DEFAULT = """\
Read the question first, then the passage, then the answer. Decide on these three, in this order.

**1. Would somebody ask this?** In these words, without having read the passage. A question that quotes the text, or \
asks what nobody needs to know, is *unrealistic*.

**2. Is it the right passage?** The marked evidence alone must answer. If it only touches the subject, or another \
passage says it better, it is the *wrong passage*. Where several passages are expected, check which of them are needed.

**3. Does the passage say the answer?** Check every figure, name and condition against the evidence.

- It claims something that is not there: *not entailed*.
- It is more certain, wider or more exact than the passage: *overstated*.
- It leaves out a condition that changes what somebody would do: *understated*.

Confirm only if all three hold. If one does not, flag it: say what is wrong and how to fix it. \
What you know from elsewhere does not count; the passage does. If you are not sure, flag it and say why: talking costs \
less than a wrong answer in the set.
"""


def guideline_html(project: Project) -> SafeString:
    """The guideline for reviewers. Safe because `to_html` lets only the tags of a text through."""
    return mark_safe(to_html(policy(project, "review_guideline").strip() or DEFAULT))


SHOWN = 10
SHOWN_ALONE = 50


class WaitingTriple(NamedTuple):
    """One open triple. `url_name` is the page to act on it, `target` the id that the page is about."""

    triple: Triple
    question: str
    round: int
    since: datetime
    url_name: str
    is_escalated: bool
    target: int


class WorkSection(NamedTuple):
    """`more` is the place of its next page, "" when all of it is shown. `since` is what the times of its rows are."""

    name: str
    title: str
    note: str
    since: str
    rows: list[WaitingTriple]
    more: str
    has_authors: bool


class SectionKind(NamedTuple):
    """The rows of a section for a person in a project, the column of times that orders them, and the page of a row.

    `triple` leads from a row to its triple, "" where the row is one. `waits`: until author and flagger had their days.
    """

    name: str
    rows: Callable[[User, Project], QuerySet]
    column: str
    url_name: str
    role: str = ""
    triple: str = ""
    has_authors: bool = False
    escalates: bool = True
    waits: bool = False


OF_SEAT, OF_PASSAGE = "revision.triple", "triple"
KINDS = (
    SectionKind("review", queues.review_queue, "opened_at", "review:screen", Role.REVIEWER, OF_SEAT),
    SectionKind("passages", to_answer, "proposed_at", "review:candidate", Role.REVIEWER, OF_PASSAGE, escalates=False),
    SectionKind("answer", queues.disputes_to_answer, "changed_at", "review:triple", has_authors=True),
    SectionKind("drafts", queues.drafts_of, "changed_at", "triples:edit"),
    SectionKind("revisions", queues.revisions_of, "begun_at", "triples:edit"),
    SectionKind("stale", queues.stale_of, "changed_at", "review:stale-triple"),
    SectionKind(
        "adjudicate", queues.to_adjudicate, "changed_at", "review:triple", Role.LEAD, has_authors=True, waits=True
    ),
    SectionKind("differing", to_decide, "proposed_at", "review:candidate", Role.LEAD, OF_PASSAGE, escalates=False),
    SectionKind("waiting", queues.disputes_of_others, "changed_at", "review:triple", has_authors=True),
    SectionKind(
        "answered", queues.answered_seats, "answered_at", "review:screen", Role.REVIEWER, OF_SEAT, escalates=False
    ),
    SectionKind("dropped", queues.dropped_of, "changed_at", "review:triple", escalates=False),
)
WORDS = {
    "review": ("To review", "verdicts are hidden until both are in", "Waiting"),
    "passages": ("Passages to check", "is each one right as well? Answers are hidden until both are in", "Waiting"),
    "answer": ("To answer", "disputes where it is your turn", "Open"),
    "drafts": ("Drafts to finish", "only you see them until you submit", "Saved"),
    "revisions": ("Revisions you began", "the next round opens when you submit", "Begun"),
    "stale": ("Yours that went stale", "their passage changed; one with its evidence is pinned by a key", "Stale"),
    "adjudicate": ("Disputes to decide", "you are not involved in them", "Open"),
    "differing": ("Passages you can decide", "two reviewers differ, and you are not involved", "Proposed"),
    "waiting": (
        "Disputes with the others",
        "you wrote, flagged or confirmed it, and it is somebody else’s turn",
        "Open",
    ),
    "answered": ("Answered, round still open", "you can change your mind until it closes", "Answered"),
    "dropped": ("Dropped, you can reopen them", "each can start again as a new draft", "Dropped"),
}
"""The title of each section, a note beside it, and the heading of its times."""


def sections_of(member: Member, at: datetime, *, alone: str = "", after: str = "") -> list[WorkSection]:
    """The sections that are not empty. `alone` names one to continue after the place `after`."""
    kinds = [kind for kind in KINDS if not kind.role or kind.role in member.roles]
    if alone in {kind.name for kind in kinds}:
        return [_section(kind, member, at, after, SHOWN_ALONE) for kind in kinds if kind.name == alone]
    sections = [_section(kind, member, at, "", SHOWN) for kind in kinds]
    return [section for section in sections if section.rows]


def _section(kind: SectionKind, member: Member, at: datetime, after: str, limit: int) -> WorkSection:
    waiting = kind.rows(member.user, member.project)
    if kind.waits:
        waiting = waiting.filter(changed_at__lte=queues.reaches_leads_at(member.project, at))
    read, late = page(waiting, kind.column, after, limit), queues.escalates_at(member.project, at)
    rows = [_row(kind, row, late) for row in read.rows]
    return WorkSection(kind.name, *WORDS[kind.name], rows, read.next, kind.has_authors)


def _row(kind: SectionKind, row: Any, late: datetime) -> WaitingTriple:
    triple = attrgetter(kind.triple)(row) if kind.triple else row
    revision = row.revision if kind.triple else triple.revision
    since = getattr(row, kind.column)
    return WaitingTriple(
        triple=triple,
        question=revision.question,
        round=triple.round,
        since=since,
        url_name=kind.url_name,
        is_escalated=kind.escalates and since <= late,
        target=row.pk if kind.triple == OF_PASSAGE else triple.pk,
    )
