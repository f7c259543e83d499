"""Make and end the keys that sign the exports of a project."""

from datetime import datetime

from django.conf import settings
from django.db import transaction

from apps.accounts.core.encryption import seal
from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.goldsets.core.signing import new_key, public_key_of
from apps.goldsets.execution.signing import place_of
from apps.goldsets.models import SigningKey


@transaction.atomic
def make_signing_key(*, project: Project, actor: User, at: datetime) -> SigningKey:
    """Make a key, which signs every export from now on. An earlier one ends: what it signed stays signed by it."""
    project = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    before = SigningKey.objects.filter(project=project, ended_at=None).first()
    if before is not None:
        before.ended_at = at
        before.save(update_fields=["ended_at"])
    private_key = new_key()
    key = SigningKey.objects.create(
        project=project,
        public_key=public_key_of(private_key),
        sealed=seal(private_key, key=settings.SECRET_KEY, place=place_of(project)),
        made_by=actor,
        made_at=at,
    )
    record(
        project=project,
        actor=actor,
        action="signing_key.made",
        obj=key,
        before={"public_key": before.public_key} if before else {},
        after={"public_key": key.public_key},
        at=at,
    )
    return key
