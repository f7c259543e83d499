"""Everything that changes people, projects and keys."""

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.utils.text import slugify

from apps.accounts import rules
from apps.accounts.enums import Role, Scope
from apps.accounts.models import STAND_IN_DOMAIN, ApiToken, Invitation, Membership, Project, User
from apps.accounts.selectors import has_operator, roles_of
from apps.accounts.tokens import new_link_token, new_token, shown_prefix, token_digest
from apps.common.errors import Forbidden, Refusal
from apps.common.trail import record

SETUP_LINK_LASTS = timedelta(days=1)
INVITATION_LASTS = timedelta(days=7)
LONGEST_TOKEN = timedelta(days=365)


class InvitationRefused(Refusal):
    """The link cannot be used."""


class FormSent(Refusal):
    """A form was sent before, and what it made is there no more."""

    def __init__(self, what_happened: str) -> None:
        said = f"This form was sent already, and its {what_happened}. Load the page again to make another one."
        super().__init__(said, code="form_sent")


class PeopleRefused(Forbidden):
    """Not for this person to decide who belongs."""


@transaction.atomic
def create_user(*, email: str, name: str, password: str | None, at: datetime, is_operator: bool = False) -> User:
    """Make a person. Without a password nobody can sign in as them until one is set."""
    email = email.strip().lower()
    if User.objects.filter(email__iexact=email).exists():
        raise Refusal(f"{email} has an account already. Sign in with it.", code="email_taken")
    user = User(email=email, name=name.strip(), is_operator=is_operator, created_at=at)
    user.set_password(password)
    user.save()
    record(project=None, actor=user, action="user.created", obj=user, after={"operator": is_operator}, at=at)
    return user


@transaction.atomic
def stand_in(*, project: Project, name: str, actor: User, at: datetime) -> User:
    """Whoever stands for a name in a file from elsewhere: one for each name in a project, and no account.

    Nobody can sign in as them, they belong to no project, and no list of people shows them.
    """
    mark = hashlib.sha256(f"{project.pk}\0{name}".encode()).hexdigest()[:24]
    email = f"{mark}{STAND_IN_DOMAIN}"
    user = User.objects.filter(email=email).first()
    if user is None:
        user = User(email=email, name=name[:120], created_at=at, is_active=False, deactivated_at=at)
        user.set_unusable_password()
        user.save()
        record(project=project, actor=actor, action="stand_in.named", obj=user, after={"name": user.name}, at=at)
    return user


@transaction.atomic
def create_setup_link(*, at: datetime) -> str:
    """Make the one-time link that lets the first operator in, and end every earlier one. Returns its token."""
    if has_operator():
        raise Refusal("There is an operator already. Sign in, or ask them for an invitation.", code="set_up")
    Invitation.objects.filter(makes_operator=True, used_at=None, revoked_at=None).update(revoked_at=at)
    token = new_link_token()
    invitation = Invitation.objects.create(
        makes_operator=True, token_digest=token_digest(token), created_at=at, expires_at=at + SETUP_LINK_LASTS
    )
    record(project=None, actor=None, action="setup_link.created", obj=invitation, at=at)
    return token


@transaction.atomic
def invite(
    *, project: Project, actor: User, roles: Sequence[str], at: datetime, email: str = "", key: str = ""
) -> tuple[Invitation, str]:
    """Make a single-use invitation and return it with its token, which is shown once and kept as a digest.

    `key` is the form's: sent again it makes no second invitation and returns the first one, while that is open.
    """
    project = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if reason := rules.people_refusal(actor, project):
        raise PeopleRefused(reason)
    if reason := rules.roles_refusal(list(roles)):
        raise Refusal(reason, code="roles")
    email, roles = email.strip().lower(), sorted(set(roles))
    token = new_link_token(key, "invitation", project.pk, actor.pk, email, roles)
    if sent := Invitation.objects.filter(token_digest=token_digest(token)).first():
        if rules.invitation_refusal(sent, at):
            raise FormSent("invitation was used or has ended")
        return sent, token
    invitation = Invitation.objects.create(
        project=project,
        email=email,
        roles=roles,
        token_digest=token_digest(token),
        created_by=actor,
        created_at=at,
        expires_at=at + INVITATION_LASTS,
    )
    after = {"roles": invitation.roles, "email": invitation.email}
    record(project=project, actor=actor, action="invitation.created", obj=invitation, after=after, at=at)
    return invitation, token


