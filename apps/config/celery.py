"""The Celery app, loaded by workers and by a process that sends its first message."""

import logging
import os
from contextlib import suppress
from functools import cache
from pathlib import Path

from celery import Celery
from celery.signals import import_modules, setup_logging, worker_init
from django.conf import settings

from apps.config.database_timeouts import wait_as_a_worker

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
app = Celery("karat")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["apps.jobs.execution", "apps.audit.execution"])
app.set_default()


@cache
def prepare() -> None:
    """Create the folders of the embedded broker, readable by nobody else, before the first message is written."""
    if not settings.BROKER_URL.startswith("filesystem://"):
        return
    broker = Path(settings.BROKER_DIR)
    with suppress(OSError):  # commands that need the broker report it; others work without
        for folder in (broker, broker / "messages", broker / "control"):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)


@import_modules.connect
def _with_housekeeping(**kwargs: object) -> None:
    """Add what our workers do beside their jobs, once Celery has set up Django."""
    from apps.jobs.execution.worker import Housekeeping

    app.steps["worker"].add(Housekeeping)
    prepare()


@setup_logging.connect
def _log_as_all_do(loglevel: int | None = None, **kwargs: object) -> None:
    """Celery adds no handler of its own, whose lines would have another form."""
    if loglevel:
        logging.getLogger().setLevel(loglevel)


@worker_init.connect
def _as_a_worker(**kwargs: object) -> None:
    wait_as_a_worker()
