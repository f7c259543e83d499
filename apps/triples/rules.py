"""Who may do what to a triple while it is written. Each rule returns the reason why not, or None."""

from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.triples.enums import State
from apps.triples.models import Revision, Triple

NEEDS_LEAD = "Only a lead can do this."


def is_author(person: User, triple: Triple) -> bool:
    return person.pk == triple.author_id


def write_refusal(person: User, revision: Revision) -> str | None:
    """Why `person` may not edit this revision, or None."""
    if revision.submitted_at is not None:
        return "This revision is submitted; its wording is fixed."
    if person.pk != revision.author_id:
        return f"Only {revision.author}, who is writing it, can edit it."
    return None


def withdraw_refusal(person: User, triple: Triple) -> str | None:
    if not is_author(person, triple):
        return f"Only {triple.author}, who wrote it, can withdraw it."
    if triple.state != State.DRAFT:
        return f"It is {State(triple.state).label.lower()}; only a draft can be withdrawn."
    return None


def reopen_refusal(person: User, triple: Triple) -> str | None:
    if not is_author(person, triple):
        return f"Only {triple.author}, who wrote it, can reopen it."
    if triple.state != State.DROPPED:
        return f"It is {State(triple.state).label.lower()}; only a dropped triple can be reopened."
    return None


def retire_refusal(roles: frozenset[str], triple: Triple) -> str | None:
    if Role.LEAD not in roles:
        return NEEDS_LEAD
    if triple.state != State.ACCEPTED:
        return f"It is {State(triple.state).label.lower()}; only an accepted triple can be retired."
    return None
