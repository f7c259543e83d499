"""What is connected when Django starts; and checks of the set-up, in plain words.

`karat up` and the web server print what the checks say when they start.
"""

from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.cache import cache
from django.core.checks import CheckMessage, Info, Tags, Warning, register
from django.db.models.signals import post_migrate


class ConfigConfig(AppConfig):
    name = "apps.config"
    label = "config"

    def ready(self) -> None:
        from apps.common.discovery import later
        from apps.common.hooks import set_celery
        from apps.common.web.logs import log_what_python_prints

        if settings.LOG_FORMAT == "json":
            log_what_python_prints()
        set_celery(later("apps.config.celery.prepare"))
        post_migrate.connect(forget_figures, sender=self)


def forget_figures(**about: Any) -> None:
    """Whoever starts Karat without `karat up` migrates first: figures of an older version or database go."""
    cache.clear()


NO_PROXY = (
    "KARAT_HTTPS is on and KARAT_BEHIND_PROXY is off. Karat speaks plain HTTP: a proxy in front of it has to end TLS."
)
NO_PROXY_HINT = (
    "Set KARAT_BEHIND_PROXY=1 when a proxy in front sets X-Forwarded-Proto and X-Forwarded-For, or KARAT_HTTPS=0"
    " without TLS."
)
ANY_HOST = "KARAT_ALLOWED_HOSTS contains “*”: links in mails and redirects would follow whatever host a stranger names."
ANY_HOST_HINT = "Name the hosts that people type, such as karat.example.org."
PRELOAD = "KARAT_HSTS_PRELOAD is on, but browsers take no domain into their lists without its subdomains and a year."
PRELOAD_HINT = "Set KARAT_HSTS_SUBDOMAINS=1 and KARAT_HSTS_SECONDS=31536000, or leave KARAT_HSTS_PRELOAD off."
YEAR = 31_536_000


@register(Tags.security)
def check_set_up(app_configs: Any = None, **kwargs: Any) -> list[CheckMessage]:
    messages: list[CheckMessage] = []
    if settings.HTTPS and not settings.BEHIND_PROXY:
        messages.append(Info(NO_PROXY, hint=NO_PROXY_HINT, id="karat.I001"))
    if settings.PRODUCTION and "*" in settings.ALLOWED_HOSTS:
        messages.append(Warning(ANY_HOST, hint=ANY_HOST_HINT, id="karat.W001"))
    is_whole = settings.SECURE_HSTS_INCLUDE_SUBDOMAINS and settings.SECURE_HSTS_SECONDS >= YEAR
    if settings.SECURE_HSTS_PRELOAD and not is_whole:
        messages.append(Warning(PRELOAD, hint=PRELOAD_HINT, id="karat.W002"))
    return messages


def startup_messages() -> list[str]:
    return [f"{message.msg} {message.hint}" for message in check_set_up()]
