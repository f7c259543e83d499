from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "apps.config"
    label = "config"

    def ready(self) -> None:
        from apps.common.courier import set_courier
        from apps.common.discovery import later
        from apps.config import checks  # noqa: F401  the import registers the checks

        set_courier(later("apps.config.celery.prepare"))
