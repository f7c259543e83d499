"""Undoing an import of grades: they stay on record and count nowhere, while nothing rests on them.

A judgement, a seat and a round are never deleted: the round is withdrawn.
"""

from datetime import datetime

from django.db.models import QuerySet

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.corpus.execution.import_reading import ImportRefused
from apps.corpus.models import Import
from apps.judging.actions.locks import locked_round
from apps.judging.enums import RoundKind
from apps.judging.models import Round
from apps.judging.selectors.propagation import rests_on
from apps.queries.execution import ingest


def rounds_of(item: Import) -> QuerySet[Round]:
    """The rounds of an applied import, which gave them its own time and person: one, or of a collection one for each
    split; none where it only added queries."""
    assert item.applied_at is not None
    return Round.objects.filter(
        project=item.project, kind=RoundKind.IMPORTED, created_by=item.applied_by, created_at=item.applied_at
    )


def undo_refusal(item: Import) -> str | None:
    """Why the grades of an applied import cannot be withdrawn."""
    rounds = list(rounds_of(item).select_related("pool__snapshot").order_by("number"))
    if not rounds:
        return ingest.undo_refusal(item)
    return next((reason for round_ in rounds if (reason := rests_on(round_))), None)


def withdraw(item: Import, *, actor: User, at: datetime) -> None:
    """Withdraw the rounds of an import; one that only added queries has these removed. Raises ImportRefused.

    Whoever plans a round or carries grades over has the lock of the project, whoever drafts a version or decides a pair
    that of the round.
    """
    Project.objects.select_for_update(no_key=True).get(pk=item.project_id)
    found = list(rounds_of(item).order_by("number").values_list("pk", flat=True))
    if not found:
        ingest.remove_added(item)
        return
    rounds = [locked_round(pk) for pk in found]
    if reason := undo_refusal(item):
        raise ImportRefused(reason, code="import_not_undone")
    for round_ in rounds:
        round_.withdrawn_at = at
        round_.save(update_fields=["withdrawn_at"])
        after = {"judgements": round_.judgements.count(), "origin": round_.origin}
        record(project=item.project, actor=actor, action="judgements.withdrawn", obj=round_, after=after, at=at)
