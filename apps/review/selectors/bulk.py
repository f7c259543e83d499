"""Bulk steps of leads: what is selected, which steps are under way or just done, and what an undo still gives back."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.shortcuts import get_object_or_404

from apps.accounts.models import Project, User
from apps.common.database.batched_reads import CountOf
from apps.common.digests import digest_of
from apps.jobs.enums import JobState
from apps.review.enums import BulkKind, ItemState
from apps.review.models import BulkItem, BulkStep, ReviewSeat
from apps.review.selectors.board import BoardFilters, matching, parted
from apps.triples.enums import State
from apps.triples.models import Triple

MOST_SELECTED = 5_000
SHOWN_FOR = timedelta(days=1)
MOST_SHOWN = 3
SENT_TO_REVIEW = (BulkKind.RE_PIN, BulkKind.SUBMIT)
UNDOABLE = [kind for kind in BulkKind if kind is not BulkKind.CHECK]
"""The kinds that can be undone: checking changes nothing."""


class Selection(NamedTuple):
    """The triples that a lead selected: those of `ids`, or all that `filters` match. Only what the board may show."""

    filters: BoardFilters = BoardFilters()
    ids: Sequence[int] | None = None

    def triples(self, project: Project, lead: User, at: datetime) -> list[Triple]:
        """By their keys; one more than may be selected at most."""
        rows = matching(project, lead, self.filters, at)
        if self.ids is not None:
            every = BoardFilters()
            shown = matching(project, lead, every, at) | matching(project, lead, BoardFilters(state="accepted"), at)
            rows = shown.filter(pk__in=self.ids)
        # What many share is read once; wordings are not asked for.
        lean = rows.select_related("current").prefetch_related("author", "snapshot", "query")
        lean = lean.defer(*(f"current__{name}" for name in ("question", "answer", "note", "warnings")))
        triples = list(lean.order_by("pk")[: MOST_SELECTED + 1])
        for triple in triples:
            triple.project = project
        return triples


def digest_of_step(kind: BulkKind, values: Mapping[str, Any], triples: Iterable[Triple]) -> str:
    """What a lead has seen: it is another one when a triple has come, gone or moved, or when something else is told.

    The reason for all of them changes nothing of what is shown.
    """
    rows = [[each.pk, each.state, each.is_stale, each.current_id, each.edit_version] for each in triples]
    told = {name: value for name, value in values.items() if name != "reason"}
    return digest_of([kind.value, told, rows])


# Steps -------------------------------------------------------------------------------------------------------------


def steps_in(project: Project) -> QuerySet[BulkStep]:
    return BulkStep.objects.filter(project=project).select_related("begun_by", "job", "undo_job", "project")


def step_in(project: Project, pk: int) -> BulkStep:
    """The step, when it belongs to this project; Http404 otherwise."""
    return get_object_or_404(steps_in(project), pk=pk)


IS_OPEN = Q(job__state__in=[JobState.QUEUED, JobState.RUNNING]) | Q(
    undo_job__state__in=[JobState.QUEUED, JobState.RUNNING]
)


def untouched(lead: User) -> Q:
    """Done items that nobody has touched since, as far as this lead may know: the condition of what an undo gives back.

    Whether a reviewer has answered is hidden from a lead with a part in the triple, so it is asked only of those that
    the lead assigned; an undo looks at the others once more.
    """
    moved = Q(triple__changed_at=F("done_at"))
    opened = ReviewSeat.objects.filter(revision=OuterRef("triple__current"), opened_at=OuterRef("done_at"))
    gone = opened.exclude(released_at=None, answered_at=None)
    own = Triple.objects.filter(parted(lead)).values("pk")
    return Q(state=ItemState.DONE) & (
        Q(step__kind=BulkKind.DESCRIBE, triple__edit_version=F("edit_version"))
        | (Q(step__kind=BulkKind.RETIRE, triple__state=State.RETIRED) & moved)
        | (Q(step__kind__in=SENT_TO_REVIEW, triple__state=State.IN_REVIEW) & moved)
        | (
            Q(step__kind=BulkKind.ASSIGN, triple__state=State.IN_REVIEW)
            & Q(Exists(opened))
            & ~Q(Exists(gone))
            & ~Q(triple__in=own)
        )
    )


class StepView(NamedTuple):
    """A bulk step as a lead sees it: how far it is, what was left out and why, and how many an undo gives back."""

    step: BulkStep
    done: int
    left: int
    undone: int
    undoable: int
    is_own: bool

    @property
    def job(self) -> Any:
        return self.step.undo_job or self.step.job

    @property
    def is_running(self) -> bool:
        return not self.job.is_ended

    @property
    def has_reasons(self) -> bool:
        """Whether some were left out, or kept by an undo."""
        return self.left > 0 or (self.step.undo_job is not None and self.done > 0)

    @property
    def touched(self) -> int:
        """How many were done and stay so, since somebody has acted on them."""
        return self.done - self.undoable


def counted(steps: QuerySet[BulkStep], lead: User) -> list[StepView]:
    """These steps with their counts, in one statement."""
    at_rest = Q(job__state__in=[JobState.DONE, JobState.FAILED, JobState.CANCELLED], undo_job=None, begun_by=lead)
    open_to_undo = BulkItem.objects.filter(untouched(lead), step=OuterRef("pk")).order_by().values("pk")
    states = {state: Count("items", filter=Q(items__state=state)) for state in ItemState}
    rows = steps.annotate(
        n_done=states[ItemState.DONE], n_kept=states[ItemState.KEPT], n_left=states[ItemState.LEFT],
        n_undone=states[ItemState.UNDONE], n_open=CountOf(open_to_undo), is_at_rest=Q(at_rest),
    )  # fmt: skip
    return [
        StepView(
            step=row,
            done=row.n_done + row.n_kept,
            left=row.n_left,
            undone=row.n_undone,
            undoable=row.n_open if row.is_at_rest else 0,
            is_own=row.begun_by_id == lead.pk,
        )
        for row in rows
    ]


def recent_steps(project: Project, lead: User, at: datetime) -> list[StepView]:
    """What the board says above its filters: everything that runs, and what this lead has done in the last day."""
    own = Q(begun_by=lead, begun_at__gte=at - SHOWN_FOR)
    return counted(steps_in(project).filter(IS_OPEN | own).order_by("-begun_at", "-pk")[:MOST_SHOWN], lead)


class LeftOut(NamedTuple):
    """Triples that a step was not done to, or not undone, for the same reason."""

    reason: str
    labels: list[str]

    @property
    def number(self) -> int:
        return len(self.labels)


def left_out(step: BulkStep) -> list[LeftOut]:
    """By reason, most frequent first."""
    found: dict[str, list[str]] = {}
    items = step.items.filter(state__in=[ItemState.LEFT, ItemState.KEPT]).select_related("triple")
    for item in items.order_by("triple__number"):
        found.setdefault(item.reason, []).append(item.triple.label)
    return sorted((LeftOut(*row) for row in found.items()), key=lambda left: -left.number)
