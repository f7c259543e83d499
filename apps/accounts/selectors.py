"""Reads people, memberships, invitations, tokens and secrets. Pages load their project with `membership_in`."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404

from apps.accounts.core.addresses import NoAddress, plain_address
from apps.accounts.enums import Role
from apps.accounts.models import (
    PLACEHOLDER_DOMAIN,
    ApiToken,
    Identity,
    Invitation,
    Membership,
    PasswordReset,
    Project,
    Secret,
    User,
    Visit,
    default_policies,
)
from apps.common.database.batched_reads import BatchedRead, CountOf, ListOf, once
from apps.common.web.tokens import token_digest


@dataclass(frozen=True)
class Member:
    """A person in a project, with their current roles; or an agent of theirs, which may do as much and sees less."""

    user: User
    project: Project
    roles: frozenset[str]
    is_agent: bool = False

    @property
    def is_lead(self) -> bool:
        """Whether they see what only leads see: no agent does."""
        return Role.LEAD in self.roles and not self.is_agent

    def holds(self, *roles: str) -> bool:
        """Whether the person has any of `roles`. No roles named: any member."""
        return not roles or bool(self.roles.intersection(roles))


def with_address(people: QuerySet[User], address: str) -> QuerySet[User]:
    """The person among these with this address, in any spelling; nobody for a text that is no address."""
    try:
        return people.filter(email=plain_address(address))
    except NoAddress:
        return people.none()


def membership_in(user: User, slug: str) -> Member:
    """The person's membership of the project, or Http404, so that strangers do not learn whether it exists."""
    rows = list(
        Membership.objects.live().filter(user=user, project__slug=slug, user__is_active=True).select_related("project")
    )
    if not rows:
        raise Http404("No such project.")
    return Member(user=user, project=rows[0].project, roles=frozenset(row.role for row in rows))


def members_of(project: Project, *roles: str) -> QuerySet[User]:
    """Active people who have any of `roles` (no roles named: any role), by name."""
    live = Membership.objects.live().filter(project=project)
    if roles:
        live = live.filter(role__in=roles)
    return User.objects.filter(pk__in=live.values("user"), is_active=True).order_by("name", "pk")


SMALL_TEAM = 5


class Team(NamedTuple):
    """How many people work in a project, and the names of its leads by key."""

    people: int
    leads: dict[int, str]

    @property
    def is_small(self) -> bool:
        """Whether fewer than five people work here under one lead, so that who judges often decides too."""
        return self.people < SMALL_TEAM and len(self.leads) == 1


def team_of(project: Project) -> Team:
    return once(("team", project.pk), lambda: _team(project))


def _team(project: Project) -> Team:
    live = Membership.objects.live().filter(project=project, user__is_active=True)
    rows = list(live.order_by("user__name", "user").values_list("user", "user__name", "role"))
    return Team(len({pk for pk, _, _ in rows}), {pk: name for pk, name, role in rows if role == Role.LEAD})


def placeholder_email(project: Project, name: str) -> str:
    """The e-mail field of the placeholder for a name in a project's files. No mail is ever sent there."""
    mark = hashlib.sha256(f"{project.pk}\0{name}".encode()).hexdigest()[:24]
    return f"{mark}{PLACEHOLDER_DOMAIN}"


def placeholder_named(project: Project, name: str) -> User | None:
    """The placeholder for this name in the project's files, where there is one."""
    return User.objects.filter(email=placeholder_email(project, name)).first()


def roles_of(user: User, project: Project) -> frozenset[str]:
    return frozenset(Membership.objects.live().filter(user=user, project=project).values_list("role", flat=True))


def roles_question(user: User, project: Project) -> BatchedRead[frozenset[str]]:
    """The question behind `roles_of`, for what asks others with it."""
    roles = ListOf(Membership.objects.live().filter(user=user, project=project).values_list("role"))
    return BatchedRead({"roles": roles}, lambda found: frozenset(role for (role,) in found["roles"]))


def has_role(user: User, project: Project, role: str) -> Exists:
    """Whether the person has the role, as a condition inside a larger statement."""
    return Exists(Membership.objects.live().filter(user=user, project=project, role=role))


def has_operator() -> bool:
    return User.objects.filter(is_operator=True, is_active=True).exists()


def live_invitation(token: str, at: datetime) -> Invitation | None:
    """The invitation of this link, if it is valid now, or None."""
    return (
        Invitation.objects.select_related("project", "created_by")
        .filter(token_digest=token_digest(token), used_at=None, revoked_at=None, expires_at__gt=at)
        .first()
    )


def live_reset(token: str, at: datetime) -> PasswordReset | None:
    """The password reset of this link, if it is valid now, or None."""
    live = PasswordReset.objects.filter(used_at=None, revoked_at=None, expires_at__gt=at, user__is_active=True)
    return live.select_related("user").filter(token_digest=token_digest(token)).first()


def identity_of(user: User, issuer: str) -> Identity | None:
    """Who the person is at this provider, if their account is linked."""
    return Identity.objects.filter(user=user, issuer=issuer).first()


def open_invitations(project: Project, at: datetime) -> QuerySet[Invitation]:
    return (
        project.invitations.filter(used_at=None, revoked_at=None, expires_at__gt=at)
        .select_related("created_by")
        .order_by("-created_at", "-pk")
    )


def open_links_of(user: User) -> QuerySet[Invitation]:
    """Invitations that nobody has used, by the person or to their address; those that have expired too."""
    theirs = Q(created_by=user) | Q(email=user.email)
    return Invitation.objects.filter(theirs, used_at=None, revoked_at=None).order_by("pk")


