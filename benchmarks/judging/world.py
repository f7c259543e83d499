"""A database with one open judging round of any size, filled quickly: texts and pairs in bulk, seats by the job."""

import os
import random
import secrets
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

HANDS = 32
BLOCKS = 2_000
DEPTH = 100
OVERLAP = 0.2
CHECKS = 50
LAW = "law"
PLANS: dict[str, dict[str, Any]] = {
    "plain": {},
    "repeats": {"again": 0.1},
    "pilot": {"pilot": 10},
    "checks": {},
    "extra judges": {"extra_bar": 0.99, "most_judges": 3},
    "remits": {},
    "evidence": {},
    "regrade": {},
}
"""What the plan of each kind of round asks for beside 20 % of its pairs twice. Half of the queries are of a domain, to
which remits confine half of the people; what people send makes evidence and regrades."""
WORDS = [
    "archive",
    "backup",
    "cipher",
    "key",
    "region",
    "retention",
    "restore",
    "audit",
    "access",
    "policy",
    "incident",
    "customer",
    "contract",
    "tenant",
    "encryption",
    "rotation",
    "window",
    "notice",
    "recovery",
    "network",
    "storage",
    "service",
    "account",
    "review",
    "evidence",
    "export",
    "transfer",
    "encrypted",
    "daily",
    "monthly",
    "source",
    "target",
    "before",
    "after",
    "within",
    "unless",
    "every",
    "owner",
    "stated",
    "kept",
    "deleted",
]


class World(NamedTuple):
    """What the measuring needs to know: the round, one person for the browser, and the people behind the clients."""

    kind: str
    slug: str
    round_id: int
    reader: str
    hands: list[str]
    opened_in: float
    pairs: int
    seats: int


def connect(folder: str, url: str) -> None:
    """Django on an empty database: SQLite in `folder`, or the PostgreSQL database named by `url`."""
    os.environ.update(KARAT_DATA_DIR=folder, BROKER_URL="memory://", DJANGO_SETTINGS_MODULE="apps.config.settings")
    os.environ.pop("DATABASE_URL", None)
    if url:
        os.environ["DATABASE_URL"] = url
    (Path(folder) / "static").mkdir(exist_ok=True)
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


class OwnDatabase:
    """A database for one measurement on the PostgreSQL server of `url`, dropped afterwards; nothing for SQLite."""

    def __init__(self, url: str) -> None:
        self.server = url
        self.name = f"karat_benchmark_{secrets.token_hex(4)}"
        self.url = urlsplit(url)._replace(path=f"/{self.name}").geturl() if url else ""

    def __enter__(self) -> str:
        self._say(f'CREATE DATABASE "{self.name}"')
        return self.url

    def __exit__(self, *_: object) -> None:
        self._say(f'DROP DATABASE IF EXISTS "{self.name}" WITH (FORCE)')

    def _say(self, statement: str) -> None:
        if not self.server:
            return
        import psycopg

        with psycopg.connect(self.server, autocommit=True) as link:
            link.execute(statement)


def fill(pairs: int, kinds: Sequence[str] = ("plain",)) -> list[World]:
    """A project, its people, and for each kind an open round over a pool of its own with so many pairs."""
    from apps.accounts.enums import Role
    from tests.factories import make_member, make_project

    project = make_project("Benchmark")
    reader, *hands = (make_member(project, Role.ANNOTATOR, name=f"Judge {n}") for n in range(HANDS + 1))
    snapshot = _texts(project)
    sessions = [_session(hand) for hand in hands]
    worlds = []
    for kind in kinds:
        pool = _pool(project, snapshot, pairs, name=kind)
        begun = time.perf_counter()
        round_ = _open(kind, project, pool, [reader, *hands])
        opened_in = time.perf_counter() - begun
        seats = round_.seats.count()
        worlds.append(World(kind, project.slug, round_.pk, _session(reader), sessions, opened_in, pairs, seats))
    _settle()
    return worlds


def project(there: World) -> Any:
    from apps.accounts.models import Project

    return Project.objects.get(slug=there.slug)


