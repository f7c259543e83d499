"""People and projects for tests, made by the real actions."""

import itertools
from datetime import UTC, datetime

from apps.accounts.actions import people, projects
from apps.accounts.enums import Role, Scope
from apps.accounts.models import Project, User

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
EVERY_SCOPE = [scope for scope in Scope.values if scope != Scope.AGENT]
"""Of a program's token; an agent's works at another address alone."""
PASSWORD = "a-long-enough-password"
_numbers = itertools.count(1)


def make_user(name: str = "", *, is_operator: bool = False) -> User:
    number = next(_numbers)
    name = name or f"Person {number}"
    email = f"{name.split()[0].lower()}.{number}@example.org"
    return people.create_user(email=email, name=name, password=PASSWORD, at=AT, is_operator=is_operator)


def make_project(name: str = "", *, lead: User | None = None) -> Project:
    """A project with one lead: `lead`, or a new person. They are an operator for as long as they create it."""
    lead = lead or make_user("Lead")
    was_operator, lead.is_operator = lead.is_operator, True
    project = projects.create_project(name=name or f"Project {next(_numbers)}", actor=lead, at=AT)
    lead.is_operator = was_operator
    return project


def make_member(project: Project, *roles: str, name: str = "") -> User:
    user = make_user(name or (roles[0].capitalize() if roles else "Member"))
    projects.set_roles(project=project, user=user, roles=list(roles), actor=lead_of(project), at=AT)
    return user


def lead_of(project: Project) -> User:
    membership = project.memberships.filter(role=Role.LEAD, ended_at=None).select_related("user").first()
    assert membership is not None
    return membership.user
