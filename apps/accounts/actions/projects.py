"""Creating, changing and archiving a project, and the roles of its members."""

from collections.abc import Sequence
from datetime import datetime
from itertools import chain, count

from django.db import transaction
from django.utils.text import slugify

from apps.accounts import rules
from apps.accounts.actions.people import _change_roles, _grant, _is_last_lead
from apps.accounts.enums import Role
from apps.accounts.models import ApiToken, Invitation, Membership, Project, ProjectDeletion, User
from apps.accounts.rules import PeopleRefused, ProjectArchived
from apps.accounts.selectors import roles_of
from apps.common.errors import Refusal
from apps.common.hooks import record


@transaction.atomic
def create_project(*, name: str, actor: User, at: datetime, slug: str = "", is_demo: bool = False) -> Project:
    """Create a project with `actor` as its first lead. The slug is made from the name when none is given."""
    if not actor.is_operator:
        raise PeopleRefused("Only an operator can create projects.")
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
    further = (f"{base}-{number}" for number in count(2))
    return next(slug for slug in chain([base], further) if slug not in taken)


@transaction.atomic
def set_roles(
    *, project: Project, user: User, roles: Sequence[str], actor: User, at: datetime, by_token: bool = False
) -> frozenset[str]:
    """Make `roles` the live roles of `user` in the project; none at all ends the membership. Returns them.

    The last lead cannot be removed: somebody has to be able to invite people. `by_token`: the actor acts through an
    API token, which makes nobody a lead.
    """
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    PeopleRefused.raise_for(rules.people_refusal(actor, project))
    if roles and (reason := rules.roles_refusal(list(roles))):
        raise Refusal(reason, code="roles")
    before, wanted = roles_of(user, project), frozenset(roles)
    if by_token and (reason := rules.token_roles_refusal(wanted - before)):
        raise PeopleRefused(reason, code="token_makes_lead")
    if Role.LEAD in before - wanted and _is_last_lead(project, user):
        raise Refusal("A project needs at least one lead. Make another person a lead first.", code="last_lead")
    _change_roles(project=project, user=user, before=before, wanted=wanted, actor=actor, at=at)
    return wanted


def _to_change(project_id: int, actor: User | None) -> Project:
    """The project, locked, for a lead, an operator, or the command line (None). Raises PeopleRefused for others."""
    project = Project.objects.select_for_update().get(pk=project_id)
    if actor is not None and (reason := rules.people_refusal(actor, project)):
        raise PeopleRefused(reason)
    return project


@transaction.atomic
def change_project(*, project_id: int, policies: dict, actor: User, at: datetime, name: str | None = None) -> Project:
    """Rename a project and set its policies; what is not named stays. The same values again change nothing."""
    project = _to_change(project_id, actor)
    before = {"name": project.name, "policies": project.policies}
    project.name = project.name if name is None else name.strip()
    project.policies = {**project.policies, **policies}
    after = {"name": project.name, "policies": project.policies}
    if before == after:
        return project
    project.save(update_fields=["name", "policies"])
    record(project=project, actor=actor, action="project.changed", obj=project, before=before, after=after, at=at)
    return project


@transaction.atomic
def archive_project(*, project_id: int, actor: User, at: datetime) -> Project:
    """Make a project read-only and hide it in the lists. Work that is under way, such as a job, finishes."""
    project = _to_change(project_id, actor)
    ProjectArchived.unless_open(project)
    _wait_for_members(project)
    project.archived_at, project.archived_by = at, actor
    project.save(update_fields=["archived_at", "archived_by"])
    record(project=project, actor=actor, action="project.archived", obj=project, at=at)
    return project


def _wait_for_members(project: Project) -> None:
    """Lock the roles that grades and verdicts are given by: those under way end first, later ones see what changed."""
    roles = Membership.objects.filter(project=project).select_for_update(no_key=True).order_by("pk")
    list(roles.values_list("pk", flat=True))


@transaction.atomic
def bring_back_project(*, project_id: int, actor: User, at: datetime) -> Project:
    """End the archiving. A project that is not archived stays as it is."""
    project = _to_change(project_id, actor)
    if project.archived_at is None:
        return project
    project.archived_at = project.archived_by = None
    project.save(update_fields=["archived_at", "archived_by"])
    record(project=project, actor=actor, action="project.brought_back", obj=project, at=at)
    return project


@transaction.atomic
def begin_deletion(
    *, project_id: int, typed: str, counts: dict[str, int], actor: User | None, at: datetime
) -> ProjectDeletion:
    """Put on record that the project is deleted, and close it to everybody. `actor` None is the command line.

    `typed` has to be its name, and `counts` are what was in it. There is no way back: from now on the database lets its
    rows be deleted.
    """
    project = _to_change(project_id, actor)
    Refusal.raise_for(rules.deletion_refusal(project, typed), code="name_differs")
    if ProjectDeletion.objects.filter(project=project).exists():
        raise Refusal(f"{project} is being deleted already.", code="being_deleted")
    facts = {"slug": project.slug, "name": project.name, "counts": counts}
    deletion = ProjectDeletion.objects.create(project=project, **facts, requested_by=actor, requested_at=at)
    Membership.objects.live().filter(project=project).update(ended_at=at, ended_by=actor)
    ApiToken.objects.filter(project=project, revoked_at=None).update(revoked_at=at)
    Invitation.objects.filter(project=project, used_at=None, revoked_at=None).update(revoked_at=at)
    record(project=None, actor=actor, action="project.deletion_requested", obj=project, after=facts, at=at)
    return deletion
