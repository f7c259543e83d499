from typing import Any

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.audit.models import Event
from tests.factories import AT


def make_event(
    project: Project | None = None, *, actor: User | None = None, action: str = "test.happened", **rest: Any
) -> Event:
    return record(project=project, actor=actor, action=action, at=AT, **rest)
