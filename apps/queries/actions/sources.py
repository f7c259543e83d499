"""Actions on sources and the permissions under which they may be used."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from django.db import transaction
from django.urls import reverse
from django.utils.text import slugify

from apps.accounts.actions.projects import change_project
from apps.accounts.models import Project, User
from apps.accounts.selectors import policy
from apps.audit.actions import record
from apps.common.errors import Refusal
from apps.common.text.wording import plural
from apps.jobs.enums import WebhookEvent
from apps.jobs.execution.mailing import absolute
from apps.jobs.execution.outbox import post_to_webhooks
from apps.queries import rules, selectors
from apps.queries.actions.queries import retire_row
from apps.queries.enums import SourceKind
from apps.queries.models import LONGEST_NAME, LONGEST_SLUG, Permission, Query, Source


class SourceRefused(Refusal):
    """A source cannot be created, or a permission cannot be revoked."""


@transaction.atomic
def create_source(
    *,
    project: Project,
    name: str,
    kind: str,
    actor: User,
    at: datetime,
    slug: str = "",
    target_share: float | None = None,
) -> Source:
    slug = slug or slugify(name)[:LONGEST_SLUG]
    if not slug:
        raise SourceRefused("A source needs a name with a letter or a digit in it.", code="source_unnamed")
    if Source.objects.filter(project=project, slug=slug).exists():
        raise SourceRefused(f"This project already has a source {slug}.", code="source_exists")
    source = Source.objects.create(
        project=project, slug=slug, name=name.strip(), kind=kind, target_share=target_share, created_at=at
    )
    after = {"slug": slug, "kind": str(kind), "target_share": target_share}
    record(project=project, actor=actor, action="source.created", obj=source, after=after, at=at)
    return source


def make_named_source(*, project: Project, name: str, actor: User, at: datetime) -> int:
    """The key of a new source for a name in a file. Its kind is the one that is called so, else query log."""
    kinds = {word.casefold(): value for value, label in SourceKind.choices for word in (value, label)}
    kind = kinds.get(name.casefold(), SourceKind.QUERY_LOG)
    return create_source(project=project, name=name[:LONGEST_NAME], kind=kind, actor=actor, at=at).pk


@transaction.atomic
def edit_source(
    *, source_id: int, name: str, kind: str, target_share: float | None, actor: User, at: datetime
) -> Source:
    source = Source.objects.select_for_update().get(pk=source_id)
    before = {"name": source.name, "kind": source.kind, "target_share": source.target_share}
    after = {"name": name.strip(), "kind": str(kind), "target_share": target_share}
    if before == after:
        return source
    source.name, source.kind, source.target_share = name.strip(), kind, target_share
    source.save(update_fields=["name", "kind", "target_share"])
    record(
        project=source.project,
        actor=actor,
        action="source.edited",
        obj=source,
        before=before,
        after=after,
        at=at,
    )
    return source


def set_targets(*, project: Project, targets: Mapping[str, Mapping[str, float]], actor: User, at: datetime) -> Project:
    """Set the shares aimed at by value of a property, 0 to 1; those of a property that is not named stay."""
    former = policy(project, "balance_targets")
    kept = {name: {value: share for value, share in shares.items() if share} for name, shares in targets.items()}
    policies = {"balance_targets": {**former, **kept}}
    return change_project(project_id=project.pk, policies=policies, actor=actor, at=at)


@transaction.atomic
def grant_permission(
    *,
    source_id: int,
    owner: str,
    scope: str,
    actor: User,
    at: datetime,
    evidence: str = "",
    licence: str = "",
    granted_at: datetime | None = None,
    expires_at: datetime | None = None,
) -> Permission:
    """Record the terms under which a source may be used. The latest valid permission counts.

    Its own terms again are that permission: a request that is sent twice records one.
    """
    source = Source.objects.select_for_update().get(pk=source_id)
    terms = {
        "owner": owner.strip(),
        "scope": scope,
        "evidence": evidence.strip(),
        "licence": licence.strip(),
        "expires_at": expires_at,
    }
    standing = selectors.valid_permission(source, at)
    if standing is not None and granted_at is None and all(getattr(standing, name) == terms[name] for name in terms):
        return standing
    permission = Permission.objects.create(source=source, granted_at=granted_at or at, **terms)
    after = {"source": source.slug, "owner": permission.owner, "scope": str(scope), "expires_at": expires_at}
    record(project=source.project, actor=actor, action="permission.granted", obj=permission, after=after, at=at)
    return permission


class Resting(NamedTuple):
    """So many things of a kind, in words such as "12 accepted Q&As", and what happens to them: "are retired"."""

    words: str
    fate: str


class RestsOn(Protocol):
    """Tells what rests on a source, and does what has to be done once the source may not be used any more."""

    def preview(self, source: Source) -> Sequence[Resting]: ...

    def act(self, source: Source, *, actor: User, at: datetime) -> Sequence[Resting]:
        """Returns what it did, to be told beside the queries."""


_resting: list[Callable[[], RestsOn]] = []


def rests_on_permissions(what: Callable[[], RestsOn]) -> None:
    """Register a class of those that tell and act."""
    if what not in _resting:
        _resting.append(what)


def resting_on(source: Source) -> list[Resting]:
    """What rests on the source beside its queries, in the order of registration."""
    return [row for what in _resting for row in what().preview(source)]


def retire_resting(source: Source, *, actor: User, at: datetime) -> list[Resting]:
    """What was done to all that rests on the source, in the order of registration."""
    return [row for what in _resting for row in what().act(source, actor=actor, at=at)]


class Revoked(NamedTuple):
    """What a revocation did: the queries it retired, and what else rested on the source."""

    queries: list[Query]
    resting: list[Resting]
    has_another: bool = False

    @property
    def sentence(self) -> str:
        if self.has_another:
            return "The permission is revoked. The source has another valid one, so nothing is retired."
        number = len(self.queries)
        rows = [Resting(plural(number, "query", "queries"), "is retired" if number == 1 else "are retired")]
        told = [f"{row.words}: {row.fate}" for row in [*(rows if number else []), *self.resting]]
        return f"The permission is revoked. {'; '.join(told) or 'Nothing rested on it'}."


@transaction.atomic
def revoke_permission(*, permission_id: int, reason: str, actor: User, at: datetime) -> Revoked:
    """Revoke a permission. If the source has no other valid one, its live queries are retired, and what else rests on
    it follows: what apps above this one registered with `rests_on_permissions`. Returns all that was done.
    """
    permission = Permission.objects.select_for_update().select_related("source__project").get(pk=permission_id)
    SourceRefused.raise_for(rules.revoke_refusal(permission, reason), code="permission_not_revocable")
    permission.revoked_at, permission.revoked_by = at, actor
    permission.revocation_reason = reason.strip()
    permission.save(update_fields=["revoked_at", "revoked_by", "revocation_reason"])
    source = permission.source
    after = {"source": source.slug, "owner": permission.owner, "reason": permission.revocation_reason}
    record(project=source.project, actor=actor, action="permission.revoked", obj=permission, after=after, at=at)
    has_another = selectors.valid_permission(source, at) is not None
    _tell_webhooks(source, has_another, at)
    if has_another:
        return Revoked([], [], has_another=True)
    live = Query.objects.select_for_update().filter(source=source, retired_at=None).order_by("pk")
    reason = f"permission of {permission.owner} revoked"
    retired = [retire_row(query, reason, actor, at) for query in live]
    return Revoked(retired, retire_resting(source, actor=actor, at=at))


def _tell_webhooks(source: Source, has_another: bool, at: datetime) -> None:
    """Neither the owner nor the reason goes out: both may name people."""
    path = reverse("queries:source", args=[source.project.slug, source.pk])
    facts = {"source": source.slug, "has_another_permission": has_another, "url": absolute(path)}
    post_to_webhooks(project=source.project, event=WebhookEvent.PERMISSION, facts=facts, at=at)
