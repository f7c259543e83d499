"""Secrets of a project: written once, used for requests to other services, shown to nobody."""

import re
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.shortcuts import get_object_or_404

from apps.accounts import rules
from apps.accounts.core.encryption import SealBroken, seal, unseal
from apps.accounts.models import Project, Secret, User
from apps.common.errors import Forbidden, Refusal
from apps.common.hooks import record

LONGEST = 4_000
MOST_SECRETS = 100
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")
_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")


class SecretRefused(Refusal):
    """A secret cannot be stored or used."""


class SecretForbidden(Forbidden):
    """This person may not manage secrets."""


class NoSecret(SecretRefused):
    """The secret does not exist, or cannot be decrypted."""


@transaction.atomic
def save_secret(*, project: Project, name: str, value: str, actor: User, at: datetime) -> Secret:
    """Store a value under a name, replacing any earlier one. It is never shown again."""
    project = Project.objects.select_for_update().get(pk=project.pk)
    name, value = name.strip(), value.strip()
    _check(project, name, value, actor)
    sealed = seal(value, key=settings.SECRET_KEY, place=_place(project, name))
    had = Secret.objects.filter(project=project, name=name).first()
    if had is None and Secret.objects.filter(project=project).count() >= MOST_SECRETS:
        raise SecretRefused(
            f"A project can have at most {MOST_SECRETS} secrets. Delete one first.", code="secrets_full"
        )
    secret = had or Secret(project=project, name=name, created_by=actor, created_at=at)
    secret.sealed, secret.changed_by, secret.changed_at = sealed, actor, at
    secret.save()
    action = "secret.replaced" if had else "secret.created"
    record(project=project, actor=actor, action=action, obj=secret, after={"name": name}, at=at)
    return secret


@transaction.atomic
def delete_secret(*, project: Project, secret_id: int, actor: User, at: datetime) -> str:
    """Delete a secret and return its name. Systems that name it are refused until it is added again."""
    SecretForbidden.raise_for(rules.secrets_refusal(actor, project), code="leads_only")
    secret = get_object_or_404(Secret.objects.select_for_update(), project=project, pk=secret_id)
    record(project=project, actor=actor, action="secret.deleted", obj=secret, before={"name": secret.name}, at=at)
    secret.delete()
    return secret.name


def reveal(project: Project, name: str) -> str:
    """The value of a secret, to use and not to store. Raises NoSecret."""
    secret = Secret.objects.filter(project=project, name=name).first()
    if secret is None:
        raise NoSecret(f"The project has no secret called {name}. A lead can add it in the settings.", code="no_secret")
    try:
        return unseal(bytes(secret.sealed), key=settings.SECRET_KEY, place=_place(project, name))
    except SealBroken:
        raise NoSecret(
            f"The secret {name} was saved under another SECRET_KEY. A lead must enter its value again.",
            code="no_secret",
        ) from None


def _check(project: Project, name: str, value: str, actor: User) -> None:
    SecretForbidden.raise_for(rules.secrets_refusal(actor, project), code="leads_only")
    if not _NAME.fullmatch(name):
        raise SecretRefused(
            "A secret's name has only lower-case letters, digits and hyphens, at most 60.", code="bad_secret_name"
        )
    if len(value) > LONGEST or not _VALUE.fullmatch(value):
        raise SecretRefused(
            f"A secret is one line of at most {LONGEST:,} plain characters, as a header can carry it.",
            code="bad_secret",
        )


def _place(project: Project, name: str) -> str:
    return f"{project.pk}/{name}"
