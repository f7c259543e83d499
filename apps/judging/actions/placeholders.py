"""Saying which member is the person behind a name in imported files, and taking that back."""

from datetime import datetime

from django.db import transaction

from apps.accounts.models import Project, User
from apps.accounts.selectors import members_of
from apps.audit.actions import record
from apps.common.errors import Refusal
from apps.judging import rules
from apps.judging.models import PlaceholderClaim
from apps.judging.selectors.placeholders import live_claims, shared_pairs


class ClaimRefused(Refusal):
    """A placeholder cannot be joined to this member."""


@transaction.atomic
def claim_placeholder(
    *, project: Project, placeholder: User, member_id: int, actor: User, at: datetime
) -> PlaceholderClaim:
    """Record that a member is the person behind a name. Its grades stay under the name; none changes.

    From now on the member counts as one of the judges of these pairs. Refused where both have judged one pair: two
    judges of it would be one person.
    """
    project = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    member = members_of(project).filter(pk=member_id).first()
    if member is None:
        raise ClaimRefused("Choose a member of this project.", code="not_a_member")
    earlier = live_claims(project).filter(placeholder=placeholder).select_related("member").first()
    refusal = rules.claim_refusal(
        placeholder, member, earlier.member if earlier else None, shared_pairs(project, placeholder, member)
    )
    if refusal:
        raise ClaimRefused(refusal, code="not_claimable")
    claim = PlaceholderClaim.objects.create(
        project=project, placeholder=placeholder, member=member, claimed_by=actor, claimed_at=at
    )
    after = {"placeholder": placeholder.name, "member": member.pk}
    record(project=project, actor=actor, action="placeholder.claimed", obj=claim, after=after, at=at)
    return claim


@transaction.atomic
def end_claim(*, project: Project, placeholder: User, actor: User, at: datetime) -> PlaceholderClaim:
    """Take back that a member is the person behind a name."""
    claim = live_claims(project).select_for_update().filter(placeholder=placeholder).first()
    if claim is None:
        raise ClaimRefused(f"{placeholder.name} is not joined to a member.", code="not_claimed")
    claim.ended_by, claim.ended_at = actor, at
    claim.save(update_fields=["ended_by", "ended_at"])
    before = {"placeholder": placeholder.name, "member": claim.member_id}
    record(project=project, actor=actor, action="placeholder.claim_ended", obj=claim, before=before, at=at)
    return claim
