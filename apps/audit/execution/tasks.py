"""The task that seals new records."""

from celery import shared_task

from apps.audit.execution.sealing import seal_all


@shared_task(name="audit.seal")
def seal(from_the_start: bool = False) -> None:
    seal_all(from_the_start=from_the_start)
