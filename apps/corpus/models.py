import re
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Func, Q, Value

from apps.accounts.models import Project
from apps.corpus.core.documents import AS_TEXT, READ_AS, recipe_of, recipe_words
from apps.corpus.core.passage_ids import path_of
from apps.corpus.enums import ImportState
from apps.jobs.models import Job, Upload

ALSO_TEXT = "Endings of files that its last import read as text, such as toml,yaml."
BASE_URL = "Address of the site that its passages link to; empty for none."
SEVERAL_FILES = re.compile(r"\d+ files\.zip")
"""How a package of several files is called (`formats.packages.package_name`)."""
FIRST_ROW = "What its last import took the first row of tables for; empty where that was recognised."
COLUMNS = "What somebody said that columns of its tables are, such as Inhalt=text,Nr=id."
MOST_COLUMNS = 1_000
READING = ("recipe", "also_text", "base_url", "first_row", "columns")
RECIPE = "How its documents were cut into blocks; empty when the files brought their own."


class Corpus(models.Model):
    """A set of documents to search in, which can change; its snapshots are frozen.

    A block is never deleted, so neither is a corpus: one that an undone import leaves empty is no longer listed.
    """

    project = models.ForeignKey(Project, models.PROTECT, related_name="corpora")
    slug = models.SlugField(max_length=60)
    name = models.CharField(max_length=120)
    language = models.CharField(max_length=12, default="en")
    recipe = models.CharField(max_length=40, blank=True, db_default="", help_text=RECIPE)
    also_text = models.CharField(max_length=200, blank=True, db_default="", help_text=ALSO_TEXT)
    base_url = models.CharField(max_length=300, blank=True, db_default="", help_text=BASE_URL)
    first_row = models.CharField(max_length=10, blank=True, db_default="", help_text=FIRST_ROW)
    columns = models.CharField(max_length=MOST_COLUMNS, blank=True, db_default="", help_text=COLUMNS)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    freeze_job = models.ForeignKey(
        Job, models.PROTECT, null=True, related_name="+", help_text="The job that was asked last to freeze it."
    )
    emptied_at = models.DateTimeField(
        null=True, help_text="When the import that made it was undone. The next import under its name fills it again."
    )

    class Meta:
        verbose_name_plural = "corpora"
        constraints = [models.UniqueConstraint(fields=["project", "slug"], name="corpus_slug_in_project")]

    def __str__(self) -> str:
        return self.name

    @property
    def reading(self) -> dict[str, str]:
        """How its last import read its files, which the next one proposes and an undo gives back."""
        return {name: getattr(self, name) for name in READING}

    @property
    def is_being_frozen(self) -> bool:
        """Whether a job is queued or running to freeze it. Select `freeze_job` with it."""
        return self.freeze_job is not None and not self.freeze_job.is_ended


class PublicTexts(models.Model):
    """Somebody says that the texts of a corpus may be published. Without a live one they may not.

    It ends when a lead takes it back; the latest stays as history.
    """

    corpus = models.ForeignKey(Corpus, models.PROTECT, related_name="public_texts")
    owner = models.CharField(max_length=200, help_text="Whose texts they are, and who allows it.")
    evidence = models.TextField(blank=True, help_text="Licence, contract, mail or policy that allows it.")
    recorded_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    recorded_at = models.DateTimeField()
    ended_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "public texts"
        constraints = [
            models.UniqueConstraint(
                fields=["corpus"], condition=Q(ended_at=None), name="public_texts_one_live_per_corpus"
            ),
            models.CheckConstraint(name="public_texts_have_an_owner", condition=~Q(owner="")),
        ]

    def __str__(self) -> str:
        return f"{self.corpus}: {self.owner}"


class Document(models.Model):
    """The source of blocks. `outside_id` is the owner's name for it, unique in the corpus."""

    # Without an index of its own where an index below begins with it.
    corpus = models.ForeignKey(Corpus, models.PROTECT, related_name="documents", db_index=False)
    outside_id = models.CharField(max_length=300)
    title = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["corpus", "outside_id"], name="document_id_in_corpus")]
        # To see whether a title names a document alone. Only its start: PostgreSQL indexes no long texts.
        indexes = [
            models.Index("corpus", Func("title", Value(1), Value(200), function="SUBSTR"), name="document_title_start")
        ]

    def __str__(self) -> str:
        return self.title or self.outside_id


class Block(models.Model):
    """The retrievable unit. Its texts are versions; `current` is the latest imported, empty when it was removed.

    A block never changes its document: snapshots name both.
    """

    # Without an index of its own where an index below begins with it.
    corpus = models.ForeignKey(Corpus, models.PROTECT, related_name="blocks", db_index=False)
    document = models.ForeignKey(Document, models.PROTECT, related_name="blocks")
    outside_id = models.CharField(max_length=300)
    current = models.ForeignKey("BlockVersion", models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["corpus", "outside_id"], name="block_id_in_corpus")]

    def __str__(self) -> str:
        return self.outside_id


