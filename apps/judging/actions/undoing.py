"""Undoing an import of grades: they stay on record and count nowhere, while nothing rests on them.

A judgement, a seat and a round are never deleted: the round is withdrawn.
"""

from datetime import datetime

from django.db.models import QuerySet

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.corpus.execution.import_steps import ImportRefused
from apps.corpus.models import Import
from apps.judging.actions.locks import locked_round
from apps.judging.enums import RoundKind
from apps.judging.models import Round
from apps.judging.selectors.resting import rests_on
from apps.queries.execution import undoing as of_queries


def rounds_of(item: Import) -> QuerySet[Round]:
    """The round of an applied import, which gave it its own time and person; none where it only added queries."""
    assert item.applied_at is not None
    return Round.objects.filter(
        project=item.project, kind=RoundKind.IMPORTED, created_by=item.applied_by, created_at=item.applied_at
    )


def undo_refusal(item: Import) -> str | None:
    """Why the grades of an applied import cannot be withdrawn."""
    round_ = rounds_of(item).select_related("pool__snapshot").first()
    return rests_on(round_) if round_ else of_queries.undo_refusal(item)


def withdraw(item: Import, *, actor: User, at: datetime) -> None:
    """Withdraw the round of an import; one that only added queries has these removed. Raises ImportRefused.

    Whoever plans a round or carries grades over has the lock of the project, whoever drafts a version or decides a pair
    that of the round.
    """
    Project.objects.select_for_update(no_key=True).get(pk=item.project_id)
    found = rounds_of(item).first()
    if found is None:
        of_queries.remove_added(item)
        return
    round_ = locked_round(found.pk)
    if reason := undo_refusal(item):
        raise ImportRefused(reason, code="import_not_undone")
    round_.withdrawn_at = at
    round_.save(update_fields=["withdrawn_at"])
    after = {"judgements": round_.judgements.count(), "origin": round_.origin}
    record(project=item.project, actor=actor, action="judgements.withdrawn", obj=round_, after=after, at=at)
