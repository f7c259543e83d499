"""The page of the server, for operators: is everything all right, who is there, what it stores and is set to."""

import os
import platform
import re
import tomllib
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import django
from django.conf import settings
from django.contrib import messages
from django.db import connection
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access.pages import PersonRequest, operator_view
from apps.accounts.selectors import account_counts
from apps.backups.actions.backups import request_backup
from apps.backups.selectors.backups import BackupStanding, newest_backups, standing
from apps.common.database.batched_reads import once, reading_once
from apps.common.database.schema import SchemaGap, migrations_known, schema_gap
from apps.common.drawing.charts import svg
from apps.common.drawing.svg import tag, title
from apps.common.files.private import KEYS
from apps.common.text.wording import size
from apps.dashboard.actions.projects import request_clearing, request_measurement, send_test_mail
from apps.dashboard.core.checkup import headline, summary
from apps.dashboard.core.settings_table import SettingInForce, table, variables_set_by_up
from apps.dashboard.core.storage import KINDS, Measured, StorageKind, pace
from apps.dashboard.pages.health import NAMES, check_up, database_version
from apps.dashboard.selectors import Measurements, largest_projects, measurements
from apps.jobs.actions.notifications import send_mail_again
from apps.jobs.enums import DeliveryKind
from apps.jobs.selectors.watching import jobs_by_kind, unsent, workers_seen


class VersionOf(NamedTuple):
    what: str
    version: str
    note: str = ""


def versions(gap: SchemaGap) -> list[VersionOf]:
    """Karat, what it runs on, and whether the tables are those of this version; one statement."""
    fits = f"The tables are {gap.words}." if gap.words else "as this version expects"
    return [
        VersionOf("Karat", settings.VERSION),
        VersionOf("Python", platform.python_version(), platform.python_implementation()),
        VersionOf("Django", django.get_version()),
        VersionOf(NAMES[connection.vendor], database_version(), "database"),
        VersionOf("Tables", f"{migrations_known()} migrations", fits),
        VersionOf("Operating system", f"{platform.system()} {platform.release()}", platform.machine()),
    ]


@cache
def libraries() -> list[VersionOf]:
    """Those that `pyproject.toml` names and that are installed, Django aside; read once."""
    project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    names = [re.split(r"[\[<>=]", one)[0] for one in chain(project["dependencies"], *extras)]
    found = []
    for name in names:
        if name == "Django":
            continue
        try:
            found.append(VersionOf(name, version(name)))
        except PackageNotFoundError:
            continue
    return found


def settings_in_force() -> list[SettingInForce]:
    """Every setting and where it comes from; of secrets only whether they are set."""
    folder = Path(settings.DATA_DIR)
    files = frozenset(name for name in KEYS if (folder / name).is_file())
    return table(settings, os.environ, chosen=variables_set_by_up(os.environ), files=files)


WIDTH, HEIGHT, LEAST = 592.0, 16.0, 2.0


def storage_bar(
    name: str, sizes: Mapping[str, int], clearable: Mapping[str, int], *, used: int, total: int
) -> SafeString:
    """`sizes` and `clearable` by kind; last what others take of the disk, of which `used` bytes are used in all.

    What is there at all is seen, however small its share of the disk is.
    """
    parts, at = [tag("rect", class_="disk", x=0.5, y=0.5, width=WIDTH - 1, height=HEIGHT - 1)], 0.0
    for kind, octets in sizes.items():
        can_go = min(clearable.get(kind, 0), octets)
        for css, amount, words in (
            (f"store-{kind}", octets - can_go, ""),
            ("store-clear", can_go, " can be cleared"),
        ):
            if not amount:
                continue
            width = min(max(LEAST, WIDTH * amount / max(total, 1)), WIDTH - at)
            label = title(f"{KINDS[kind].title}: {size(amount)}{words}")
            parts.append(tag("rect", label, class_=css, x=at, y=0.0, width=width, height=HEIGHT))
            at += width + 1
    if others := max(0, used - sum(sizes.values())):
        width = min(WIDTH * others / max(total, 1), max(0.0, WIDTH - at))
        label = title(f"Other than Karat: {size(others)}")
        parts.append(tag("rect", label, class_="store-others", x=at, y=0.5, width=width, height=HEIGHT - 1))
    return svg(WIDTH, HEIGHT, name, parts, fluid=True)


SEEN_LATELY = timedelta(days=30)


class StorageRow(NamedTuple):
    """Bytes of one kind, and those of them that can be cleared."""

    name: str
    kind: StorageKind
    size: int
    clearable: int


@operator_view
@require_safe
def server(request: PersonRequest) -> HttpResponse:
    return _page(request, thoroughly=False)


