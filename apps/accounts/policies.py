"""What a project decided for itself. A policy that a project never set has its default."""

from typing import Any

from apps.accounts.models import Project, default_policies


def policy(project: Project, name: str) -> Any:
    """The value of one policy. Raises KeyError for a name that no default knows."""
    return project.policies.get(name, default_policies()[name])
