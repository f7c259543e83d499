"""The export of triples, on record."""

from collections.abc import Iterator
from datetime import datetime

from apps.accounts.models import User
from apps.audit.actions import record
from apps.review.selectors.exports import Selection, WrongExport
from apps.triples.formats import WRITTEN, write_entries


def export_triples(selection: Selection, *, form: str, actor: User | None, at: datetime) -> Iterator[bytes]:
    """The bytes of the file, streamed. The export is recorded before the first of them."""
    if form not in WRITTEN:
        raise WrongExport(
            f"“{form[:40]}” is not a file format. Known formats are {', '.join(WRITTEN)}.", code="unknown_form"
        )
    project = selection.project
    after = {"format": form, "state": selection.state}
    record(project=project, actor=actor, action="triples.exported", obj=project, after=after, at=at)
    return write_entries(selection.entries(), format=form)
