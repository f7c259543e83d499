from django.apps import AppConfig


class QueryLogsConfig(AppConfig):
    name = "apps.querylogs"
    label = "querylogs"

    def ready(self) -> None:
        from apps.common.discovery import later
        from apps.common.hooks import log_names
        from apps.queries.actions.sources import rests_on_permissions

        log_names.add(later("apps.querylogs.formats.logs.name_of_form"))
        rests_on_permissions(later("apps.querylogs.actions.LogsOnPermissions"))