def _texts(project: Any) -> Any:
    """Blocks of four paragraphs, about 150 words, in one snapshot, whose digests are those of its texts."""
    from apps.common.hooks import record
    from apps.corpus.core.passage_ids import SnapshotEntry, block_digests, snapshot_digest
    from apps.corpus.models import Block, BlockVersion, Corpus, Document, Snapshot, SnapshotBlock
    from tests.factories import AT, lead_of

    lead, chance = lead_of(project), random.Random(1)
    corpus = Corpus.objects.create(project=project, slug="handbook", name="Handbook", created_by=lead, created_at=AT)
    document = Document.objects.create(corpus=corpus, outside_id="handbook", title="Security handbook")
    blocks = [Block(corpus=corpus, document=document, outside_id=f"b{number:05}") for number in range(BLOCKS)]
    Block.objects.bulk_create(blocks, batch_size=500)
    versions = []
    for number, block in enumerate(blocks):
        seen: dict[str, Any] = {
            "text": "\n\n".join(_sentence(chance, 38) for _ in range(4)),
            "title": _sentence(chance, 4),
            "section_path": ["4 Data protection", "4.2 Backups"],
            "page_start": number % 300 + 1,
            "page_end": number % 300 + 1,
        }
        digests = block_digests(**seen)
        versions.append(
            BlockVersion(block=block, digest=digests.version, text_digest=digests.text, created_at=AT, **seen)
        )
    BlockVersion.objects.bulk_create(versions, batch_size=500)
    snapshot = Snapshot.objects.create(
        corpus=corpus,
        number=1,
        name="Benchmark",
        digest=snapshot_digest(
            [SnapshotEntry(version.block.outside_id, "handbook", version.digest, "", "") for version in versions]
        ),
        block_count=BLOCKS,
        document_count=1,
        frozen_by=lead,
        frozen_at=AT,
    )
    SnapshotBlock.objects.bulk_create(
        [
            SnapshotBlock(snapshot=snapshot, position=position, block=version.block, version=version)
            for position, version in enumerate(versions)
        ],
        batch_size=500,
    )
    after = {"digest": snapshot.digest}
    record(project=project, actor=lead, action="snapshot.frozen", obj=snapshot, after=after, at=AT)
    return snapshot


def _sentence(chance: random.Random, words: int) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(words)).capitalize() + "."


