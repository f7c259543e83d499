from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "apps.jobs"
    label = "jobs"

    def ready(self) -> None:
        # The outbox finds whoever delivers a kind of message once its module is imported.
        from apps.jobs.actions import webhooks  # noqa: F401
