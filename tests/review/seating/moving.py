"""How seats move in tests."""

from datetime import timedelta

from apps.accounts.actions.projects import set_roles
from apps.accounts.enums import Role
from apps.review.actions.seating import pull_seat, reseat
from tests.factories import AT, lead_of, make_member
from tests.review.factories import make_in_review, reviewers_of

HOUR = timedelta(hours=1)


def set_policy(project, **policies):
    project.policies |= policies
    project.save(update_fields=["policies"])


def pull(project, reviewer, at=AT, **more):
    seat = pull_seat(project=project, reviewer=reviewer, at=at, **more)
    return seat and seat.revision.triple


def give_away(triple, reviewer, successor=None, *, lead=None, reason="On holiday."):
    return reseat(
        project=triple.project,
        triple_id=triple.pk,
        reviewer=reviewer,
        successor=successor,
        lead=lead or lead_of(triple.project),
        reason=reason,
        at=AT,
    )


def end_role(project, user):
    set_roles(project=project, user=user, roles=[], actor=lead_of(project), at=AT)


def with_reviewer_lead(project):
    """A triple in review, a lead who holds its first seat, and the reviewer who holds the second."""
    triple = make_in_review(project)
    lead = make_member(project, Role.LEAD, Role.REVIEWER, name="Both")
    one, two = reviewers_of(triple)
    reseat(
        project=project,
        triple_id=triple.pk,
        reviewer=one,
        successor=lead,
        lead=lead_of(project),
        reason="Holiday.",
        at=AT,
    )
    return triple, lead, two


def people(project):
    """The reviewers of now, by key."""
    return sorted(
        {row.user for row in project.memberships.filter(role=Role.REVIEWER, ended_at=None)}, key=lambda user: user.pk
    )
