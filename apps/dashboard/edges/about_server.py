"""What a server is made of, and what it is set to: versions, and settings with their source."""

import os
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

import django
from django.conf import settings
from django.db import connection

from apps.common.database.schema import SchemaGap, migrations_known
from apps.common.files.private import KEYS
from apps.dashboard.core.settings_table import SettingInForce, table, variables_set_by_up
from apps.dashboard.edges.health import NAMES, database_version

OPTIONAL = ("onnxruntime", "tokenizers")
LIBRARIES = (
    "djangorestframework",
    "drf-spectacular",
    "celery",
    "kombu",
    "redis",
    "psycopg",
    "dj-database-url",
    "scikit-learn",
    "numpy",
    "scipy",
    "threadpoolctl",
    "django-htmx",
    "whitenoise",
    "waitress",
    "argon2-cffi",
    "markdown-it-py",
    "nh3",
    "PyYAML",
    "urllib3",
    "cryptography",
    "joserfc",
    "obstore",
    "rapidfuzz",
    "beautifulsoup4",
    "markdownify",
    "docutils",
    "mammoth",
    "pypdfium2",
    "python-calamine",
    "pyarrow",
    "charset-normalizer",
    *OPTIONAL,
)
"""The libraries that Karat is installed with besides Django, and those of its extras."""


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
    """Those that are installed, read from their files once."""
    found = []
    for name in LIBRARIES:
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
