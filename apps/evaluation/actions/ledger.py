"""Write a run's entry in the ledger."""

from datetime import datetime
from decimal import Decimal

from django.db import transaction

from apps.accounts.models import User
from apps.audit.actions import record
from apps.common.errors import Refusal
from apps.evaluation.execution.listeners import follow_cost
from apps.evaluation.models import RunNote
from apps.evaluation.rules import LONGEST_COMMIT
from apps.retrieval.enums import RunState
from apps.retrieval.models import Run

DEAREST = Decimal("99999999.9999")


class LedgerRefused(Refusal):
    """The ledger entry is not valid."""


@transaction.atomic
def write_ledger(
    *,
    run: Run,
    tried: str = "",
    commit: str = "",
    configuration: str = "",
    verdict: str = "",
    cost: Decimal | None = None,
    actor: User,
    at: datetime,
) -> RunNote:
    """Record what was tried with a run, its configuration, the cost of 1,000 queries, and the outcome.

    The run itself does not change. The entry can be replaced; earlier ones are in the audit trail. Listeners registered
    with `on_cost` are called after a new cost. Raises LedgerRefused for a run that is not complete, a commit of more
    than 80 characters, and a cost below zero.
    """
    run = Run.objects.select_for_update().get(pk=run.pk)
    if reason := _refusal(run, commit.strip(), cost):
        raise LedgerRefused(reason, code="ledger_refused")
    former = RunNote.objects.filter(run=run).first()
    words = {
        "tried": tried.strip(),
        "commit": commit.strip(),
        "configuration": configuration.strip(),
        "verdict": verdict.strip(),
    }
    rest = {"cost": cost, "written_by": actor, "written_at": at}
    note, _ = RunNote.objects.update_or_create(run=run, defaults={**words, **rest})
    record(
        project=run.project,
        actor=actor,
        action="run.ledger_written",
        obj=run,
        before=_facts(former) if former else None,
        after=_facts(note),
        at=at,
    )
    if cost is not None and (former is None or former.cost != cost):
        follow_cost(run=run, actor=actor, at=at)
    return note


def _refusal(run: Run, commit: str, cost: Decimal | None) -> str | None:
    if run.state != RunState.COMPLETE:
        return f"{run.tag} is {run.state}. Only complete runs have a ledger entry."
    if len(commit) > LONGEST_COMMIT:
        return f"A commit has at most {LONGEST_COMMIT} characters; this one has {len(commit):,}."
    if cost is not None and not 0 <= cost <= DEAREST:
        return "The cost of 1,000 queries is zero or more, and below 100 million."
    return None


def _facts(note: RunNote) -> dict[str, str | None]:
    return {
        "tried": note.tried,
        "commit": note.commit,
        "configuration": note.configuration,
        "verdict": note.verdict,
        "cost": None if note.cost is None else str(note.cost),
    }
