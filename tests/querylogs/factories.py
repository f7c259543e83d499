"""Search logs for tests: rows as people search, and logs drawn from them by the real import."""

import csv
import io
import random
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from django.core.files.uploadedfile import SimpleUploadedFile

from apps.accounts.models import Project
from apps.corpus.actions import imports
from apps.corpus.models import Import
from apps.querylogs.models import QueryLog
from tests.factories import AT, lead_of

HEADINGS = ("q", "uid", "ts", "hits", "clicked", "ip")
OPTIONS = {
    "name": "Search log, August",
    "source": "",
    "people": 5,
    "wanted": 20,
    "plan": "balanced",
    "seed": 7,
    "first_row": "",
}
TERMS = ("key", "archive", "invoice", "badge", "laptop", "policy", "visitor", "password", "backup", "contract")
VERBS = ("rotate", "open", "reset", "return", "find", "change", "lose", "renew")
START = datetime(2026, 8, 4, 9)


def searches(number: int, *, seed: int = 1, people: int = 40) -> list[list[str]]:
    """Rows of a log: few queries often and many seldom; one query in eight finds nothing."""
    chance = random.Random(seed)
    asked = [f"{verb} {term}" for term in TERMS for verb in VERBS]
    shares = [1 / (place + 1) for place in range(len(asked))]
    rows = []
    for place, query in enumerate(chance.choices(asked, shares, k=number)):
        hits = 0 if asked.index(query) % 8 == 3 else chance.randint(1, 40)
        at = START + timedelta(minutes=place)
        person = f"u{chance.randrange(people)}"
        rows.append([query, person, at.isoformat(), str(hits), "", f"10.0.0.{chance.randrange(250)}"])
    return rows


def as_csv(rows: Iterable[Sequence[str]], headings: Sequence[str] = HEADINGS) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows([headings, *rows])
    return out.getvalue().encode()


def upload(project: Project, content: bytes, *, name: str = "searches.csv", **options) -> Import:
    return imports.start_import(
        project=project,
        kind="log",
        file=SimpleUploadedFile(name, content),
        options=OPTIONS | options,
        actor=lead_of(project),
        at=AT,
    )


def draw(item: Import) -> QueryLog:
    applied = imports.confirm_import(import_id=item.pk, actor=lead_of(item.project), at=AT)
    assert not applied.failure, applied.failure
    return QueryLog.objects.filter(project=item.project, created_at=applied.applied_at).latest("pk")


def make_log(project: Project, *, rows: int = 900, **options) -> QueryLog:
    return draw(upload(project, as_csv(searches(rows)), **options))
