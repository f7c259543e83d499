from django.apps import AppConfig


class QueryLogsConfig(AppConfig):
    name = "apps.querylogs"
    label = "querylogs"

    def ready(self) -> None:
        from apps.common.discovery import later
        from apps.queries.actions.sources import rests_on_permissions

        rests_on_permissions(later("apps.querylogs.actions.LogsOnPermissions"))
