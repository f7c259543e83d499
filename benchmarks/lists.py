"""The list pages of triples, reviews, agreement and notifications with few triples and with many.

    python benchmarks/lists.py [--few 500] [--many 50000] [--repeats 5]

Every page that `tests/list_pages.py` names is asked for over HTTP (Django's test client, in process) by a person
who holds every role, on SQLite in a folder of its own, or in a database of its own on PostgreSQL when DATABASE_URL is
set. The rows are written in bulk: most triples accepted, the rest spread over the other states, each with a revision,
a block, two seats and two verdicts. Printed for each page: the median time and the number of queries with few and with
many triples, and the ratio of the times; last the largest ratio among pages that take 20 ms or more. Constant time is
a ratio near 1.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

NOTABLE = 0.020


class Measured(NamedTuple):
    seconds: float
    queries: int


def start(folder: str) -> Callable[[], None]:
    """Django on an empty database. Returns what takes the database away again."""
    os.environ.update(KARAT_DATA_DIR=folder, BROKER_URL="memory://", DJANGO_SETTINGS_MODULE="apps.config.settings")
    os.environ["DJANGO_ALLOWED_HOSTS"] = os.environ["KARAT_ALLOWED_HOSTS"] = "testserver"
    import django

    django.setup()
    from django.conf import settings
    from django.db import connection
    from django.test.utils import setup_test_environment

    (Path(folder) / "static").mkdir(exist_ok=True)
    setup_test_environment()
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    name = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0)
    return lambda: connection.creation.destroy_test_db(name, verbosity=0)


def measure(project: Any, person: Any, repeats: int) -> dict[str, Measured]:
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext
    from django.urls import NoReverseMatch, reverse

    from tests.list_pages import LISTS

    client = Client()
    client.force_login(person)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    found = {}
    for title, (name, query) in LISTS.items():
        try:
            url = reverse(name, args=[project.slug]) + query
        except NoReverseMatch:
            print(f"{title}: no such page here", file=sys.stderr)
            continue
        with CaptureQueriesContext(connection) as queries:
            status = client.get(url).status_code
        asked = len(queries)  # the next request empties the log
        if status != 200:
            raise SystemExit(f"{url} answered {status}")
        times = []
        for _ in range(repeats):
            begun = time.perf_counter()
            client.get(url)
            times.append(time.perf_counter() - begun)
        found[title] = Measured(statistics.median(times), asked)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--few", type=int, default=500)
    parser.add_argument("--many", type=int, default=50_000)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="karat-benchmark-") as folder:
        remove = start(folder)
        from benchmarks.many_triples import fill

        try:
            few = measure(*fill(args.few), args.repeats)
            many = measure(*fill(args.many), args.repeats)
        finally:
            remove()
    print(f"{'page':<24}{args.few:>10,} {args.many:>12,} triples   queries   ratio")
    worst = 0.0
    for title, one in few.items():
        other = many[title]
        ratio = other.seconds / one.seconds
        if max(one.seconds, other.seconds) >= NOTABLE:
            worst = max(worst, ratio)
        both = f"{one.queries}, {other.queries}"
        print(f"{title:<24}{one.seconds * 1000:>7.1f} ms {other.seconds * 1000:>9.1f} ms {both:>17}{ratio:>8.2f}")
    print(f"largest ratio {worst:.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
