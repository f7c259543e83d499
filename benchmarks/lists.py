"""The list pages of triples, reviews, agreement and notifications with few triples and with many.

    python benchmarks/lists.py [--few 500] [--many 50000] [--repeats 5]

Every page that `tests/test_list_pages.py` names is asked for over HTTP (Django's test client, in process) by a person
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
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

NOTABLE = 0.020
# Out of twenty triples: what state they are in.
STATES = ("accepted",) * 12 + ("in_review",) * 2 + ("disputed", "dropped", "draft", "stale", "candidate", "split")


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


def fill(triples: int) -> tuple[Any, Any]:
    """A project with so many triples, and somebody who holds every role and a seat in each open round."""
    from apps.accounts.enums import Role
    from apps.review.models import Resolution, ReviewSeat, Verdict
    from apps.triples.models import ExpectedBlock, Revision, Triple
    from tests.factories import AT, make_member
    from tests.triples.factories import make_team, version_of

    project = make_team(reviewers=1)
    chief = make_member(project, Role.ANNOTATOR, Role.REVIEWER, Role.LEAD, name="Chief")
    other = project.memberships.filter(role=Role.REVIEWER).exclude(user=chief).first().user
    author = make_member(project, Role.ANNOTATOR, name="Author")
    snapshot = project.corpora.get().snapshots.get()
    version = version_of(snapshot, "access")

    def at(number: int):
        return AT + timedelta(minutes=number)

    def stands(number: int) -> str:
        return STATES[number % len(STATES)]

    numbers = range(1, triples + 1)
    rows = Triple.objects.bulk_create(
        [
            Triple(
                project=project,
                number=number,
                state={"stale": "accepted", "candidate": "draft"}.get(stands(number), stands(number)),
                is_stale=stands(number) == "stale",
                is_machine_written=stands(number) == "candidate",
                round=0 if stands(number) in ("draft", "candidate") else 1,
                was_disputed=stands(number) in ("disputed", "split"),
                author=chief if number % 10 == 0 else author,
                snapshot=snapshot,
                resolution="consensus" if stands(number) in ("accepted", "stale") else "",
                resolved_at=at(number) if stands(number) in ("accepted", "stale") else None,
                created_at=at(number),
                changed_at=at(number),
            )
            for number in numbers
        ],
        batch_size=1000,
    )
    revisions = Revision.objects.bulk_create(
        [
            Revision(
                triple=row,
                number=1,
                author_id=row.author_id,
                snapshot=snapshot,
                question=f"How long may emergency access number {row.number} last?",
                answer="At most eight hours.",
                round=row.round,
                created_at=row.created_at,
                saved_at=row.created_at,
            )
            for row in rows
        ],
        batch_size=1000,
    )
    ExpectedBlock.objects.bulk_create(
        [ExpectedBlock(revision=revision, version=version, spans=[[0, 36]]) for revision in revisions], batch_size=1000
    )
    for row, revision in zip(rows, revisions, strict=True):
        row.current = revision
        revision.submitted_at = row.created_at if row.round else None
    Triple.objects.bulk_update(rows, ["current"], batch_size=400)
    Revision.objects.bulk_update([r for r in revisions if r.submitted_at], ["submitted_at"], batch_size=400)
    mate = make_member(project, Role.REVIEWER, name="Mate")
    reviewed = [pair for pair in zip(rows, revisions, strict=True) if pair[0].round]
    seats = ReviewSeat.objects.bulk_create(
        [
            ReviewSeat(
                revision=revision,
                number=place,
                reviewer=person,
                opened_at=row.created_at,
                answered_at=row.created_at if row.state != "in_review" else None,
                closed_at=row.created_at if row.state != "in_review" else None,
            )
            for row, revision in reviewed
            for place, person in ((1, other), (2, mate if row.author_id == chief.pk else chief))
        ],
        batch_size=1000,
    )
    states = {revision.pk: row.state for row, revision in reviewed}
    Verdict.objects.bulk_create(
        [
            _verdict(Verdict, seat, flags=states[seat.revision_id] in ("disputed", "split", "dropped"))
            for seat in seats
            if seat.answered_at
        ],
        batch_size=1000,
    )
    ends = {"accepted": "consensus", "dropped": "dropped", "split": "split"}
    Resolution.objects.bulk_create(
        [
            Resolution(
                triple=row,
                revision=revision,
                round=1,
                kind=ends[row.state],
                reason="Both reviewers flagged it." if row.state == "dropped" else "",
                resolved_at=row.created_at,
            )
            for row, revision in reviewed
            if row.state in ends
        ],
        batch_size=1000,
    )
    _notify(project, chief, rows)
    return project, chief


def _verdict(model: type, seat: Any, *, flags: bool) -> Any:
    is_flag = flags and (seat.number == 2 or seat.revision_id % 2 == 0)
    return model(
        revision_id=seat.revision_id,
        seat=seat,
        reviewer_id=seat.reviewer_id,
        choice="flag" if is_flag else "confirm",
        reasons=["overstated"] if is_flag else [],
        category="numeric" if is_flag else "",
        idempotency_key=f"k{seat.pk}",
        given_at=seat.answered_at,
    )


def _notify(project: Any, person: Any, rows: list) -> None:
    from apps.jobs.models import Notification

    Notification.objects.bulk_create(
        [
            Notification(
                person=person,
                project=project,
                kind="seat",
                sentence=f"{row.label} waits for your review.",
                path=f"/p/{project.slug}/review/{row.pk}/",
                key=f"seat-{row.pk}",
                created_at=row.created_at,
            )
            for row in rows
        ],
        batch_size=1000,
    )


def measure(project: Any, person: Any, repeats: int) -> dict[str, Measured]:
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext
    from django.urls import NoReverseMatch, reverse

    from tests.test_list_pages import LISTS

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
