"""The jobs that fill a demo project, and that measure and clear what is stored."""

import os
import shutil
import socket
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.cache import caches
from django.db import connection
from django.db.models import Count, Model, Sum

from apps.accounts.models import Project
from apps.backups.models import Backup
from apps.common.files.private import SQLITE_SUFFIXES
from apps.corpus.models import Block
from apps.dashboard.core.storage import BACKUPS, DATABASE, FIGURES, FOLDERS, INDEXES, REST, Measured, ProjectSize
from apps.dashboard.enums import CLEAR_STORAGE, LOAD_DEMO, MEASURE_SERVER
from apps.dashboard.execution.demo.loader import load_demo
from apps.dashboard.execution.demo.stage import stage_of
from apps.jobs.enums import UploadState
from apps.jobs.execution.context import JobContext, JobFailed
from apps.jobs.models import Upload
from apps.jobs.selectors.job_kinds import job_kind
from apps.judging.models import Judgement
from apps.queries.models import Query
from apps.retrieval.execution.indexes import clear_resting_indexes, resting_indexes
from apps.retrieval.models import Run
from apps.triples.models import Triple

COUNTED: tuple[tuple[type[Model], str], ...] = (
    (Block, "corpus__project"),
    (Query, "project"),
    (Triple, "project"),
    (Judgement, "round__project"),
    (Run, "project"),
)
"""What is counted of each project, in the order of the fields of ProjectSize."""


def measure(at: datetime) -> Measured:
    """What this machine and the database store. Walks folders and counts rows: for a worker, not for a page."""
    folder = Path(settings.DATA_DIR)
    total, _, free = shutil.disk_usage(folder)
    database = _database_files()
    is_beside = any(path.is_relative_to(folder) for path in database)
    sizes = dict.fromkeys((*FOLDERS.values(), REST), 0)
    for entry in os.scandir(folder):
        if Path(entry.path) not in database:
            sizes[FOLDERS.get(entry.name, REST)] += bytes_below(entry)
    sizes[DATABASE] = _database_bytes(database)
    sizes[BACKUPS] = Backup.objects.filter(removed_at=None).aggregate(size=Sum("size"))["size"] or 0
    resting = sum(index.size for index in resting_indexes(at))
    clearable = {INDEXES: resting, FIGURES: sizes[FIGURES]}
    return Measured(socket.gethostname(), total, free, is_beside, sizes, clearable, project_sizes())


def clear(kind: str, at: datetime) -> None:
    """Remove what can be cleared of this kind: all of it is made again when it is needed."""
    if kind == INDEXES:
        clear_resting_indexes(at)
    elif kind == FIGURES:
        caches["default"].clear()


def project_sizes() -> dict[int, ProjectSize]:
    """The size of every project, by one statement for each thing that is counted."""
    counts = [_by_project(model, path) for model, path in COUNTED]
    uploads = (
        Upload.objects.exclude(state=UploadState.DISCARDED).order_by().values_list("project").annotate(n=Sum("size"))
    )
    numbers: list[Mapping[int, int]] = [*counts, dict(uploads)]
    keys = Project.objects.order_by("pk").values_list("pk", flat=True)
    return {key: ProjectSize(*(found.get(key, 0) for found in numbers)) for key in keys}


def _by_project(model: Any, path: str) -> dict[int, int]:
    return dict(model.objects.order_by().values_list(path).annotate(n=Count("pk")))


def bytes_below(entry: os.DirEntry[str]) -> int:
    """The bytes of a file, or of all files below a folder. Links are not followed, and what vanishes counts nothing."""
    try:
        if entry.is_dir(follow_symlinks=False):
            with os.scandir(entry) as inside:
                return sum(bytes_below(one) for one in inside)
        return entry.stat(follow_symlinks=False).st_size
    except OSError:
        return 0


def _database_files() -> list[Path]:
    """The files of SQLite; none where the database is a server."""
    if connection.vendor != "sqlite":
        return []
    file = Path(connection.settings_dict["NAME"])
    return [file.with_name(file.name + suffix) for suffix in SQLITE_SUFFIXES]


def _database_bytes(files: list[Path]) -> int:
    if files:
        return sum(path.stat().st_size for path in files if path.exists())
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        return int(cursor.fetchone()[0])


@job_kind(LOAD_DEMO, title="Load the demo project")
def fill_demo(ctx: JobContext) -> dict[str, Any]:
    if ctx.project is None or ctx.actor is None:
        raise JobFailed("A demo needs a project and a host.")
    load_demo(stage_of(ctx.project, ctx.actor), ctx)
    return {}


@job_kind(MEASURE_SERVER, title="Measure what is stored")
def measure_server(ctx: JobContext) -> dict[str, Any]:
    return measure(ctx.at).as_json()


@job_kind(CLEAR_STORAGE, title="Clear what can be made again")
def clear_storage(ctx: JobContext) -> dict[str, Any]:
    clear(ctx.params["kind"], ctx.at)
    return measure(ctx.at).as_json()
