"""Nothing raw is kept: what was planted in a log is nowhere once its import has ended, however it ended."""

import itertools
import random
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote_plus

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.utils import timezone

from apps.accounts.actions.tokens import create_token
from apps.accounts.enums import Scope
from apps.accounts.models import Project
from apps.corpus.actions import imports
from apps.corpus.models import Import, SnapshotBlock
from apps.jobs.actions.jobs import cancel_job
from apps.queries.core.masking import is_luhn
from apps.querylogs import actions
from apps.querylogs.actions import decide, request_runs
from apps.querylogs.models import OfferedQuery, QueryLog
from tests.factories import AT, lead_of, make_project
from tests.querylogs.factories import (
    START,
    VERBS,
    Searched,
    as_csv,
    otlp_json,
    otlp_lines,
    otlp_protobuf,
    searches,
    upload,
)
from tests.running_jobs import run_jobs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
CHANCE = random.Random(11)


def card() -> str:
    while not is_luhn(digits := "4" + "".join(CHANCE.choices("0123456789", k=15))):
        pass
    return digits


def iban() -> str:
    account = "".join(CHANCE.choices("0123456789", k=18))
    check = 98 - int(f"{account}131400") % 97
    return f"DE{check:02}{account}"


KINDS = (
    lambda n: f"person{n}x@mail{n}.example",
    lambda n: f"https://host{n}.example/reset?token=tk{n}q{CHANCE.randrange(10**9)}",
    lambda n: f"203.0.{n // 250 % 250}.{n % 250}",
    lambda n: f"+49 30 {CHANCE.randrange(10**6, 10**7)}",
    lambda n: card(),
    lambda n: iban(),
    lambda n: f"{CHANCE.randrange(100, 900)}-{CHANCE.randrange(10, 99)}-{CHANCE.randrange(1000, 9999)}",
    lambda n: f"{CHANCE.getrandbits(128):032x}",
    lambda n: f"{n + 1000} Planted{''.join(chr(97 + int(digit)) for digit in str(n))} Street",
)


def planted(number: int) -> list[str]:
    kinds = itertools.cycle(KINDS)
    return [next(kinds)(n) for n in range(number)]


def rows_with(values: list[str]) -> list[list[str]]:
    """Each value in a query of its own, some of them asked by enough people; people and addresses are raw too."""
    rows = searches(3_000, people=12)
    for n, value in enumerate(values):
        rows += [
            [f"why was {value} refused", f"planteduser{n}", "2026-08-04T09:00:00", "0", "", f"198.51.100.{n % 250}"]
        ]
    CHANCE.shuffle(rows)
    return rows


def traced(values: list[str], first: int = 0) -> list[Searched]:
    """Each value in a query, in a passage and in what was asked before; people and conversations are raw too.

    Some queries and passages are those of enough people, so that something is kept.
    """
    found = []
    for n, value in enumerate(values, start=first):
        about = {"person": f"planteduser{n}", "conversation": f"plantedtalk{n}", "trace": f"{n:032x}"}
        found.append(Searched(f"why was {value} refused", [("", f"Refused on the day: {value}.")], **about))
        common = [("", f"Call us about it: {value}, or write.")] if n < 300 else []
        later = START + timedelta(minutes=1)
        asked = VERBS[n % 8] + " the key"
        found.append(Searched(asked, common, **about | {"trace": f"{n:031x}f"}, at=later))
    return found


def requests_with(values: list[str]) -> bytes:
    """Each value in the address of a request, encoded; the addresses and browsers of people are raw too."""
    lines = []
    for n, value in enumerate(values):
        who, at = f"198.51.100.{n % 250}", f"04/Aug/2026:{n // 60 % 24:02}:{n % 60:02}:00 +0000"
        for words in (f"why was {value} refused", f"{VERBS[n % 8]} the key"):
            target = f"/search?page=1&q={quote_plus(words)}&planteduser{n}={quote_plus(value)}"
            lines.append(f'{who} - - [{at}] "GET {target} HTTP/1.1" 200 7 "-" "planteduser{n}"')
    return "\n".join(lines).encode()


