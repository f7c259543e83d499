"""Actions on a corpus: create it, import into it, freeze it, let its texts be published, and redact a text."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import NamedTuple

from django.db import transaction
from django.utils.text import slugify

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.database.prepared import Writes
from apps.common.errors import InputErrors, Refusal
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.corpus import rules
from apps.corpus.core.import_plans import ImportPlan
from apps.corpus.enums import FREEZE, ImportMode
from apps.corpus.execution import search_index
from apps.corpus.execution.freezing import FreezeRefused, freeze_snapshot, locked
from apps.corpus.execution.ingest import BlockIntake
from apps.corpus.formats.rows import BlockRow
from apps.corpus.models import READING, BlockVersion, Corpus, PublicTexts, Snapshot
from apps.corpus.selectors import snapshots
from apps.corpus.selectors.corpora import latest_snapshot
from apps.jobs.actions.jobs import enqueue
from apps.jobs.models import Job


class PublishingRefused(Refusal):
    """What is said of the texts of a corpus cannot be recorded."""


@transaction.atomic
def allow_public_texts(*, corpus_id: int, owner: str, evidence: str, actor: User, at: datetime) -> PublicTexts:
    """Record who allows the texts of a corpus to be published, and where that can be read."""
    corpus = Corpus.objects.select_for_update().select_related("project").get(pk=corpus_id)
    if not owner.strip():
        raise PublishingRefused("Name whose texts these are and who lets them be published.", code="owner_missing")
    if corpus.public_texts.filter(ended_at=None).exists():
        raise PublishingRefused(f"The texts of {corpus} may be published already.", code="already_public")
    said = PublicTexts.objects.create(
        corpus=corpus, owner=owner.strip()[:200], evidence=evidence.strip(), recorded_by=actor, recorded_at=at
    )
    _log(said, "corpus.texts_made_public", actor, at)
    return said


@transaction.atomic
def end_public_texts(*, corpus_id: int, actor: User, at: datetime) -> None:
    """The texts may not be published any more. What was published stays as it is; withdraw it."""
    corpus = Corpus.objects.select_for_update().get(pk=corpus_id)
    said = corpus.public_texts.select_related("corpus__project").filter(ended_at=None).first()
    if said is None:
        raise PublishingRefused(f"The texts of {corpus} are not public.", code="not_public")
    said.ended_by, said.ended_at = actor, at
    said.save(update_fields=["ended_by", "ended_at"])
    _log(said, "corpus.texts_made_internal", actor, at)


def _log(said: PublicTexts, action: str, actor: User, at: datetime) -> None:
    after = {"corpus": said.corpus.slug, "owner": said.owner}
    record(project=said.corpus.project, actor=actor, action=action, obj=said, after=after, at=at)


FREEZE_AT_ONCE_BLOCKS = 10_000


class CorpusRefused(Refusal):
    """A corpus cannot be created, or cannot be imported into now."""


class RedactionRefused(Refusal):
    """A text cannot be redacted."""


class RequestedFreeze(NamedTuple):
    """The result of requesting a freeze: the snapshot, or the job that will make it."""

    snapshot: Snapshot | None
    job: Job | None


@transaction.atomic
def create_corpus(
    *, project: Project, name: str, actor: User, at: datetime, slug: str = "", language: str = "en"
) -> Corpus:
    """Create an empty corpus. Its slug is made from the name unless given; slugs are unique in a project.

    One with this slug that an undone import has left empty is taken up again.
    """
    slug = slug or slugify(name)[:60]
    if not slug:
        raise CorpusRefused("A corpus needs a name with a letter or a digit in it.", code="corpus_unnamed")
    corpus = Corpus.objects.select_for_update().filter(project=project, slug=slug).first()
    if corpus is None:
        corpus = Corpus.objects.create(
            project=project, slug=slug, name=name.strip(), language=language, created_by=actor, created_at=at
        )
    elif corpus.emptied_at is None:
        raise CorpusRefused(f"This project already has a corpus {slug}.", code="corpus_exists")
    else:
        corpus.name, corpus.language, corpus.emptied_at = name.strip(), language, None
        corpus.save(update_fields=["name", "language", "emptied_at"])
    after = {"slug": slug, "name": corpus.name}
    record(project=project, actor=actor, action="corpus.created", obj=corpus, after=after, at=at)
    return corpus


@transaction.atomic
def import_blocks(
    *,
    corpus_id: int,
    rows: Iterable[BlockRow],
    source: TableFile,
    errors: ErrorList,
    mode: str = ImportMode.REPLACE,
    recipe: Callable[[], str] = lambda: "",
    also_text: str = "",
    base_url: str = "",
    first_row: str = "",
    columns: str = "",
    prepared: BlockIntake | None = None,
    actor: User,
    at: datetime,
) -> ImportPlan:
    """Import a file's blocks into a corpus: all of them, or none when one is wrong.

    With mode `replace` the file is the whole corpus, and blocks it does not contain are removed (snapshots keep them);
    with `merge` they stay. `recipe` is asked after the rows were taken. `also_text` lists the endings of files that
    were read as text, `base_url` is the site that passages link to, `first_row` and `columns` what a person says of
    tables; the next import proposes all of them. Raises InputErrors. A file that changes nothing writes nothing.
    `prepared` has taken the rows already, and the corpus has not changed since.
    """
    corpus = locked(corpus_id)
    if reason := rules.busy_refusal(corpus):
        raise CorpusRefused(reason, code="corpus_freezing")
    intake = prepared or BlockIntake(corpus, Writes(), mode=mode, at=at)
    if prepared is None:
        intake.read(rows, source, errors)
    if errors:
        raise InputErrors(list(errors), capped=errors.unlisted > 0)
    intake.store()
    plan = intake.plan
    if corpus.emptied_at is not None and not plan.changes_nothing:
        corpus.emptied_at = None
        corpus.save(update_fields=["emptied_at"])
    before = corpus.reading
    corpus.recipe, corpus.also_text, corpus.base_url = recipe(), also_text, base_url
    corpus.first_row, corpus.columns = first_row, columns
    is_read_anew = corpus.reading != before
    if is_read_anew:
        corpus.save(update_fields=READING)
    if is_read_anew or not plan.changes_nothing:
        chosen = {name: value for name, value in corpus.reading.items() if value}
        after = {"file": source.name, "mode": str(mode), **chosen, **plan.counts}
        record(project=corpus.project, actor=actor, action="corpus.imported", obj=corpus, after=after, at=at)
    return plan


@transaction.atomic
def request_freeze(*, corpus_id: int, actor: User, at: datetime, name: str = "") -> RequestedFreeze:
    """Freeze a small corpus at once, and queue a job for a large one. A second request returns the same job."""
    corpus = locked(corpus_id)
    if corpus.is_being_frozen:
        return RequestedFreeze(None, corpus.freeze_job)
    latest = latest_snapshot(corpus)
    pending = snapshots.pending(corpus, latest)
    if pending.blocks <= FREEZE_AT_ONCE_BLOCKS:
        return RequestedFreeze(freeze_snapshot(corpus_id=corpus_id, actor=actor, at=at, name=name), None)
    if reason := rules.freeze_refusal(pending, latest if pending.is_nothing else None):
        raise FreezeRefused(reason, code="nothing_to_freeze")
    params = {"corpus_id": corpus.pk, "name": name}
    title = f"Freeze {corpus.name}"[:200]
    corpus.freeze_job = enqueue(kind=FREEZE, params=params, project=corpus.project, actor=actor, at=at, title=title)
    corpus.save(update_fields=["freeze_job"])
    return RequestedFreeze(None, corpus.freeze_job)


@transaction.atomic
def redact_version(*, version_id: int, reason: str, actor: User, at: datetime) -> BlockVersion:
    """Empty a block's text for good; its digest, its position and the reason stay. Snapshots do not change."""
    version = BlockVersion.objects.select_for_update().select_related("block__corpus__project").get(pk=version_id)
    if refusal := rules.redaction_refusal(version, reason):
        raise RedactionRefused(refusal, code="not_redactable")
    search_index.forget_version(version)
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
