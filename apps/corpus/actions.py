"""What people do with a corpus: make it, import into it, freeze it, and, where the law asks, redact a text."""

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.utils.text import slugify

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.errors import InputErrors, Refusal
from apps.common.inputs import ErrorList
from apps.common.tabular import Source
from apps.corpus import freezing, rules, search, snapshots
from apps.corpus.enums import ImportMode
from apps.corpus.importing.plans import Plan
from apps.corpus.ingest import take_blocks
from apps.corpus.models import BlockVersion, Corpus, Snapshot
from apps.corpus.readers import BlockRow


class CorpusRefused(Refusal):
    """A corpus cannot be made."""


class FreezeRefused(Refusal):
    """There is nothing new to freeze."""


class RedactionRefused(Refusal):
    """A text cannot be redacted, or not again."""


@transaction.atomic
def create_corpus(
    *, project: Project, name: str, actor: User, at: datetime, slug: str = "", language: str = "en"
) -> Corpus:
    """Make an empty corpus. Its slug comes from the name unless given; a slug is taken once in a project."""
    slug = slug or slugify(name)[:60]
    if not slug:
        raise CorpusRefused("A corpus needs a name with a letter or a digit in it.", code="corpus_unnamed")
    if Corpus.objects.filter(project=project, slug=slug).exists():
        raise CorpusRefused(f"There is a corpus {slug} in this project already.", code="corpus_exists")
    corpus = Corpus.objects.create(
        project=project, slug=slug, name=name.strip(), language=language, created_by=actor, created_at=at
    )
    after = {"slug": slug, "name": corpus.name}
    record(project=project, actor=actor, action="corpus.created", obj=corpus, after=after, at=at)
    return corpus


@transaction.atomic
def import_blocks(
    *,
    corpus_id: int,
    rows: Iterable[BlockRow],
    source: Source,
    errors: ErrorList,
    mode: str = ImportMode.REPLACE,
    actor: User,
    at: datetime,
) -> Plan:
    """Take a file's blocks into a corpus: all of them, or, when one is wrong, none.

    With mode `replace` the file is the whole corpus, and blocks it does not name are gone from it (snapshots keep
    them); with `merge` they stay. Raises InputErrors. A file that changes nothing leaves no trace.
    """
    corpus = Corpus.objects.select_for_update().get(pk=corpus_id)
    plan = take_blocks(corpus=corpus, rows=rows, source=source, errors=errors, mode=mode, at=at)
    if errors:
        raise InputErrors(list(errors), capped=errors.unlisted > 0)
    if not plan.changes_nothing:
        after = {"file": source.name, "mode": str(mode), **plan.counts}
        record(project=corpus.project, actor=actor, action="corpus.imported", obj=corpus, after=after, at=at)
    return plan


@transaction.atomic
def freeze_snapshot(*, corpus_id: int, actor: User, at: datetime, name: str = "") -> Snapshot:
    """Freeze the corpus as it is now: which version of which block, for good.

    Refuses an empty corpus, and one that equals an earlier snapshot.
    """
    corpus = Corpus.objects.select_for_update().get(pk=corpus_id)
    measured = snapshots.measure(corpus)
    same = Snapshot.objects.filter(corpus=corpus, digest=measured.digest).first()
    if reason := rules.freeze_refusal(snapshots.pending(corpus, None), same):
        raise FreezeRefused(reason, code="nothing_to_freeze")
    number = corpus.snapshots.count() + 1
    snapshot = snapshots.write_snapshot(
        corpus=corpus,
        measured=measured,
        number=number,
        name=name.strip() or f"{corpus.name} {number}",
        actor=actor,
        at=at,
    )
    search.index_snapshot(snapshot)
    after = {"digest": snapshot.digest, "blocks": snapshot.block_count, "corpus": corpus.slug}
    record(project=corpus.project, actor=actor, action="snapshot.frozen", obj=snapshot, after=after, at=at)
    freezing.announce(snapshot, actor, at)
    return snapshot


@transaction.atomic
def redact_version(*, version_id: int, reason: str, actor: User, at: datetime) -> BlockVersion:
    """Empty a block's text for good, leaving its digest, its place and the reason. Snapshots stay as they are."""
    version = BlockVersion.objects.select_for_update().select_related("block__corpus__project").get(pk=version_id)
    if refusal := rules.redaction_refusal(version, reason):
        raise RedactionRefused(refusal, code="not_redactable")
    search.forget_version(version)
    version.title, version.text, version.section_path, version.metadata = "", "", [], {}
    version.redacted_at, version.redaction_reason = at, reason.strip()
    version.save(update_fields=["title", "text", "section_path", "metadata", "redacted_at", "redaction_reason"])
    record(
        project=version.block.corpus.project,
        actor=actor,
        action="block_version.redacted",
        obj=version,
        after={"block": version.block.outside_id, "digest": version.digest, "reason": version.redaction_reason},
        at=at,
    )
    return version
