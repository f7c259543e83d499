"""What apps below call of apps above: the audit, mail with a secret link, messages to workers, the next step.

`accounts` and `jobs` cannot import what stands above them. They call a function here, and the app above registers its
own when Django starts.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

from django.conf import settings

from apps.common.discovery import Registered

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


_load_celery: Callable[[], Any] | None = None
"""The Celery app is in `config`. A process loads it with its first message: most commands send none."""


def set_celery(load: Callable[[], Any]) -> None:
    global _load_celery
    _load_celery = load


def load_celery() -> None:
    """Make the Celery app the one that tasks are sent by. Raises RuntimeError when none is registered."""
    if _load_celery is None:
        raise RuntimeError("The Celery app is not registered; is apps.config installed?")
    _load_celery()


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


log_names: Registered[Callable[[Any], str]] = Registered()
"""What a file is where it is a search log and no list of queries, "these are traces"; "" for any other file.

`queries` stands below the app that reads them, which adds its own here.
"""


class NextStep(NamedTuple):
    """The words of a primary button, and where it leads; whether a page there needs a snapshot."""

    words: str
    url: str
    needs_snapshot: bool = False


_answers: dict[type, Callable[[Any], NextStep | None]] = {}


def answer_next_step(of: type, answer: Callable[[Any], NextStep | None]) -> None:
    """Let `answer` say what comes after an object of this class, on a page whose own app does not know it."""
    _answers[of] = answer


def next_step(after: object) -> NextStep | None:
    """What a lead does next after this object was made; None where no app names anything."""
    answer = _answers.get(type(after))
    return answer(after) if answer else None
