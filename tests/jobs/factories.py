from apps.accounts.models import Project, User
from apps.jobs.actions import jobs
from apps.jobs.models import Job
from tests.factories import AT
from tests.jobs import kinds  # noqa: F401  (registers the kinds)


def make_job(
    kind: str = "test.once", *, project: Project | None = None, actor: User | None = None, **params: object
) -> Job:
    return jobs.enqueue(kind=kind, params=params, project=project, actor=actor, at=AT)
