"""Triples for tests, walked to their state by the real actions."""

import io
import itertools
import json
from datetime import datetime
from typing import Any

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.digests import sha256_hex
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.corpus.core.passage_ids import SnapshotEntry, block_digests, snapshot_digest
from apps.corpus.models import Block, BlockVersion, Corpus, Document, Snapshot, SnapshotBlock, SnapshotDocument
from apps.triples.actions.imports import import_triples
from apps.triples.actions.triples import start_draft
from apps.triples.formats import read_entries
from apps.triples.models import Triple
from apps.triples.selectors.draft_checks import BlockChoice, Wording
from tests.factories import AT, lead_of, make_member, make_project

TEXTS = {
    "backups": "Every datastore is copied twice a day.\n\nArchives leave the region encrypted with AES-256-GCM, under a"
    " data key generated for that archive alone. Nobody on the backup team can read a root key.",
    "access": "A session lasts at most eight hours. It closes by itself at the end of the incident; it cannot be"
    " extended, and a further session needs a fresh approval.",
    "rotation": "A root key is rotated at least every twelve months, and at once when a custodian leaves.",
}
DOCUMENT = "Security handbook"
_numbers = itertools.count(1)


def make_corpus(project: Project) -> Corpus:
    return Corpus.objects.create(
        project=project, slug=f"corpus-{next(_numbers)}", name="Handbook", created_by=lead_of(project), created_at=AT
    )


def make_snapshot(
    project: Project,
    texts: dict[str, str] = TEXTS,
    *,
    titles: dict[str, str] | None = None,
    corpus: Corpus | None = None,
    at: datetime = AT,
) -> Snapshot:
    """A snapshot that holds one block a text; block ids are the keys, and stay across snapshots of one corpus."""
    corpus = corpus or make_corpus(project)
    number = corpus.snapshots.count() + 1
    facts = {key: text_facts(key, text, titles or {}) for key, text in sorted(texts.items())}
    digests = {key: block_digests(**seen) for key, seen in facts.items()}
    entries = [SnapshotEntry(key, "handbook", digests[key].version, "", DOCUMENT) for key in facts]
    snapshot = Snapshot.objects.create(
        corpus=corpus,
        number=number,
        name=f"v{number}",
        digest=snapshot_digest(entries),
        block_count=len(texts),
        document_count=1,
        frozen_by=lead_of(project),
        frozen_at=at,
    )
    document, _ = Document.objects.get_or_create(corpus=corpus, outside_id="handbook", defaults={"title": DOCUMENT})
    SnapshotDocument.objects.create(snapshot=snapshot, document=document, title=DOCUMENT)
    for position, (key, seen) in enumerate(facts.items()):
        block, _ = Block.objects.get_or_create(corpus=corpus, outside_id=key, defaults={"document": document})
        version, _ = BlockVersion.objects.get_or_create(
            block=block,
            digest=digests[key].version,
            defaults={**seen, "text_digest": digests[key].text, "created_at": at},
        )
        SnapshotBlock.objects.create(snapshot=snapshot, position=position, block=block, version=version)
    record_frozen(snapshot, project)
    return snapshot


def record_frozen(snapshot: Snapshot, project: Project) -> None:
    """What the audit says of a freeze."""
    record(
        project=project,
        actor=snapshot.frozen_by,
        action="snapshot.frozen",
        obj=snapshot,
        after={"digest": snapshot.digest},
        at=snapshot.frozen_at,
    )


def text_facts(key: str, text: str, titles: dict[str, str]) -> dict[str, Any]:
    """All that a reader sees of a block."""
    return {
        "title": titles.get(key, key.capitalize()),
        "section_path": ["4 Data protection"],
        "page_start": 31,
        "page_end": 32,
        "text": text,
    }


def version_of(snapshot: Snapshot, key: str) -> BlockVersion:
    return SnapshotBlock.objects.select_related("version").get(snapshot=snapshot, block__outside_id=key).version


def make_question() -> str:
    """A question that no other one is nearly the same as."""
    return "How long does {} {} {} last?".format(*(f"w{sha256_hex(f'{next(_numbers)}'.encode())[:9]}" for _ in "123"))


def make_wording(
    snapshot: Snapshot,
    *,
    key: str = "access",
    evidence: str = "A session lasts at most eight hours.",
    question: str = "",
    answer: str = "At most eight hours.",
    **more,
) -> Wording:
    version = version_of(snapshot, key)
    start = version.text.index(evidence)
    return Wording(
        question=question or make_question(),
        answer=answer,
        blocks=(BlockChoice(version.pk, ((start, start + len(evidence)),)),),
        **more,
    )


def make_draft(project: Project, *, author: User | None = None, snapshot: Snapshot | None = None, **wording) -> Triple:
    snapshot = snapshot or Snapshot.objects.filter(corpus__project=project).last() or make_snapshot(project)
    author = author or make_member(project, Role.ANNOTATOR, name="Author")
    return start_draft(
        project=project, author=author, snapshot=snapshot, wording=make_wording(snapshot, **wording), at=AT
    )


def make_team(*, reviewers: int = 2) -> Project:
    """A project with a lead, an author's room to fill, a snapshot and some reviewers."""
    project = make_project()
    make_snapshot(project)
    for _ in range(reviewers):
        make_member(project, Role.REVIEWER, name="Reviewer")
    return project


def make_candidate(project: Project, *, importer: User | None = None, machine: str = "model-x", **fields) -> Triple:
    """A candidate, as a file that a machine wrote brings it in."""
    entry = {
        "question": f"How long may emergency access number {next(_numbers)} last?",
        "expected_block": {"block_id": "access", "evidence": "A session lasts at most eight hours."},
        "expected_answer": "At most eight hours.",
    }
    source, errors = TableFile("machine.jsonl", io.BytesIO(json.dumps(entry | fields).encode())), ErrorList()
    import_triples(
        project=project,
        rows=read_entries(source, errors, format="jsonl"),
        file=source,
        errors=errors,
        machine=machine,
        actor=importer or lead_of(project),
        at=AT,
    )
    return Triple.objects.filter(project=project).latest("number")
