"""Imports of Q&As that were reviewed elsewhere, made and taken by the real actions."""

import json
from datetime import datetime

from django.core.files.uploadedfile import SimpleUploadedFile

from apps.accounts.models import Project, User
from apps.corpus.actions import imports
from apps.corpus.enums import ImportState
from apps.corpus.models import Import
from apps.review.actions.elsewhere import draw_elsewhere, take_elsewhere
from apps.triples.models import Triple
from tests.factories import AT, lead_of
from tests.review.factories import reload
from tests.triples.factories import make_question

REASON = "Two editors of the help desk read each of them in October."
REVIEWERS = ["Jun Hallam", "Sef Arden"]


def entry(**more) -> dict:
    """An entry with the words of its review elsewhere; `more` are fields of its metadata, or of the entry itself."""
    evidence = "A session lasts at most eight hours."
    said = {"added_by": "Mara Quill", "reviewed_by": REVIEWERS, "resolution": "consensus"}
    known = {"question", "expected_answer", "expected_block", "id"}
    return {
        "question": make_question(),
        "expected_block": {"block_id": "access", "evidence": evidence},
        "expected_answer": "At most eight hours.",
        "metadata": said | {name: value for name, value in more.items() if name not in known},
    } | {name: value for name, value in more.items() if name in known}


def applied(project: Project, *entries: dict, lead: User | None = None, at: datetime = AT, **options) -> Import:
    lead = lead or lead_of(project)
    file = SimpleUploadedFile("gold.jsonl", b"".join(json.dumps(one).encode() + b"\n" for one in entries))
    item = imports.start_import(
        project=project, kind="triples", file=file, options={"format": "jsonl"} | options, actor=lead, at=at
    )
    item = imports.confirm_import(import_id=item.pk, actor=lead, at=at)
    assert item.state == ImportState.APPLIED, item.plan.get("errors")
    return item


def take_in(item: Import, *, lead: User | None = None, reason: str = REASON, at: datetime = AT) -> Import:
    lead = lead or lead_of(item.project)
    return take_elsewhere(project=item.project, import_id=item.pk, lead=lead, reason=reason, at=at)


def draw_from(item: Import, size: int, *, lead: User | None = None, at: datetime = AT) -> Import:
    lead = lead or lead_of(item.project)
    return draw_elsewhere(project=item.project, import_id=item.pk, lead=lead, size=size, at=at)


def make_elsewhere(project: Project, **more) -> Triple:
    """One that was reviewed elsewhere and is accepted."""
    take_in(applied(project, entry(**more)))
    return reload(Triple.objects.filter(project=project).latest("number"))