class BlockVersion(models.Model):
    """The exact text of a block at one time; never changed, except that a redaction leaves a tombstone.

    `digest` is over the canonical bytes of everything a reader sees (title, section path, pages, text); `text_digest`
    over title and text alone: a block that only moved to another page is not a changed text. `metadata_digest` is over
    the metadata, which nobody grades and every export contains; "" when there is none.
    """

    # Without an index of its own where an index below begins with it.
    block = models.ForeignKey(Block, models.PROTECT, related_name="versions", db_index=False)
    digest = models.CharField(max_length=64)
    text_digest = models.CharField(max_length=64)
    metadata_digest = models.CharField(max_length=64, blank=True, default="")
    title = models.TextField(blank=True)
    section_path = models.JSONField(default=list, help_text="Headings from the outermost in.")
    page_start = models.PositiveIntegerField(null=True)
    page_end = models.PositiveIntegerField(null=True)
    text = models.TextField(blank=True)
    metadata = models.JSONField(default=dict)
    created_at = models.DateTimeField()
    redacted_at = models.DateTimeField(null=True)
    redaction_reason = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["block", "digest", "metadata_digest"], name="block_version_once_in_block"),
            models.CheckConstraint(
                name="block_version_pages_in_order",
                condition=Q(page_start=None, page_end=None) | Q(page_start__lte=models.F("page_end")),
            ),
            models.CheckConstraint(
                name="block_version_redacted_has_no_text",
                condition=Q(redacted_at=None) | (Q(text="") & ~Q(redaction_reason="")),
            ),
        ]
        # Django's own would be two on PostgreSQL, the other for beginnings of a digest.
        indexes = [models.Index(fields=["text_digest"], name="block_version_of_text")]

    def __str__(self) -> str:
        return f"{self.block_id}@{self.digest[:8]}"

    @property
    def name(self) -> str:
        """What pages call it: its title, or the outside id of its block. Select the block with it."""
        return self.title or self.block.outside_id

    @property
    def path(self) -> list[str]:
        """Its document, the headings above it and its title, each once. Select `block__document` with it."""
        return path_of(str(self.block.document), self.section_path, self.title)

    @property
    def is_as_written(self) -> bool:
        """Whether it has no markup, so that pages show it as it was written."""
        return bool(self.metadata.get(READ_AS) == AS_TEXT)


class Snapshot(models.Model):
    """A frozen list of block versions of one corpus, with one digest over all. It never changes."""

    corpus = models.ForeignKey(Corpus, models.PROTECT, related_name="snapshots")
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=120)
    digest = models.CharField(max_length=64)
    recipe = models.CharField(max_length=40, blank=True, db_default="", help_text=RECIPE)
    block_count = models.PositiveIntegerField()
    document_count = models.PositiveIntegerField()
    frozen_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    frozen_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["corpus", "number"], name="snapshot_number_in_corpus"),
            models.UniqueConstraint(fields=["corpus", "digest"], name="snapshot_digest_in_corpus"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def reference(self) -> str:
        """What commands call it: "handbook@3"."""
        return f"{self.corpus.slug}@{self.number}"

    @property
    def recipe_words(self) -> str:
        """How it was cut: "by heading"; "" when its files brought their own blocks."""
        return recipe_words(recipe_of(self.recipe)) if self.recipe else ""


class SnapshotBlock(models.Model):
    """One block version in a snapshot.

    `position` counts from 0 in the bytewise order of outside ids, without gaps: engines and rankings use it as
    the block's integer name, and "ties by id descending" is "position descending".
    """

    snapshot = models.ForeignKey(Snapshot, models.PROTECT, related_name="entries")
    position = models.PositiveIntegerField()
    block = models.ForeignKey(Block, models.PROTECT, related_name="+")
    version = models.ForeignKey(BlockVersion, models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["snapshot", "position"], name="snapshot_position"),
            models.UniqueConstraint(fields=["snapshot", "block"], name="snapshot_block_once"),
        ]

    def __str__(self) -> str:
        return f"{self.snapshot_id}:{self.position}"

    @property
    def name(self) -> str:
        """What pages call its passage. Select block and version with it."""
        return self.version.title or self.block.outside_id


class SnapshotDocument(models.Model):
    """The title of a document when a snapshot was frozen. A document without a title has no row."""

    snapshot = models.ForeignKey(Snapshot, models.PROTECT, related_name="titles")
    document = models.ForeignKey(Document, models.PROTECT, related_name="+")
    title = models.TextField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["snapshot", "document"], name="snapshot_document_once")]

    def __str__(self) -> str:
        return self.title