def led_alone_by(user: User) -> QuerySet[Project]:
    """The projects in which the person is the only lead who can sign in."""
    lead = Membership.objects.live().filter(role=Role.LEAD, project=OuterRef("pk"))
    others = lead.filter(user__is_active=True).exclude(user=user)
    return Project.objects.filter(Exists(lead.filter(user=user)), ~Exists(others)).order_by("name", "pk")


def known_guests(project: Project, emails: Sequence[str], at: datetime) -> dict[str, str]:
    """For the addresses that the project knows already, how: as those of members or of open invitations.

    Nothing else is told, such as who has an account because of another project.
    """
    live = Membership.objects.live().filter(project=project, user__email__in=emails).order_by("role")
    roles: dict[str, list[str]] = {}
    for email, role in live.values_list("user__email", "role"):
        roles.setdefault(email, []).append(role)
    invited = open_invitations(project, at).filter(email__in=emails).values_list("email", flat=True)
    found = dict.fromkeys(invited, "has an open invitation; this is another one")
    return found | {email: f"is a member already: {', '.join(own)}" for email, own in roles.items()}


class Holding(NamedTuple):
    """Some things of one kind that a person has, and what becomes of them when the person leaves.

    `what` is the noun, singular and plural where that is not the same with an s: "identity,identities".
    """

    what: str
    number: int
    becomes: str
    project: str = ""

    @property
    def as_record(self) -> dict[str, Any]:
        facts = {"what": self.what.partition(",")[0], "count": self.number}
        return {**facts, "project": self.project} if self.project else facts


class MemberRoles(NamedTuple):
    """A person's roles in a project, for the list of people."""

    user: User
    roles: tuple[str, ...]
    since: datetime


def people_in(project: Project) -> QuerySet[User]:
    """Everybody with a live role, deactivated people too, in the order in which their accounts were made."""
    live = Membership.objects.live().filter(project=project)
    return User.objects.filter(pk__in=live.values("user")).order_by("pk")


def people_with_roles(project: Project, users: Sequence[User] | None = None) -> list[MemberRoles]:
    """Everybody with a live role, or those of `users`, by name, in one query."""
    rows = (
        Membership.objects.live().filter(project=project).select_related("user").order_by("user__name", "user", "role")
    )
    if users is not None:
        rows = rows.filter(user__in=users)
    people: dict[int, list[Membership]] = {}
    for row in rows:
        people.setdefault(row.user_id, []).append(row)
    return [
        MemberRoles(own[0].user, tuple(row.role for row in own), min(row.granted_at for row in own))
        for own in people.values()
    ]


def member_user(project: Project, user_id: int) -> User:
    """A person who has or had a role in the project, or Http404."""
    return get_object_or_404(User.objects.filter(memberships__project=project).distinct(), pk=user_id)


def tokens_of(user: User, project: Project) -> QuerySet[ApiToken]:
    return ApiToken.objects.filter(user=user, project=project).order_by("-created_at", "-pk")


def own_tokens(user: User, at: datetime) -> QuerySet[ApiToken]:
    """The person's tokens that work now, of all projects."""
    live = ApiToken.objects.filter(user=user, revoked_at=None, expires_at__gt=at)
    return live.select_related("project").order_by("project__name", "-created_at", "-pk")


def agents_in(project: Project, at: datetime) -> list[ApiToken]:
    """The tokens of agents that work in the project now, whoever made them, by name."""
    live = ApiToken.objects.filter(project=project, revoked_at=None, expires_at__gt=at, user__is_active=True)
    return [token for token in live.select_related("user").order_by("name", "pk") if token.is_of_agent]


def visits_of(user: User, at: datetime) -> QuerySet[Visit]:
    """The person's sessions that have not expired, the one used last first."""
    return Visit.objects.filter(user=user, session__expire_date__gt=at).order_by("-last_used_at", "-pk")


def everybody() -> QuerySet[User]:
    """Every person, with the number of their current projects."""
    live = Count("memberships__project", filter=Q(memberships__ended_at=None), distinct=True)
    people = User.objects.exclude(email__endswith=PLACEHOLDER_DOMAIN)
    return people.annotate(project_count=live).order_by("-is_active", "name", "pk")


class AccountCounts(NamedTuple):
    """How many people can sign in, did so of late, are operators, and were deactivated; and the projects."""

    active: int
    seen_lately: int
    operators: int
    deactivated: int
    projects: int


def account_counts(*, seen_since: datetime) -> AccountCounts:
    """In one statement. Stand-ins for names in imported files are not counted."""
    active = Q(is_active=True)
    people = User.objects.exclude(email__endswith=PLACEHOLDER_DOMAIN).aggregate(
        active=Count("pk", filter=active),
        seen_lately=Count("pk", filter=active & Q(last_login__gte=seen_since)),
        operators=Count("pk", filter=active & Q(is_operator=True)),
        deactivated=Count("pk", filter=~active),
        projects=Max(CountOf(Project.objects.filter(archived_at=None))),
    )
    return AccountCounts(**people | {"projects": people["projects"] or 0})


def secrets_in(project: Project) -> QuerySet[Secret]:
    """The project's secrets by name, without their values."""
    return Secret.objects.filter(project=project).defer("sealed").select_related("changed_by").order_by("name")


def policy(project: Project, name: str) -> Any:
    """The value of one policy. Raises KeyError for a name without a default."""
    return project.policies.get(name, default_policies()[name])