@transaction.atomic
def revoke_invitation(*, invitation_id: int, project: Project, actor: User, at: datetime) -> Invitation:
    invitation = Invitation.objects.select_for_update().get(pk=invitation_id, project=project)
    if reason := rules.people_refusal(actor, project) or rules.invitation_refusal(invitation, at):
        raise PeopleRefused(reason)
    invitation.revoked_at = at
    invitation.save(update_fields=["revoked_at"])
    record(project=project, actor=actor, action="invitation.revoked", obj=invitation, at=at)
    return invitation


@transaction.atomic
def accept_invitation(
    *, token: str, at: datetime, user: User | None = None, email: str = "", name: str = "", password: str = ""
) -> User:
    """Use an invitation once: join as `user`, or as a new person made from email, name and password.

    Raises InvitationRefused when the link is unknown, used, withdrawn or expired.
    """
    invitation = (
        Invitation.objects.select_for_update(of=("self",))
        .select_related("project")
        .filter(token_digest=token_digest(token))
        .first()
    )
    if invitation is None:
        raise InvitationRefused("This link is not known here. Ask for a new one.", code="unknown_link")
    if reason := rules.invitation_refusal(invitation, at):
        raise InvitationRefused(reason, code="dead_link")
    if user is None:
        user = create_user(
            email=invitation.email or email,
            name=name,
            password=password,
            at=at,
            is_operator=invitation.makes_operator,
        )
    invitation.used_by, invitation.used_at = user, at
    invitation.save(update_fields=["used_by", "used_at"])
    record(project=invitation.project, actor=user, action="invitation.used", obj=invitation, at=at)
    if invitation.project is not None:
        for role in invitation.roles:
            _grant(project=invitation.project, user=user, role=role, granted_by=invitation.created_by, at=at)
    return user


@transaction.atomic
def create_project(*, name: str, actor: User, at: datetime, slug: str = "", is_demo: bool = False) -> Project:
    """Make a project whose maker is its first lead. The slug is made from the name when none is given."""
    if not actor.is_operator:
        raise PeopleRefused("Only an operator makes projects.")
    slug = slug or free_slug(name)
    if Project.objects.filter(slug=slug).exists():
        raise Refusal(f"There is a project at {slug} already. Choose another address.", code="slug_taken")
    project = Project.objects.create(name=name.strip(), slug=slug, created_by=actor, created_at=at, is_demo=is_demo)
    record(project=project, actor=actor, action="project.created", obj=project, after={"name": name}, at=at)
    _grant(project=project, user=actor, role=Role.LEAD, granted_by=actor, at=at)
    return project


def free_slug(name: str) -> str:
    """The first unused address for a name: `handbook`, `handbook-2`, …"""
    base = slugify(name)[:50] or "project"
    taken = set(Project.objects.filter(slug__startswith=base).values_list("slug", flat=True))
    number = 1
    slug = base
    while slug in taken:
        number += 1
        slug = f"{base}-{number}"
    return slug


@transaction.atomic
def set_roles(*, project: Project, user: User, roles: Sequence[str], actor: User, at: datetime) -> frozenset[str]:
    """Make `roles` the live roles of `user` in the project; none at all ends the membership. Returns them.

    The last lead cannot be taken away: somebody has to be able to let people in.
    """
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if reason := rules.people_refusal(actor, project):
        raise PeopleRefused(reason)
    if roles and (reason := rules.roles_refusal(list(roles))):
        raise Refusal(reason, code="roles")
    before, wanted = roles_of(user, project), frozenset(roles)
    others_lead = Membership.objects.live().filter(project=project, role=Role.LEAD).exclude(user=user)
    if Role.LEAD in before - wanted and not others_lead.exists():
        raise Refusal("A project keeps at least one lead. Make another person lead first.", code="last_lead")
    for role in sorted(wanted - before):
        _grant(project=project, user=user, role=role, granted_by=actor, at=at)
    ended = Membership.objects.live().filter(project=project, user=user, role__in=before - wanted)
    ended.update(ended_at=at, ended_by=actor)
    if before != wanted:
        record(
            project=project,
            actor=actor,
            action="membership.changed",
            obj=user,
            before={"roles": sorted(before)},
            after={"roles": sorted(wanted)},
            at=at,
        )
    return wanted


def _grant(*, project: Project, user: User, role: str, granted_by: User | None, at: datetime) -> None:
    _, created = Membership.objects.get_or_create(
        project=project,
        user=user,
        role=role,
        ended_at=None,
        defaults={"granted_by": granted_by, "granted_at": at},
    )
    if created:
        record(project=project, actor=granted_by, action="role.granted", obj=user, after={"role": role}, at=at)


