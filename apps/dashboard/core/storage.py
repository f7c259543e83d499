"""What a server stores, by kind: what each kind is, and what of it can be cleared."""

from collections.abc import Mapping
from typing import Any, NamedTuple

NEEDED = "needed"


class StorageKind(NamedTuple):
    """`keeps` says what becomes of it; `clears` is what the button says, "" where nothing can be cleared."""

    title: str
    keeps: str = NEEDED
    clears: str = ""


DATABASE, FILES, INDEXES, FIGURES, BACKUPS = "database", "files", "indexes", "figures", "backups"
COPIES, MODELS, REST = "copies", "models", "rest"
KINDS: dict[str, StorageKind] = {
    DATABASE: StorageKind("Database"),
    FILES: StorageKind("Uploaded files"),
    INDEXES: StorageKind("Search indexes", "all in use", "unused for a week"),
    FIGURES: StorageKind("Computed figures", "none at present", "computed again when needed"),
    COPIES: StorageKind("Copies made before upgrades", "yours to delete"),
    MODELS: StorageKind("Models", "installed by you"),
    REST: StorageKind("Everything else in the data directory"),
    BACKUPS: StorageKind("Backups on record", "the newest are kept"),
}
FOLDERS = {"files": FILES, "indexes": INDEXES, "figures": FIGURES, "backups": COPIES, "models": MODELS}
"""Folders of the data directory. What lies in any other is the rest, or of the database."""
LONGEST_DAYS = 3 * 365
"""A disk that lasts longer is replaced before it is full."""
CLEARABLE = frozenset({INDEXES, FIGURES})


class ProjectSize(NamedTuple):
    """Counts of a project, and the bytes of the files that were uploaded to it."""

    passages: int = 0
    queries: int = 0
    triples: int = 0
    grades: int = 0
    runs: int = 0
    upload_bytes: int = 0


class Measured(NamedTuple):
    """What was measured on one machine: bytes by kind and what of them can be cleared; projects by their key.

    `is_beside` is whether the database lies in the data directory, and so on the disk that `total` and `free` are of.
    """

    host: str
    total: int
    free: int
    is_beside: bool
    sizes: dict[str, int]
    clearable: dict[str, int]
    projects: dict[int, ProjectSize]

    def as_json(self) -> dict[str, Any]:
        projects = {str(key): list(size) for key, size in self.projects.items()}
        return {**self._asdict(), "projects": projects}

    @property
    def can_be_cleared(self) -> int:
        return sum(self.clearable.values())

    @property
    def on_disk(self) -> dict[str, int]:
        """The kinds that lie on the disk of the data directory. Backups are often elsewhere, and left out."""
        elsewhere = {BACKUPS} if self.is_beside else {BACKUPS, DATABASE}
        return {kind: size for kind, size in self.sizes.items() if kind not in elsewhere}


def pace(earlier: Measured, later: Measured, days: float) -> str:
    """When the disk is full if it fills as it did between two measurements; "" where it does not, or not for years."""
    grown = (earlier.free - later.free) / days
    if earlier.host != later.host or earlier.total != later.total or grown <= 0:
        return ""
    left = later.free / grown
    if left > LONGEST_DAYS:
        return ""
    span = f"{round(left / 30.4):,} months" if left > 90 else f"{max(2, round(left)):,} days"
    return f"At the pace of the last {round(days)} days the disk is full in about {span}."


def measured_from(result: Mapping[str, Any]) -> Measured:
    """The opposite of `as_json`. Kinds that this version does not know are left out."""
    known = {name: result[name] for name in Measured._fields}
    known["projects"] = {int(key): ProjectSize(*size) for key, size in known["projects"].items()}
    for name in ("sizes", "clearable"):
        known[name] = {kind: size for kind, size in known[name].items() if kind in KINDS}
    return Measured(**known)
