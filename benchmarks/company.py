"""The year of a company with 100 Q&As and of one with 2,000, through the API: seconds and calls of each step.

    python benchmarks/company.py

Each step of `tests/company_year.py` is asked of the whole stack in process, jobs included, on SQLite in a folder of its
own, or in a database of its own on PostgreSQL when DATABASE_URL is set. A step that is meant for a set takes as many
calls for either; writing and reviewing take one for each draft and each verdict.
"""

import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.lists import start


class Taken(NamedTuple):
    seconds: float
    calls: int


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="karat-company-") as folder:
        remove = start(folder)
        from tests.company import FULL, SMALL

        try:
            few, many = year_of(SMALL), year_of(FULL)
        finally:
            remove()
    print(f"{'step':<52}{'seconds':>16}{'calls':>14}")
    for step in many:
        seconds = f"{few[step].seconds:.1f} {many[step].seconds:>6.1f}"
        print(f"{step.replace('_', ' '):<52}{seconds:>16}{few[step].calls:>7}{many[step].calls:>7}")


def year_of(size: Any) -> dict[str, Taken]:
    from tests.company import Company
    from tests.company_year import STEPS, Year

    year, taken = Year(Company(size)), {}
    for step in STEPS:
        begun, before = time.perf_counter(), year.calls.number
        step(year)
        taken[step.__name__] = Taken(time.perf_counter() - begun, year.calls.number - before)
    return taken


if __name__ == "__main__":
    main()
