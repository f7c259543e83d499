"""The hook through which apps below `jobs` send mail.

`jobs` has the outbox and is above `accounts`, so `accounts` cannot import it: it calls `post_mail` here, and `jobs`
registers its own function when Django starts.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.conf import settings

Poster = Callable[..., Any]
_poster: Poster | None = None


def set_poster(poster: Poster) -> None:
    global _poster
    _poster = poster


def has_mail_server() -> bool:
    """Whether mail leaves this machine. Without a server it is only printed by the worker."""
    return bool(settings.EMAIL_HOST)


def post_secret_mail(*, to: list[str], subject: str, body: str, at: datetime) -> None:
    """Queue a mail with a secret link in the running transaction; its text is erased once it is sent or has failed."""
    if _poster is None:
        raise RuntimeError("The outbox has not registered its function; is apps.jobs installed?")
    _poster(to=to, subject=subject, body=body, project=None, at=at, is_secret=True)
