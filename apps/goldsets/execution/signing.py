"""Signs what leaves, with the key of the project where it has one."""

from collections.abc import Callable

from django.conf import settings

from apps.accounts.core.encryption import SealBroken, unseal
from apps.accounts.models import Project
from apps.common.errors import Refusal
from apps.goldsets.core.signing import signature
from apps.goldsets.selectors.signing import current_key

Sign = Callable[[bytes], bytes]


class KeyLocked(Refusal):
    """The private key cannot be opened."""


def place_of(project: Project) -> str:
    """What a private key is sealed for: it opens for no other project."""
    return f"signing key of project {project.pk}"


def sign_for(project: Project) -> Sign | None:
    """What turns checksums into the signature file; None for a project without a key. Raises KeyLocked."""
    key = current_key(project)
    if key is None:
        return None
    try:
        private_key = unseal(bytes(key.sealed), key=settings.SECRET_KEY, place=place_of(project))
    except SealBroken:
        raise KeyLocked(
            "The signing key was made under another SECRET_KEY, so nothing can be signed with it. A lead can make a"
            " new one under Versions, Signing key.",
            code="key_locked",
        ) from None
    return lambda checksums: signature(checksums, private_key=private_key, project=project.slug)