@transaction.atomic
def deactivate_user(*, user_id: int, actor: User | None, at: datetime) -> User:
    """Close a person's account. Rows and name stay; sign-in and tokens end.

    No actor: somebody at the machine's own command line.
    """
    if actor is not None and not actor.is_operator:
        raise PeopleRefused("Only an operator deactivates people.")
    user = User.objects.select_for_update().get(pk=user_id)
    if user.is_operator and not User.objects.filter(is_operator=True, is_active=True).exclude(pk=user.pk).exists():
        raise Refusal("The last operator cannot be deactivated. Make another one first.", code="last_operator")
    user.is_active, user.deactivated_at = False, at
    user.save(update_fields=["is_active", "deactivated_at"])
    ApiToken.objects.filter(user=user, revoked_at=None).update(revoked_at=at)
    record(project=None, actor=actor, action="user.deactivated", obj=user, at=at)
    return user


@transaction.atomic
def create_token(
    *, project: Project, user: User, name: str, scopes: Sequence[str], at: datetime, lasts: timedelta, key: str = ""
) -> tuple[ApiToken, str]:
    """Make a token for machines and return it with its secret, which is shown once and kept as a digest.

    `key` is the form's: sent again it makes no second token and returns the first one, unless that has ended.
    """
    unknown = sorted(set(scopes) - set(Scope.values))
    if unknown or not scopes:
        raise Refusal(f"Choose scopes from: {', '.join(Scope.values)}.", code="scopes")
    if not timedelta(0) < lasts <= LONGEST_TOKEN:
        raise Refusal("A token lasts between one day and 365 days.", code="token_life")
    if not roles_of(user, project):
        raise PeopleRefused("Only members of a project hold its tokens.")
    project = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    name = name.strip()
    secret = new_token(key, "token", project.pk, user.pk, name, sorted(set(scopes)), lasts.days)
    if sent := ApiToken.objects.filter(digest=token_digest(secret)).first():
        if sent.revoked_at is not None or sent.expires_at <= at:
            raise FormSent("token was revoked or has expired")
        return sent, secret
    token = ApiToken.objects.create(
        user=user,
        project=project,
        name=name,
        prefix=shown_prefix(secret),
        digest=token_digest(secret),
        scopes=sorted(set(scopes)),
        created_at=at,
        expires_at=at + lasts,
    )
    after = {"name": token.name, "scopes": token.scopes}
    record(project=project, actor=user, action="token.created", obj=token, after=after, at=at)
    return token, secret


@transaction.atomic
def revoke_token(*, token_id: int, project: Project, user: User, at: datetime) -> ApiToken:
    token = ApiToken.objects.select_for_update().get(pk=token_id, project=project, user=user)
    if token.revoked_at is None:
        token.revoked_at = at
        token.save(update_fields=["revoked_at"])
        record(project=project, actor=user, action="token.revoked", obj=token, at=at)
    return token


@transaction.atomic
def change_profile(*, user: User, name: str, time_zone: str, at: datetime) -> User:
    before = {"name": user.name, "time_zone": user.time_zone}
    user.name, user.time_zone = name.strip(), time_zone
    user.save(update_fields=["name", "time_zone"])
    after = {"name": user.name, "time_zone": user.time_zone}
    record(project=None, actor=user, action="user.profile_changed", obj=user, before=before, after=after, at=at)
    return user


@transaction.atomic
def change_password(*, user: User, password: str, at: datetime) -> User:
    """Set a new password. Every other session of the person ends with the old one."""
    user.set_password(password)
    user.save(update_fields=["password"])
    record(project=None, actor=user, action="user.password_changed", obj=user, at=at)
    return user


@transaction.atomic
def set_up(*, token: str, email: str, name: str, password: str, project_name: str, at: datetime) -> User:
    """Use the set-up link: make the first operator and, when it is named, their first project."""
    user = accept_invitation(token=token, email=email, name=name, password=password, at=at)
    if project_name.strip():
        create_project(name=project_name, actor=user, at=at)
    return user


@transaction.atomic
def change_project(*, project_id: int, name: str, policies: dict, actor: User, at: datetime) -> Project:
    """Rename a project and set its policies; policies not named keep their value."""
    project = Project.objects.select_for_update().get(pk=project_id)
    if reason := rules.people_refusal(actor, project):
        raise PeopleRefused(reason)
    before = {"name": project.name, "policies": project.policies}
    project.name, project.policies = name.strip(), {**project.policies, **policies}
    project.save(update_fields=["name", "policies"])
    after = {"name": project.name, "policies": project.policies}
    record(project=project, actor=actor, action="project.changed", obj=project, before=before, after=after, at=at)
    return project
