"""Running systems again on a new edition."""

from datetime import datetime

from django.db import transaction
from django.db.models import Max

from apps.accounts.models import User
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import snapshot_before
from apps.editions.execution.taking import EditionRefused
from apps.editions.selectors.taken import systems_to_run
from apps.retrieval.actions.runs import request_run
from apps.retrieval.models import Run


@transaction.atomic
def run_again(*, snapshot_id: int, actor: User, at: datetime) -> list[Run]:
    """Queue a run on this snapshot for each system that Karat ran on the one before it, as deep as there.

    Systems outside Karat are left out: their index has to have the new texts first. Raises EditionRefused.
    """
    snapshot = Snapshot.objects.select_related("corpus__project").select_for_update(of=("self",)).get(pk=snapshot_id)
    before = snapshot_before(snapshot)
    systems = systems_to_run(before, snapshot).here if before is not None else []
    if before is None or not systems:
        raise EditionRefused("No system is left to run again on this snapshot.", code="nothing_to_run")
    runs = []
    for system in systems:
        depth = Run.objects.filter(snapshot=before, system=system).aggregate(most=Max("depth"))["most"]
        project = snapshot.corpus.project
        runs.append(
            request_run(project=project, system_id=system.pk, snapshot_id=snapshot.pk, depth=depth, actor=actor, at=at)
        )
    return runs
