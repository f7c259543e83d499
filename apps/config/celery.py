import os
from contextlib import suppress
from pathlib import Path

from celery import Celery
from celery.signals import worker_init
from django.conf import settings

from apps.config.patience import wait_as_a_worker

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
app = Celery("karat")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["apps.jobs.execution", "apps.audit.execution"])
app.set_default()


def prepare() -> None:
    """Create the folders of the embedded broker, readable by nobody else, before the first message is written."""
    if not settings.BROKER_URL.startswith("filesystem://"):
        return
    broker = Path(settings.BROKER_DIR)
    with suppress(OSError):  # commands that need the broker report it; others work without
        for folder in (broker, broker / "messages", broker / "control"):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)


@worker_init.connect
def _as_a_worker(**kwargs: object) -> None:
    wait_as_a_worker()
