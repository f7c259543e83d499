from django.apps import AppConfig


class AuditConfig(AppConfig):
    name = "apps.audit"
    label = "audit"

    def ready(self) -> None:
        from apps.audit.models import Event
        from apps.audit.selectors.events import event_payload, sealed_kind
        from apps.common.discovery import later
        from apps.common.hooks import set_recorder

        sealed_kind("event", Event, project_path="project", payload=event_payload)
        set_recorder(later("apps.audit.actions.record"))
