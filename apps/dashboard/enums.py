from enum import StrEnum

LOAD_DEMO = "dashboard.load_demo"
"""The kind of job that fills a demo project."""
MEASURE_SERVER = "dashboard.measure"
"""The kind of job that measures what is stored. Its result is remembered until the next."""
CLEAR_STORAGE = "dashboard.clear"
"""The kind of job that removes what can be made again, and measures what is left."""

FIRST_STEPS = (
    "corpus",
    "queries",
    "pool",
    "guideline",
    "grades",
    "people",
    "triples",
    "sources",
    "version",
    "scores",
)
NEVER_SKIPPED = frozenset({"corpus", "version"})
"""Every other step rests on passages, and nothing is scored or exported without a version."""
NEEDED_TO_GRADE = frozenset({"queries", "pool", "guideline", "grades"})
"""No grade is given without these. A project that only writes Q&As, or imports its grades, can do without some."""


class CheckStanding(StrEnum):
    """How a part of the server is: what is broken comes first."""

    BROKEN = "stop"
    WARNING = "warn"
    FINE = "pass"
