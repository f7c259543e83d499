from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "apps.config"
    label = "config"

    def ready(self) -> None:
        """Load the Celery app with Django, and only then: commands without a server start without it."""
        from apps.config import checks  # noqa: F401  registers them by being imported
        from apps.config.celery import app, prepare
        from apps.jobs.execution.worker import SweepStep

        app.steps["worker"].add(SweepStep)
        prepare()
