"""Creating and revoking the tokens of the API."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.shortcuts import get_object_or_404

from apps.accounts.enums import Scope
from apps.accounts.models import ApiToken, Project, User
from apps.accounts.rules import FormSent, PeopleRefused
from apps.accounts.selectors import own_tokens, roles_of, tokens_of
from apps.common.errors import Refusal
from apps.common.hooks import record
from apps.common.web.tokens import new_token, shown_prefix, token_digest

LONGEST_TOKEN = timedelta(days=365)


@transaction.atomic
def create_token(
    *, project: Project, user: User, name: str, scopes: Sequence[str], at: datetime, lasts: timedelta, key: str = ""
) -> tuple[ApiToken, str]:
    """Create an API token and return it with its secret, which is shown once and stored as a digest.

    `key` is the form's: sent again it creates no second token and returns the first one, unless that has ended.
    """
    unknown = sorted(set(scopes) - set(Scope.values))
    if unknown or not scopes:
        raise Refusal(f"Choose scopes from: {', '.join(Scope.values)}.", code="scopes")
    if not timedelta(0) < lasts <= LONGEST_TOKEN:
        raise Refusal("A token lasts between one day and 365 days.", code="token_life")
    if not roles_of(user, project):
        raise PeopleRefused("Only members of a project can have its tokens.")
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
def revoke_token(*, token_id: int, user: User, at: datetime, project: Project | None = None) -> ApiToken:
    """Revoke a token of one's own, of this project where one is named. Raises Http404 for any other."""
    own = ApiToken.objects.filter(user=user) if project is None else tokens_of(user, project)
    token = get_object_or_404(own.select_for_update(of=("self",)).select_related("project"), pk=token_id)
    if token.revoked_at is None:
        token.revoked_at = at
        token.save(update_fields=["revoked_at"])
        record(project=token.project, actor=user, action="token.revoked", obj=token, at=at)
    return token


@transaction.atomic
def revoke_tokens(*, user: User, actor: User | None, at: datetime) -> int:
    """Revoke all tokens of a person, in every project. Returns how many worked until now."""
    tokens = list(own_tokens(user, at).select_for_update(of=("self",)))
    ApiToken.objects.filter(user=user, revoked_at=None).update(revoked_at=at)
    for token in tokens:
        record(project=token.project, actor=actor, action="token.revoked", obj=token, at=at)
    return len(tokens)