def taken_from(project: Project, values: list[str], settings) -> Import:
    """The import of traces that a system has sent, half of them as JSON."""
    settings.RECEIVE_TRACES = True
    about = {"name": "Exporter", "at": timezone.now(), "lasts": timedelta(days=1)}
    _, secret = create_token(project=project, user=lead_of(project), scopes=[Scope.TRACES_WRITE], **about)
    for at in range(0, len(values), 100):
        body, kind = traced(values[at : at + 100], at), "application/json" if at % 200 else "application/x-protobuf"
        content = otlp_json(body) if at % 200 else otlp_protobuf(body)
        headers = {"HTTP_AUTHORIZATION": f"Bearer {secret}"}
        assert Client().post("/v1/traces", content, content_type=kind, **headers).status_code == 200
    assert left_of(["plantedtalk"])
    return actions.take_received(project=project, actor=lead_of(project), at=AT)


def bytes_kept() -> Iterator[tuple[str, bytes]]:
    """All that is on disk for this server, and every row of its database."""
    for folder in (Path(settings.DATA_DIR), Path(settings.MEDIA_ROOT)):
        for path in folder.rglob("*"):
            if path.is_file():
                yield str(path), path.read_bytes()
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            yield table, repr(cursor.fetchall()).encode()


def left_of(values: list[str]) -> list[tuple[str, str]]:
    """The values, and parts of them that would tell, with where they are."""
    parts = [value for value in values if len(value) > 6] + ["planteduser", "plantedtalk", "198.51.100."]
    kept = [(where, content.replace(b" ", b"")) for where, content in bytes_kept()]
    return [(part, where) for part in parts for where, content in kept if part.replace(" ", "").encode() in content]


@pytest.mark.parametrize("form", ["table", "traces", "received", "requests"])
@pytest.mark.parametrize("end", ["drawn and read", "discarded", "refused and discarded", "cancelled"])
def test_of_two_thousand_planted_identifiers_none_is_kept(end, form, settings):
    project, values = make_project(), planted(2_000)
    if form == "received":
        item = taken_from(project, values, settings)
        Import.objects.filter(pk=item.pk).update(options=item.options | {"people": 1 if end.startswith("ref") else 5})
    else:
        content = {
            "table": lambda: as_csv(rows_with(values)),
            "traces": lambda: otlp_lines(traced(values)),
            "requests": lambda: requests_with(values),
        }[form]()
        item = upload(project, content, name=f"log.{form}", people=1 if end.startswith("refused") else 5)
    run_jobs()
    item.refresh_from_db()
    assert item.plan["log"]["masked_searches"] == len(values)
    if end == "cancelled":
        imports.confirm_import(import_id=item.pk, actor=lead_of(project), at=AT)
        cancel_job(job_id=Import.objects.get(pk=item.pk).job_id, actor=lead_of(project), at=AT)
    elif end == "discarded":
        imports.discard_import(import_id=item.pk, actor=lead_of(project), at=AT)
    else:
        imports.confirm_import(import_id=item.pk, actor=lead_of(project), at=AT)
        run_jobs()
    if end == "refused and discarded":
        imports.discard_import(import_id=item.pk, actor=lead_of(project), at=AT)
    for offered in OfferedQuery.objects.order_by("position")[:10]:
        decide(offered=offered, step="keep", actor=lead_of(project), at=AT)
    if form in {"traces", "received"} and end.startswith("drawn"):
        request_runs(log_id=QueryLog.objects.get().pk, snapshot=None, actor=lead_of(project), at=AT)
        run_jobs()
        assert SnapshotBlock.objects.exists()

    assert (OfferedQuery.objects.count() > 0) == end.startswith("drawn")
    assert not item.upload.place.exists()
    assert left_of(values) == []


def test_the_search_for_what_is_left_finds_what_is_there():
    project = make_project()
    item = upload(project, as_csv(rows_with(planted(20))))

    assert item.upload.place.exists()
    assert left_of(["planted"])
