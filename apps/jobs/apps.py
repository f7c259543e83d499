from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "apps.jobs"
    label = "jobs"

    def ready(self) -> None:
        from apps.accounts.execution.leaving import on_leaving
        from apps.common.discovery import later
        from apps.common.hooks import set_poster
        from apps.jobs.enums import DeliveryKind
        from apps.jobs.execution.outbox import sender

        set_poster(later("apps.jobs.execution.outbox.post_mail"))
        sender(DeliveryKind.WEBHOOK)(later("apps.jobs.actions.sending.send_webhook"))
        on_leaving(
            later("apps.jobs.selectors.jobs.held_notifications"),
            later("apps.jobs.actions.notifications.end_notifications"),
        )
