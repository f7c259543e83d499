"""A project's file as a test takes it, and takes it in elsewhere."""

import io
import json

from apps.accounts.selectors import membership_in
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile as File
from apps.review.actions.exporting import export_triples
from apps.review.selectors.exports import Selection
from apps.triples.actions.imports import import_triples
from apps.triples.formats import read_entries
from tests.factories import AT, lead_of


def exported(project, state="accepted", *, person=None, form="jsonl") -> bytes:
    member = membership_in(person, project.slug) if person else None
    selection = Selection(project, state, member=member, at=AT)
    return b"".join(export_triples(selection, form=form, actor=None, at=AT))


def left_out(project, state="accepted"):
    return [left.sentence for left in Selection(project, state, member=None, at=AT).left_out()]


def entries(project, state="accepted", **options):
    return [json.loads(line) for line in exported(project, state, **options).splitlines()]


def take(project, data: bytes, form="jsonl"):
    file, errors = File("gold", io.BytesIO(data)), ErrorList()
    rows = read_entries(file, errors, format=form)
    return import_triples(project=project, rows=rows, file=file, errors=errors, actor=lead_of(project), at=AT)
