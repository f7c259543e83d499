"""Who belongs where. Every page and endpoint finds its project through `membership_in`."""

from dataclasses import dataclass

from django.db.models import QuerySet
from django.http import Http404

from apps.accounts.enums import Role
from apps.accounts.models import Membership, Project, User


@dataclass(frozen=True)
class Member:
    """A person inside a project, with the roles held right now."""

    user: User
    project: Project
    roles: frozenset[str]

    @property
    def is_lead(self) -> bool:
        return Role.LEAD in self.roles

    def holds(self, *roles: str) -> bool:
        """Whether any of `roles` is held. No roles named: any member."""
        return not roles or bool(self.roles.intersection(roles))


def membership_in(user: User, slug: str) -> Member:
    """The person's membership of the project, or Http404: a stranger cannot tell a closed door from no house."""
    rows = list(
        Membership.objects.live().filter(user=user, project__slug=slug, user__is_active=True).select_related("project")
    )
    if not rows:
        raise Http404("No such project.")
    return Member(user=user, project=rows[0].project, roles=frozenset(row.role for row in rows))


def projects_of(user: User) -> QuerySet[Project]:
    live = Membership.objects.live().filter(user=user)
    return Project.objects.filter(pk__in=live.values("project")).order_by("name", "pk")


def members_of(project: Project, *roles: str) -> QuerySet[User]:
    """Active people who hold any of `roles` (no roles named: any role), by name."""
    live = Membership.objects.live().filter(project=project)
    if roles:
        live = live.filter(role__in=roles)
    return User.objects.filter(pk__in=live.values("user"), is_active=True).order_by("name", "pk")


def roles_of(user: User, project: Project) -> frozenset[str]:
    return frozenset(Membership.objects.live().filter(user=user, project=project).values_list("role", flat=True))


def has_operator() -> bool:
    return User.objects.filter(is_operator=True, is_active=True).exists()