@operator_view
@require_POST
def check_server(request: PersonRequest) -> HttpResponse:
    """The page with every check, those that ask other servers included. It takes some seconds, and changes nothing."""
    return _page(request, thoroughly=True)


@operator_view
@require_POST
def measure_server(request: PersonRequest) -> HttpResponse:
    request_measurement(actor=request.user, at=timezone.now())
    messages.success(request, "A worker measures what is stored. The figures are here in some seconds.")
    return redirect("dashboard:server")


@operator_view
@require_POST
def clear_storage(request: PersonRequest, kind: str) -> HttpResponse:
    request_clearing(kind=kind, actor=request.user, at=timezone.now())
    messages.success(request, f"{KINDS[kind].title}: a worker clears what is not in use.")
    return redirect("dashboard:server")


@operator_view
@require_POST
def back_up_now(request: PersonRequest) -> HttpResponse:
    request_backup(actor=request.user, at=timezone.now())
    messages.success(request, "A worker makes a backup and verifies it. It takes a minute or more.")
    return redirect("dashboard:server")


@operator_view
@require_POST
def test_mail(request: PersonRequest) -> HttpResponse:
    send_test_mail(actor=request.user, at=timezone.now())
    messages.success(request, f"A test is on its way to {request.user.email}.")
    return redirect("dashboard:server")


@operator_view
@require_POST
def send_mail(request: PersonRequest) -> HttpResponse:
    """Retry the mails that failed, at once."""
    number = send_mail_again(actor=request.user, at=timezone.now())
    if number:
        messages.success(request, f"A worker sends {number:,} again, within some seconds.")
    else:
        messages.warning(request, "No mail is left to send: links that work once are erased when they are given up.")
    return redirect("dashboard:server")


def _page(request: PersonRequest, *, thoroughly: bool) -> HttpResponse:
    with reading_once():  # the checks and the tables look at the same rows
        return render(request, "dashboard/server.html", _context(timezone.now(), thoroughly))


def _context(now: datetime, thoroughly: bool) -> dict[str, Any]:
    checks = check_up(at=now, thoroughly=thoroughly)
    known = settings_in_force()
    return {
        "section": "Server",
        "now": timezone.localtime(now),
        "site": urlsplit(settings.PUBLIC_URL).netloc,
        "thoroughly": thoroughly,
        "checks": checks,
        "headline": headline(checks),
        "summary": summary(checks),
        "accounts": account_counts(seen_since=now - SEEN_LATELY),
        "has_mail_server": bool(settings.EMAIL_HOST),
        "versions": versions(once("schema", schema_gap)),
        "libraries": libraries(),
        "settings_set": [one for one in known if not one.is_default],
        "settings_default": [one for one in known if one.is_default],
        **_jobs(now),
        **_storage(measurements(now)),
        **_backups(standing(now)),
    }


def _jobs(now: datetime) -> dict[str, Any]:
    mail = unsent(DeliveryKind.MAIL, now)
    rows = jobs_by_kind(now)
    return {
        "jobs": rows,
        "waiting": sum(row.waiting for row in rows),
        "running": sum(row.running for row in rows),
        "workers": workers_seen(),
        "unsent_mail": mail.failing + mail.given_up,
        "queues": [("Mail", mail), ("Webhooks", unsent(DeliveryKind.WEBHOOK, now))],
    }


def _storage(known: Measurements) -> dict[str, Any]:
    last, before = known.last, known.before
    context: dict[str, Any] = {"measured": last, "measuring": known.now}
    if last is None:
        return context
    found = last.measured
    projects = largest_projects(found.projects)
    return context | {
        "storage": storage_rows(found),
        "bar": _bar(found),
        "pace": pace(before.measured, found, (last.at - before.at) / timedelta(days=1)) if before else "",
        "projects": projects,
        "more_projects": len(found.projects) - len(projects),
    }


def storage_rows(found: Measured) -> list[StorageRow]:
    """The kinds that take room, in the order in which they are drawn."""
    return [
        StorageRow(name, kind, found.sizes.get(name, 0), found.clearable.get(name, 0))
        for name, kind in KINDS.items()
        if found.sizes.get(name, 0)
    ]


def _bar(found: Measured) -> SafeString:
    used = found.total - found.free
    name = f"{size(used)} of {size(found.total)} are used; by Karat, by kind"
    return storage_bar(name, found.on_disk, found.clearable, used=used, total=found.total)


def _backups(found: BackupStanding) -> dict[str, Any]:
    every = timedelta(hours=settings.BACKUP_HOURS)
    return {
        "backup": found,
        "backups": newest_backups(),
        "backup_folder": settings.BACKUP_TO,
        "backup_keep": settings.BACKUP_KEEP,
        "next_backup": found.made_at + every if settings.BACKUP_TO and found.made_at else None,
    }
