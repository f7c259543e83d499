"""The hook through which apps below the audit write to it.

`audit` is above `accounts`, so `accounts` cannot import it: it calls `record` here, and `audit` registers its own
function when Django starts.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.conf import settings

# The hook through which apps below `jobs` send mail.
#
# `jobs` has the outbox and is above `accounts`, so `accounts` cannot import it: it calls `post_mail` here, and `jobs`
# registers its own function when Django starts.

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


# The hook through which messages to workers go out.
#
# The Celery app is in `config`, above all who send. `config` says here how it is loaded, and a process loads it, with
# Celery, when it sends its first message: most commands send none.

_load: Callable[[], Any] | None = None


def set_courier(load: Callable[[], Any]) -> None:
    global _load
    _load = load


def load_courier() -> None:
    """Make the Celery app the one that tasks are sent by. Raises RuntimeError when none is registered."""
    if _load is None:
        raise RuntimeError("The Celery app is not registered; is apps.config installed?")
    _load()


Recorder = Callable[..., Any]
_recorder: Recorder | None = None


def set_recorder(recorder: Recorder) -> None:
    global _recorder
    _recorder = recorder


def record(
    *,
    project: Any,
    actor: Any,
    action: str,
    obj: Any,
    at: datetime,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    """Write one audit event in the running transaction. Raises RuntimeError when the audit is not installed."""
    if _recorder is None:
        raise RuntimeError("The audit has not registered its recorder; is apps.audit installed?")
    _recorder(project=project, actor=actor, action=action, obj=obj, before=before, after=after, at=at)
