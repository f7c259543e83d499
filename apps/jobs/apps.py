from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "apps.jobs"
    label = "jobs"

    def ready(self) -> None:
        # Importing the module registers its sender with the outbox.
        from apps.jobs.actions import webhooks  # noqa: F401