def _pool(project: Any, snapshot: Any, pairs: int, *, name: str) -> Any:
    """A complete pool of `pairs` pairs, 100 blocks a query, written by one statement."""
    from django.db import connection

    from apps.queries.models import Query
    from apps.retrieval.enums import PoolKind, PoolState
    from apps.retrieval.models import Pool, PoolEntry, PoolQuery
    from tests.factories import AT, lead_of

    lead, chance = lead_of(project), random.Random(2)
    queries = [
        Query(
            project=project,
            outside_id=f"{name} {number:05}",
            domain=LAW if number % 2 else "",
            text=_sentence(chance, 8).replace(".", "?"),
            intent="Fill in a questionnaire.",
            created_by=lead,
            created_at=AT,
        )
        for number in range(-(-pairs // DEPTH))
    ]
    Query.objects.bulk_create(queries, batch_size=500)
    pool = Pool.objects.create(
        project=project,
        snapshot=snapshot,
        name=name,
        kind=PoolKind.DEPTH,
        depth=DEPTH,
        created_by=lead,
        created_at=AT,
    )
    PoolQuery.objects.bulk_create([PoolQuery(pool=pool, query=query) for query in queries], batch_size=500)
    first = queries[0].pk
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO retrieval_poolentry (pool_id, query_id, version_id, found_by)"
            " SELECT %s, q.id, s.version_id, '[[1, 1]]' FROM queries_query q, corpus_snapshotblock s"
            " WHERE q.id IN (SELECT w.query_id FROM retrieval_poolquery w WHERE w.pool_id = %s) AND s.snapshot_id = %s"
            " AND (s.position + 7 * (q.id - %s)) %% %s < %s ORDER BY q.id, s.version_id LIMIT %s",
            [pool.pk, pool.pk, snapshot.pk, first, BLOCKS, DEPTH, pairs],
        )
    pool.entry_count = PoolEntry.objects.filter(pool=pool).count()
    if pool.entry_count != pairs:
        raise SystemExit(f"the pool has {pool.entry_count:,} pairs instead of {pairs:,}")
    pool.state, pool.completed_at = PoolState.COMPLETE, AT
    pool.save()
    return pool


def _open(kind: str, project: Any, pool: Any, people: list[Any]) -> Any:
    """The round, opened by the action and, when it is large, by the job that a worker would run."""
    from django.utils import timezone

    from apps.jobs.execution.performing import perform
    from apps.jobs.models import Job
    from apps.judging.actions.rounds import open_round
    from apps.judging.core.plan import Plan
    from apps.judging.selectors.rejudging import KnownGrade
    from tests.factories import lead_of
    from tests.judging.factories import make_guideline

    known = pool.entries.order_by("pk")[:CHECKS] if kind == "checks" else []
    remits = {person.pk: {"domain": [LAW]} for person in people[::2]} if kind == "remits" else None
    plan = Plan(overlap=OVERLAP, judges=2, seed=11, **PLANS[kind])
    round_ = open_round(
        project=project,
        actor=lead_of(project),
        pool=pool,
        guideline=make_guideline(project),
        annotators=people,
        plan=plan,
        known=[KnownGrade(entry.query_id, entry.version_id, 2, "named") for entry in known],
        remits=remits,
        at=timezone.now(),
    )
    if round_.state == "opening":
        job = Job.objects.filter(kind="judging.open_round").latest("pk")
        perform(job.pk, worker="benchmark", clock=timezone.now)
        while Job.objects.get(pk=job.pk).state in {"queued", "running"}:
            time.sleep(0.1)  # a worker has it
        round_.refresh_from_db()
    planned = plan.preview(pool.entry_count).judgements if kind == "plain" else round_.seats.count()
    if (round_.state, round_.seats.count()) != ("open", planned):
        raise SystemExit(f"the round is {round_.state} with {round_.seats.count():,} seats instead of {planned:,}")
    return round_


def broken(acknowledged: int) -> list[str]:
    """What does not add up in the database, and whether exactly so many grades stand as were acknowledged."""
    from apps.judging.models import Judgement

    stand = Judgement.objects.filter(superseded_by=None).count()
    counts = [] if stand == acknowledged else [f"{acknowledged} grades were acknowledged and {stand} stand"]
    return [*inconsistent(), *counts]


def inconsistent() -> list[str]:
    """Pairs over their quota, and seats and grades that do not match."""
    from collections import Counter

    from apps.judging.models import Judgement, Seat

    live = Judgement.objects.filter(superseded_by=None)
    given = Counter(live.values_list("entry_id", "pass_number"))
    done = Counter(Seat.objects.filter(state="done").values_list("entry_id", "pass_number"))
    judged = Seat.objects.filter(entry__in=live.values("entry"))
    seats = Counter(judged.values_list("entry_id", "pass_number"))
    faults = [f"pair {pair} has {n} grades and {seats[pair]} seats" for pair, n in given.items() if n > seats[pair]]
    if given != done:
        faults.append(f"{given.total()} grades stand and {done.total()} seats are filled, not pair by pair the same")
    return faults


def lost(acknowledged: list[int]) -> list[str]:
    """The seats whose grade was acknowledged and does not stand."""
    from apps.judging.models import Judgement

    missing = set(acknowledged) - set(Judgement.objects.values_list("seat_id", flat=True))
    return [f"the grade of seat {seat} was acknowledged and does not stand" for seat in sorted(missing)]


def leave() -> None:
    """Close what is open, so that the database can be taken away."""
    from django.db import connection

    connection.close()


def _settle() -> None:
    """End the work that a million new rows leave behind, which would go on beside the loops: of PostgreSQL to vacuum
    them within its next minute, of the system to write them to the disk."""
    from django.db import connection

    after = {"postgresql": ["VACUUM (ANALYZE)", "CHECKPOINT"], "sqlite": ["PRAGMA wal_checkpoint(TRUNCATE)"]}
    with connection.cursor() as cursor:
        for statement in after[connection.vendor]:
            cursor.execute(statement)
    os.sync()


def _session(person: Any) -> str:
    """A session as the login page would make it; the value of its cookie."""
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    session = SessionStore()
    session[SESSION_KEY] = str(person.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = person.get_session_auth_hash()
    session.save()
    return str(session.session_key)
