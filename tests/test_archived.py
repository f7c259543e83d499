"""An archived project refuses every change with one sentence and is read as before, by a walk over all endpoints."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import transaction
from django.utils import timezone

from apps.accounts.actions.projects import archive_project
from apps.accounts.models import User
from tests.endpoints import ENDPOINTS, MEMBERS
from tests.fast_client import watching, without_words
from tests.world import OF_PROJECTS, World

pytestmark = [pytest.mark.django_db, pytest.mark.once, pytest.mark.slow]

OWN = {
    "notifications:read-all",
    "notifications:open",
    "notifications-api:read",
    "notifications-api:read-all",
    "people:revoke-token",
}
"""A person's own notifications and tokens, which concern nobody else."""
BACK = {"dashboard:bring-back", "settings-api:bring-back", "dashboard:delete"}
"""What ends the archiving, one way or the other."""
LEASING = ("judging:judge", "judging:pairs", "judging-api:pairs", "judging:difference")
"""Read by GET, but whoever asks is given pairs to judge, or shown the grades of others once and for all."""


@contextmanager
def archived(world: World) -> Iterator[str]:
    """The project is archived meanwhile; yields the sentence that refuses."""
    lead = world.people["lead"]
    assert isinstance(lead, User)
    with transaction.atomic():
        archive_project(project_id=world.project.pk, actor=lead, at=timezone.now())
        yield f"{world.project} is archived: it can be read, and nothing in it changes."
        transaction.set_rollback(True)


def who(name: str, method: str) -> list[str]:
    return sorted(MEMBERS & (getattr(ENDPOINTS[name], method) or frozenset()))


def test_every_change_is_refused_with_the_same_sentence(world):
    wrong, asked = {}, 0
    with archived(world) as sentence:
        for name in OF_PROJECTS:
            for role in who(name, "post"):
                url = world.url(name)
                answer = world.askers[role].answer("post", url, whole=True)
                asked += 1
                is_refused = answer.status_code == 409 and sentence in answer.content.decode()
                if is_refused is (name in OWN or name in BACK):
                    wrong[f"{url} as {role}"] = answer.status_code

    assert asked > 150
    assert wrong == {}


def test_everything_is_read_as_before_and_no_reading_writes(world):
    with without_words():
        before = read(world)
        with archived(world), watching() as written:
            after = read(world)

    assert len(before) > 400
    refused = {where: 409 for where in before if where.split(" as ")[0] in leasing(world)}
    assert after == before | refused
    looks = {"accounts_project", "audit_event", "evaluation_comparison", "goldsets_publiclook"}
    assert {sql.split('"')[1] for sql, _ in written.statements} <= looks, (
        "looks at test, at comparisons, and at what is to be public"
    )


def leasing(world: World) -> set[str]:
    return {world.url(name) for name in LEASING}


def read(world: World) -> dict[str, int]:
    pages = ((name, world.url(name)) for name in OF_PROJECTS)
    return {
        f"{url} as {role}": world.askers[role].status("get", url) for name, url in pages for role in who(name, "get")
    }
