"""The keys that sign a project's exports."""

from apps.accounts.models import Project
from apps.goldsets.models import SigningKey


def keys_of(project: Project) -> list[SigningKey]:
    """The key in use and those before it, newest first."""
    return list(SigningKey.objects.filter(project=project).select_related("made_by").order_by("-made_at", "-pk"))


def current_key(project: Project) -> SigningKey | None:
    """The key that signs now."""
    return SigningKey.objects.filter(project=project, ended_at=None).first()
