from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "apps.jobs"
    label = "jobs"

    def ready(self) -> None:
        # Importing the module registers its sender with the outbox.
        from apps.common.web.post import set_poster
        from apps.jobs.actions import webhooks  # noqa: F401
        from apps.jobs.execution.outbox import post_mail

        set_poster(post_mail)