class RememberedColumns(models.Model):
    """What the columns of a table were, for the next table of this kind with the same headings in this project."""

    project = models.ForeignKey(Project, models.PROTECT, related_name="+")
    kind = models.CharField(max_length=32)
    headings = models.CharField(max_length=64, help_text="A digest of the headings, in their order.")
    choice = models.JSONField(default=dict)
    updated_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    updated_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "remembered columns"
        constraints = [
            models.UniqueConstraint(fields=["project", "kind", "headings"], name="columns_once_for_headings"),
        ]

    def __str__(self) -> str:
        return f"{self.kind}, {self.headings[:8]}"


class Import(models.Model):
    """The import of one file into a project: its kind, its plan and its result.

    `kind` names its import kind ("corpus", "queries", …), `options` the person's choices. `plan` is shown in the
    preview; `result` has the same figures once it is applied.
    """

    project = models.ForeignKey(Project, models.PROTECT, related_name="imports")
    kind = models.CharField(max_length=32)
    upload = models.OneToOneField(Upload, models.PROTECT, related_name="+")
    options = models.JSONField(default=dict)
    state = models.CharField(max_length=12, choices=ImportState.choices, default=ImportState.READING)
    plan = models.JSONField(default=dict)
    result = models.JSONField(default=dict)
    failure = models.TextField(blank=True)
    job = models.ForeignKey(Job, models.PROTECT, null=True, related_name="+")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    applied_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    applied_at = models.DateTimeField(null=True)
    undone_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    undone_at = models.DateTimeField(null=True, help_text="When what it changed was put back.")

    class Meta:
        constraints = [
            models.CheckConstraint(name="import_state_is_known", condition=Q(state__in=ImportState.values)),
            models.CheckConstraint(
                name="import_applied_at_goes_with_applied",
                condition=Q(state=ImportState.APPLIED, applied_at__isnull=False, applied_by__isnull=False)
                | (~Q(state=ImportState.APPLIED) & Q(applied_at=None, applied_by=None)),
            ),
            models.CheckConstraint(
                name="import_undone_at_goes_with_undone_by",
                condition=Q(undone_at=None, undone_by=None)
                | Q(undone_at__isnull=False, undone_by__isnull=False, state=ImportState.APPLIED),
            ),
        ]
        indexes = [models.Index(fields=["project", "-id"], name="import_newest_first")]

    def __str__(self) -> str:
        return str(self.upload)

    @property
    def title(self) -> str:
        """The name of the file. Of several that were chosen together, how many: Karat has packed them itself."""
        name = self.upload.filename
        return name.removesuffix(".zip") if SEVERAL_FILES.fullmatch(name) else name

    @property
    def outcome(self) -> str:
        """Its state in words, with what came after it was applied."""
        if self.undone_at:
            return "undone"
        return self.get_state_display() if self.mistakes or not self.questions else "waits for a decision"

    @property
    def questions(self) -> list[str]:
        """What a person has to decide before it can be imported."""
        found: list[str] = self.plan.get("questions", [])
        return found

    @property
    def mistakes(self) -> int:
        """How many mistakes its file has, without questions."""
        return int(self.plan.get("errors_total", 0)) - len(self.questions)

    @property
    def mistake_groups(self) -> list[dict[str, Any]]:
        return [group for group in self.plan.get("error_groups", []) if group["message"] not in self.questions]


class FormerVersion(models.Model):
    """The current version of a block before and after an import changed it; none where the block was removed.

    A block that the import has added has no row: `Import.result` has the range of their keys.
    """

    # Without an index of its own where an index below begins with it.
    imported = models.ForeignKey(Import, models.PROTECT, related_name="former_versions", db_index=False)
    block = models.ForeignKey(Block, models.PROTECT, related_name="+")
    former = models.ForeignKey(BlockVersion, models.PROTECT, null=True, related_name="+")
    current = models.ForeignKey(BlockVersion, models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["imported", "block"], name="former_version_once"),
            models.CheckConstraint(
                name="former_version_is_a_change", condition=Q(former__isnull=False) | Q(current__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.block_id} before {self.imported_id}"


class FormerTitle(models.Model):
    """The title of a document before and after an import changed it."""

    imported = models.ForeignKey(Import, models.PROTECT, related_name="former_titles")
    document = models.ForeignKey(Document, models.PROTECT, related_name="+")
    former = models.TextField(blank=True)
    current = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["imported", "document"], name="former_title_once")]

    def __str__(self) -> str:
        return self.former
