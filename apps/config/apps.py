from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.cache import cache
from django.db.models.signals import post_migrate


class ConfigConfig(AppConfig):
    name = "apps.config"
    label = "config"

    def ready(self) -> None:
        from apps.common.discovery import later
        from apps.common.hooks import set_celery
        from apps.common.web.logs import log_what_python_prints
        from apps.config import checks  # noqa: F401  the import registers the checks

        if settings.LOG_FORMAT == "json":
            log_what_python_prints()
        set_celery(later("apps.config.celery.prepare"))
        post_migrate.connect(forget_figures, sender=self)


def forget_figures(**about: Any) -> None:
    """Whoever starts Karat without `karat up` migrates first: figures of an older version or database go."""
    cache.clear()
