"""Reads of machine-written candidates: separate from drafts and queues until a person adopts one."""

from typing import NamedTuple

from django.db.models import QuerySet
from django.http import Http404

from apps.accounts.models import Project
from apps.triples.models import CANDIDATE, Triple

PER_PAGE = 50


def candidates_of(project: Project) -> QuerySet[Triple]:
    """The candidates of a project by number, each with its wording and its origin."""
    return (
        Triple.objects.filter(CANDIDATE, project=project)
        .select_related("project", "current", "source", "imported__imported_by")
        .order_by("number")
    )


def candidate_in(project: Project, pk: int) -> Triple:
    """The candidate, or one that was rejected, or Http404: an adopted one has its page among the triples."""
    triples = Triple.objects.filter(project=project, pk=pk, is_machine_written=True, adopted_by=None)
    triple = triples.select_related(
        "project", "current", "snapshot", "source", "query", "imported__imported_by", "rejection__rejected_by"
    ).first()
    if triple is None:
        raise Http404("No such candidate.")
    return triple


class CandidatePage(NamedTuple):
    """One page of candidates. `after` and `before` are the numbers of the next and the previous page."""

    rows: list[Triple]
    after: int | None
    before: int | None


def page_of(project: Project, *, after: int = 0, before: int = 0) -> CandidatePage:
    """The page after number `after`, or the one before number `before`."""
    candidates = candidates_of(project)
    if before:
        rows = list(candidates.filter(number__lt=before).order_by("-number")[: PER_PAGE + 1])
        more, rows = len(rows) > PER_PAGE, rows[:PER_PAGE][::-1]
        return CandidatePage(rows, rows[-1].number if rows else None, rows[0].number if more else None)
    rows = list(candidates.filter(number__gt=after)[: PER_PAGE + 1])
    more, rows = len(rows) > PER_PAGE, rows[:PER_PAGE]
    return CandidatePage(rows, rows[-1].number if more else None, rows[0].number if rows and after else None)


def next_candidate(project: Project, number: int) -> Triple | None:
    """The candidate after this number, or the first of all; None when none is left."""
    candidates = Triple.objects.filter(CANDIDATE, project=project).exclude(number=number).order_by("number")
    return candidates.filter(number__gt=number).first() or candidates.first()
