"""What an import of triples has made, and what of it nobody has touched."""

from collections.abc import Callable

from django.db.models import Exists, OuterRef, Q, QuerySet

from apps.common.discovery import Registered
from apps.corpus.models import Import
from apps.triples.enums import ELSEWHERE, State
from apps.triples.models import Revision, Triple

FIRST_SAVED = 1
"""The edit version of a draft as its import made it."""

rests_on_accepted: Registered[Callable[[QuerySet[Triple]], str | None]] = Registered()
"""Says, in a sentence, what rests on these accepted triples, so that the import they came with stays; None: nothing."""


def made_by(item: Import) -> QuerySet[Triple]:
    """The triples that an applied import made and that are not withdrawn yet; it gave them its own time and person."""
    assert item.applied_at is not None
    made = Triple.objects.filter(
        project=item.project, imported__imported_by=item.applied_by_id, imported__imported_at=item.applied_at
    )
    return made.exclude(state=State.WITHDRAWN)


def untouched_of(item: Import) -> QuerySet[Triple]:
    """The drafts and candidates of an import that nobody has edited, adopted or submitted."""
    return made_by(item).filter(state=State.DRAFT, round=0, adopted_by=None, edit_version=FIRST_SAVED)


def reviewed_elsewhere(item: Import) -> QuerySet[Triple]:
    """Those of them whose file says who reviewed them: a lead may take them as accepted. Never what a machine wrote."""
    return untouched_of(item).filter(is_machine_written=False, imported__claims__has_key="reviewed_by")


def taken_of(item: Import) -> QuerySet[Triple]:
    """The triples of an import that were taken as accepted, and have not been drawn, changed or retired since."""
    taken = made_by(item).filter(state=State.ACCEPTED, resolution=ELSEWHERE, is_stale=False, sampled_at=None)
    return taken.exclude(Exists(Revision.objects.filter(triple=OuterRef("pk"), number__gt=1)))


def begun_of(item: Import) -> QuerySet[Triple]:
    """The triples of an import on which people have gone on, by submitting or reviewing them."""
    made = made_by(item)
    is_draft = Q(state=State.DRAFT, round=0)
    return made.exclude(is_draft).exclude(pk__in=taken_of(item).values("pk"))
