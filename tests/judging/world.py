"""A round like the one in the drawings: one query, long blocks with a table, a guideline with words of its own."""

import hashlib

from apps.accounts.enums import Role
from apps.corpus.models import Block, BlockVersion, Corpus, Document, Snapshot, SnapshotBlock
from apps.judging.actions.guidelines import publish_guideline
from apps.judging.actions.seats import claim_seats
from apps.judging.models import Round
from apps.queries.models import Query
from apps.retrieval.enums import PoolState
from apps.retrieval.models import Pool, PoolEntry, PoolQuery
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import give, make_round

BEFORE = [f"Section {n} of the handbook says who may ask for a copy and how the request is kept." for n in range(1, 5)]
BEST = (
    "Archives leave the source region encrypted with AES-256-GCM, under a data key generated for that archive"
    " alone. The data key is wrapped by the customer’s root key in the key service; the wrapped key is stored beside"
    " the archive and is useless without it. Nobody on the backup team can read a root key."
)
TABLE = (
    "Copy | Kept for | Root key rotated\n--- | --- | ---\nDaily archive | 35 days | every 12 months\n"
    "Monthly archive | 13 months | every 12 months\nLegal hold | until released | never while held"
)
AFTER = [
    "Snapshots that the storage layer takes of its own accord follow the setting of their volume and are not covered"
    " here; see 4.4.",
    TABLE,
    "A restore needs two people: one from the team that owns the data, who asks for it, and one from the team that"
    " keeps it, who runs it. Both names are kept with the job for seven years.",
    *[f"Note {n} on the archive of record, kept for those who come later." for n in range(1, 5)],
]
GRADES = [
    {
        "grade": 0,
        "name": "Not relevant",
        "definition": "Would be noise in the asker’s results.",
        "examples": ["Names the cipher used between services.", "Talks about office badges."],
    },
    {
        "grade": 1,
        "name": "Related",
        "definition": "Same subject, but no part of the answer.",
        "examples": ["Explains who may restore a backup.", "Lists the regions."],
    },
    {
        "grade": 2,
        "name": "Answers part",
        "definition": "States some of what the intent needs; the rest is elsewhere.",
        "examples": ["Says backups are encrypted and with which key, but not the cipher.", "Names the mode only."],
    },
    {
        "grade": 3,
        "name": "Answers all",
        "definition": "Read on its own, the block gives the asker everything the intent asks for.",
        "examples": ["Names the algorithm and the mode, for backups.", "Gives both in a table."],
    },
]
QUESTIONS = [
    ("Q009", "How long is a daily archive kept?", "Plan a clean-up."),
    (
        "Q017",
        "Which cipher are customer backups encrypted with at rest?",
        "Someone is filling in a customer’s security questionnaire and has to name the algorithm and the mode for"
        " stored backups. Encryption between services does not help them.",
    ),
]


def make_world(*, blocks: int = 12, annotators: int = 1, **how) -> Round:
    """A round of a few questions; `how` says what its plan is and when it was opened."""
    project = make_project("Tarnwick Handbook")
    lead = lead_of(project)
    people = [make_member(project, Role.ANNOTATOR, name=n) for n in ("Mara Quill", "Sef Arden", "Tobias Renn")]
    publish_guideline(
        project=project, actor=lead, grades=GRADES, at=AT,
        markdown="Torn between two grades? Take the **lower** one and say why in a note.",
    )  # fmt: skip
    snapshot = _snapshot(project, blocks)
    pool = Pool.objects.create(
        project=project, snapshot=snapshot, name="First pool", depth=blocks, created_by=lead, created_at=AT
    )
    queries = [
        Query.objects.create(
            project=project, outside_id=outside_id, text=text, intent=intent, created_by=lead, created_at=AT,
            domain="data protection", query_type="question", difficulty="medium",
        )
        for outside_id, text, intent in QUESTIONS
    ]  # fmt: skip
    PoolQuery.objects.bulk_create(PoolQuery(pool=pool, query=query) for query in queries)
    versions = snapshot.entries.values_list("version_id", flat=True)
    PoolEntry.objects.bulk_create(
        PoolEntry(pool=pool, query=query, version_id=pk, found_by=[[7, 3]]) for query in queries for pk in versions
    )
    pool.state, pool.entry_count, pool.completed_at = PoolState.COMPLETE, len(queries) * blocks, AT
    pool.save()
    return make_round(project, annotators=people[:annotators], pool=pool, **{"overlap": 0.0, **how})


def _snapshot(project, blocks: int) -> Snapshot:
    lead = lead_of(project)
    corpus = Corpus.objects.create(project=project, slug="handbook", name="Handbook", created_by=lead, created_at=AT)
    document = Document.objects.create(corpus=corpus, outside_id="sec", title="Security handbook")
    snapshot = Snapshot.objects.create(
        corpus=corpus, number=1, name="2025-10-28", digest="0" * 64, block_count=blocks, document_count=1,
        frozen_by=lead, frozen_at=AT,
    )  # fmt: skip
    for number in range(blocks):
        block = Block.objects.create(corpus=corpus, document=document, outside_id=f"sec-4.2-{number:02}")
        parts = [*BEFORE, BEST, *AFTER] if number % 3 != 2 else [f"A short block, number {number}, on the cipher."]
        text = "\n\n".join(parts) + f"\n\nEnd of block {number}."
        digest = hashlib.sha256(text.encode()).hexdigest()
        version = BlockVersion.objects.create(
            block=block, digest=digest, text_digest=digest, title="4.2 Backups and archives", text=text,
            section_path=["4 Data protection"], page_start=31, page_end=32, created_at=AT,
        )  # fmt: skip
        SnapshotBlock.objects.create(snapshot=snapshot, position=number, block=block, version=version)
    return snapshot


def grade_some(round_: Round, person, n: int) -> None:
    """`n` pairs graded by this person, with plausible times."""
    for seat in claim_seats(round_=round_, annotator=person, n=n, at=AT):
        give(seat, person, 2, active_ms=108_000, away_ms=0)
