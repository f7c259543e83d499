"""Who may do what to a triple while it is written. Each rule returns the reason against it, or None."""

from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.common.text.wording import plural
from apps.triples.enums import LIVE, State
from apps.triples.models import Revision, Triple

NEEDS_LEAD = "Only a lead can do this."
MOST_RETIRED = 5_000
WRITTEN_BY_MACHINE = "A machine wrote it. A person must adopt it first."
NEEDS_WRITER = "Only annotators and leads of this project can write Q&As."
QUERY_GONE = "The query of this Q&A is no longer here: its import was undone. Start from another query, or without one."
WRITERS = (Role.ANNOTATOR, Role.LEAD)
"""Who may write Q&As."""
READERS = (Role.ANNOTATOR, Role.REVIEWER, Role.LEAD)
"""Who may read them before a version has them."""


def is_author(person: User, triple: Triple) -> bool:
    """Whether they wrote it: its author, or who writes on what somebody outside of the project had written."""
    if person.pk == triple.author_id:
        return True
    return triple.author.is_placeholder and person.pk == triple.revision.author_id


def writer_refusal(roles: frozenset[str]) -> str | None:
    """Why somebody with these roles may not write here: former authors, and those who now only read, may not."""
    return None if roles & set(WRITERS) else NEEDS_WRITER


def write_refusal(person: User, revision: Revision) -> str | None:
    """Why `person` may not edit this revision, or None."""
    if revision.submitted_at is not None:
        return "This revision is submitted, so its wording cannot be changed."
    if revision.triple.state == State.WITHDRAWN:
        return "This draft is withdrawn, so its wording cannot be changed. Start a new one with what you need."
    if revision.triple.is_candidate:
        return WRITTEN_BY_MACHINE
    if person.pk != revision.author_id:
        return f"Only {revision.author}, who is writing it, can edit it."
    return None


def withdraw_refusal(person: User, roles: frozenset[str], triple: Triple) -> str | None:
    """Why `person` may not give up this draft, or None; a candidate has no author who could."""
    if triple.is_candidate:
        return WRITTEN_BY_MACHINE
    if not is_author(person, triple):
        return f"Only {triple.author}, who wrote it, can withdraw it."
    if triple.state != State.DRAFT:
        return f"It is {State(triple.state).label.lower()}; only a draft can be withdrawn."
    return writer_refusal(roles)


NONE_UNTOUCHED = "Somebody has edited, adopted or submitted each of these drafts, so their authors decide about them."


def undo_refusal(*, begun: int, adopted: int, edited: int) -> str | None:
    """Why an import of triples cannot be undone: so many have left their first draft, were adopted, or edited since."""
    if begun:
        gone_on = plural(begun, "Q&A")
        return f"Submitted or drawn for review since: {gone_on}. Their author can withdraw the drafts that are left."
    if adopted:
        return f"Adopted since: {plural(adopted, 'Q&A')}. Their authors can withdraw them; then the rest can be undone."
    if edited:
        return f"Edited since: {plural(edited, 'Q&A')}. Their author can withdraw them; then the rest can be undone."
    return None


def reopen_refusal(person: User, roles: frozenset[str], triple: Triple) -> str | None:
    """Why `person` may not reopen this dropped triple, or None."""
    if not is_author(person, triple):
        return f"Only {triple.author}, who wrote it, can reopen it."
    if triple.state != State.DROPPED:
        return f"It is {State(triple.state).label.lower()}; only a dropped Q&A can be reopened."
    return writer_refusal(roles)


def retire_refusal(roles: frozenset[str], triple: Triple) -> str | None:
    """Why somebody with these roles may not retire this triple, or None."""
    if Role.LEAD not in roles:
        return NEEDS_LEAD
    if triple.state != State.ACCEPTED:
        return f"It is {State(triple.state).label.lower()}; only an accepted Q&A can be retired."
    return None


def describe_refusal(roles: frozenset[str], triple: Triple) -> str | None:
    """Why somebody with these roles may not give this triple another source or domain, or None."""
    if Role.LEAD not in roles:
        return NEEDS_LEAD
    if triple.state not in LIVE:
        return f"It is {State(triple.state).label.lower()}; its source and domain stay as they are."
    return None


def too_many_to_retire(number: int) -> str:
    return f"These are {number:,} Q&As; at most {MOST_RETIRED:,} are retired at once. Select some of them."


def candidate_refusal(roles: frozenset[str], triple: Triple) -> str | None:
    """Why somebody with these roles may neither adopt nor reject this triple, or None: both need the same."""
    if not triple.is_machine_written:
        return "A person wrote it; there is nothing to adopt."
    if triple.adopted_by is not None:
        return f"{triple.adopted_by} has adopted it."
    if triple.state != State.DRAFT:
        return f"It is {State(triple.state).label.lower()}; only a candidate can be adopted or rejected."
    return writer_refusal(roles)
