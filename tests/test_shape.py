"""What is true of the whole: the ladder of apps, migrations, guards, lock files."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from django.apps import apps as registry
from django.core.management import call_command
from django.db import connection

from apps.common.database.triggers import PREFIX, Guard, InstallGuards
from tests.conftest import REPO

LADDER = [
    "common",
    "accounts",
    "audit",
    "jobs",
    "corpus",
    "queries",
    "retrieval",
    "triples",
    "review",
    "judging",
    "agreement",
    "goldsets",
    "evaluation",
    "dashboard",
    "config",
]
LAYERS = [
    {"enums"},
    {"models"},
    {"workflow", "rules", "selectors"},
    {"indexing", "same_texts", "spending", "beside", "collecting", "estimating", "answering", "execution"},
    {"tasks"},
    {"actions"},
    {"forms", "serializers"},
    {"views", "api", "urls", "api_urls"},
]
PURE = [
    "accounts/sealing.py",
    "agreement/cli.py",
    "agreement/coefficients",
    "agreement/drifting.py",
    "agreement/label_model.py",
    "agreement/parts.py",
    "agreement/weeks.py",
    "agreement/labelfiles",
    "agreement/labelprint",
    "common/addresses.py",
    "common/exact.py",
    "common/outbound.py",
    "common/svg.py",
    "corpus/blocks.py",
    "corpus/neardups.py",
    "corpus/readers",
    "evaluation/bias.py",
    "evaluation/charts/drawing.py",
    "evaluation/first.py",
    "evaluation/gating",
    "evaluation/measures",
    "evaluation/negatives.py",
    "evaluation/people.py",
    "evaluation/robustness.py",
    "evaluation/reporting",
    "evaluation/stability.py",
    "evaluation/statistics",
    "evaluation/files",
    "evaluation/cli.py",
    "goldsets/formats",
    "goldsets/splits.py",
    "goldsets/cli.py",
    "judging/groups.py",
    "judging/keymap.py",
    "judging/passages.py",
    "judging/plan.py",
    "judging/remits.py",
    "judging/resolution.py",
    "queries/readers",
    "retrieval/engines",
    "retrieval/allocation.py",
    "retrieval/missing.py",
    "retrieval/pooling.py",
    "retrieval/sameness.py",
    "retrieval/sampling.py",
    "review/outcome.py",
    "review/visibility.py",
    "triples/checks",
    "triples/formats",
    "triples/tokens",
]


def sources() -> list[Path]:
    return sorted(path for path in (REPO / "apps").rglob("*.py") if "migrations" not in path.parts)


@cache
def imported_modules(path: Path) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.append(node.module)
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return names


def app_of(path: Path) -> str:
    return path.relative_to(REPO / "apps").parts[0]


def layer_of(module: str) -> int | None:
    return next((rank for rank, names in enumerate(LAYERS) if module in names), None)


def test_every_app_stands_on_the_ladder():
    folders = {path.name for path in (REPO / "apps").iterdir() if path.is_dir() and path.name != "__pycache__"}

    assert folders == set(LADDER)


def test_an_app_imports_only_apps_below_it():
    uphill = []
    for path in sources():
        here = LADDER.index(app_of(path)) if app_of(path) in LADDER else None
        for name in imported_modules(path):
            parts = name.split(".")
            if here is not None and parts[0] == "apps" and len(parts) > 1 and LADDER.index(parts[1]) > here:
                uphill.append(f"{path.relative_to(REPO)} imports {name}")

    assert uphill == []


def test_a_module_imports_only_layers_below_it_in_its_app():
    uphill = []
    for path in sources():
        here = layer_of(path.stem)
        for name in imported_modules(path):
            parts = name.split(".")
            if here is None or parts[:2] != ["apps", app_of(path)] or len(parts) < 3:
                continue
            there = layer_of(parts[2])
            if there is not None and there > here:
                uphill.append(f"{path.relative_to(REPO)} imports {name}")

    assert uphill == []


@pytest.mark.parametrize("place", PURE)
def test_pure_modules_know_no_django(place):
    path = REPO / "apps" / place
    files = [path] if path.is_file() else sorted(path.rglob("*.py"))
    assert files, f"{place} is gone; mend the list"

    tainted = [
        f"{file.relative_to(REPO)} imports {name}"
        for file in files
        for name in imported_modules(file)
        if name.split(".")[0] in {"django", "rest_framework", "celery"}
        or name.split(".")[-1] in {"models", "selectors"}
    ]

    assert tainted == []


@pytest.mark.django_db
def test_no_migration_is_missing():
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def declared_guards() -> list[Guard]:
    from django.db.migrations.loader import MigrationLoader

    loader = MigrationLoader(None)
    return [
        guard
        for migration in loader.disk_migrations.values()
        for operation in migration.operations
        if isinstance(operation, InstallGuards)
        for guard in operation.guards
    ]


@pytest.mark.django_db
def test_every_declared_guard_stands_in_the_database():
    """A table that a later migration rebuilds loses its triggers on SQLite: that migration must install them again."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        else:
            cursor.execute("SELECT tgname FROM pg_trigger WHERE NOT tgisinternal")
        standing = {name for (name,) in cursor.fetchall() if name.startswith(PREFIX)}

    assert {guard.trigger for guard in declared_guards()} <= standing
    assert len(standing) > 20


def test_lock_files_name_no_host():
    for path in sorted(REPO.glob("requirements*.lock")):
        assert not re.search(r"https?://", path.read_text()), path.name


def test_no_author_of_a_row_is_ever_lost_by_cascade():
    cascading = [
        f"{model._meta.label}.{field.name}"
        for model in registry.get_models()
        if model.__module__.startswith("apps.")
        for field in model._meta.get_fields()
        if getattr(getattr(field, "remote_field", None), "on_delete", None) is not None
        and field.remote_field.on_delete.__name__ in {"CASCADE", "SET_NULL"}
        and field.concrete
        and not field.auto_created
    ]

    assert cascading == []
