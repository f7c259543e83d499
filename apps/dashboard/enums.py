LOAD_DEMO = "dashboard.load_demo"
"""The kind of job that fills a demo project."""

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
NEVER_SKIPPED = frozenset({"corpus"})
"""Every other step rests on passages."""
