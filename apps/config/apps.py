from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "apps.config"
    label = "config"

    def ready(self) -> None:
        """Load the Celery app together with Django; commands that do not load Django start without it."""
        from apps.config import checks  # noqa: F401  the import registers the checks
        from apps.config.celery import app, prepare
        from apps.jobs.execution.worker import SweepStep

        app.steps["worker"].add(SweepStep)
        prepare()
