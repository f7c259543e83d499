from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from apps.accounts.models import Project
from apps.corpus.models import BlockVersion, Snapshot
from apps.goldsets.core.signing import fingerprint
from apps.goldsets.enums import (
    CURES,
    EntryKind,
    GroupBy,
    LossKind,
    LossReason,
    PublicState,
    SliceKind,
    Split,
    SplitBy,
    StayKind,
    StayReason,
    VersionState,
)
from apps.jobs.models import Job
from apps.judging.models import Guideline, Round
from apps.queries.models import Query
from apps.triples.models import Revision, Triple


def default_group_by() -> list[str]:
    return [GroupBy.GROUP.value]


class GoldSet(models.Model):
    """A series of versions that a project publishes."""

    project = models.ForeignKey(Project, models.PROTECT, related_name="gold_sets")
    slug = models.SlugField(max_length=60)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "slug"], name="gold_set_slug_in_project")]

    def __str__(self) -> str:
        return self.name


class Version(models.Model):
    """One release of a gold set on one snapshot. Once frozen its items never change."""

    gold_set = models.ForeignKey(GoldSet, models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=12, choices=VersionState.choices, default=VersionState.DRAFT)
    snapshot = models.ForeignKey(Snapshot, models.PROTECT, related_name="versions")
    guideline = models.ForeignKey(Guideline, models.PROTECT, null=True, related_name="+")
    rounds = models.ManyToManyField(Round, related_name="+")
    test_share = models.FloatField(default=0.5, help_text="Share of items aimed at for the test split, 0 to 1.")
    group_by = models.JSONField(default=default_group_by, help_text="What a split keeps whole: GroupBy values.")
    split_by = models.CharField(
        max_length=8, choices=SplitBy.choices, default=SplitBy.GROUP, db_default=SplitBy.GROUP.value
    )
    seed = models.BigIntegerField(default=0)
    note = models.TextField(blank=True)
    digest = models.CharField(max_length=64, blank=True, help_text="Over all items, once frozen.")
    manifest = models.JSONField(default=dict)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    frozen_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    frozen_at = models.DateTimeField(null=True)
    released_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    released_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["gold_set", "number"], name="version_number_in_gold_set"),
            models.UniqueConstraint(
                fields=["gold_set"], condition=Q(state="released"), name="version_one_released_per_gold_set"
            ),
            models.CheckConstraint(
                name="version_state_fits_its_times",
                condition=Q(state="draft", frozen_at=None, released_at=None, digest="")
                | (Q(state="frozen", frozen_at__isnull=False, released_at=None) & ~Q(digest=""))
                | (
                    Q(
                        state__in=["released", "superseded"],
                        frozen_at__isnull=False,
                        released_at__isnull=False,
                    )
                    & ~Q(digest="")
                ),
            ),
            models.CheckConstraint(
                name="version_test_share_is_a_share", condition=Q(test_share__gte=0, test_share__lte=1)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.gold_set} v{self.number}"

    @property
    def label(self) -> str:
        return f"v{self.number}"

    @property
    def numbered(self) -> str:
        """Its number as major.minor.patch, "" for a draft. Versions frozen before there were numbers count as major."""
        if self.is_draft:
            return ""
        return self.manifest.get("numbered", {}).get("number") or f"{self.number}.0.0"

    @property
    def is_draft(self) -> bool:
        return self.state == VersionState.DRAFT


class SigningKey(models.Model):
    """A key that signs the exports of a project: one is in use, earlier ones stay so that people can look them up."""

    project = models.ForeignKey(Project, models.PROTECT, related_name="signing_keys")
    public_key = models.CharField(max_length=60)
    sealed = models.BinaryField(help_text="The private key, sealed under SECRET_KEY.")
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    made_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project"], condition=Q(ended_at=None), name="signing_key_one_in_use")
        ]

    def __str__(self) -> str:
        return self.fingerprint

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.public_key)


class VersionQuery(models.Model):
    """A query as it was released. `fields` has what strata and exports need: the QueryRow of the writers."""

    version = models.ForeignKey(Version, models.PROTECT, related_name="queries")
    query = models.ForeignKey(Query, models.PROTECT, related_name="version_queries")
    outside_id = models.CharField(max_length=200)
    text = models.TextField()
    split = models.CharField(max_length=4, choices=Split.choices)
    fields = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["version", "outside_id"], name="version_query_once")]

    def __str__(self) -> str:
        return self.outside_id


class VersionGrade(models.Model):
    """A judged pair as it was released."""

    version = models.ForeignKey(Version, models.PROTECT, related_name="grades")
    query = models.ForeignKey(VersionQuery, models.PROTECT, related_name="grades")
    block_version = models.ForeignKey(BlockVersion, models.PROTECT, related_name="+")
    block_id = models.CharField(max_length=300)
    position = models.PositiveIntegerField(help_text="The block's position in the version's snapshot.")
    grade = models.SmallIntegerField()
    resolution = models.CharField(max_length=16)
    judges = models.PositiveSmallIntegerField(default=1, help_text="People whose answers the grade rests on.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["query", "block_version"], name="version_grade_once")]

    def __str__(self) -> str:
        return f"{self.query_id}–{self.block_id}: {self.grade}"


class VersionTriple(models.Model):
    """A triple as it was released: `content` is the TripleRow of the writers."""

    version = models.ForeignKey(Version, models.PROTECT, related_name="triples")
    triple = models.ForeignKey(Triple, models.PROTECT, related_name="version_triples")
    revision = models.ForeignKey(Revision, models.PROTECT, related_name="+")
    label = models.CharField(max_length=20)
    split = models.CharField(max_length=4, choices=Split.choices)
    content = models.JSONField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["version", "triple"], name="version_triple_once")]

    def __str__(self) -> str:
        return self.label


class VersionLoss(models.Model):
    """A pair or a query that the version left out when it was frozen, with the reason: see `selectors.losses`."""

    version = models.ForeignKey(Version, models.PROTECT, related_name="losses")
    kind = models.CharField(max_length=8, choices=LossKind.choices)
    query_name = models.CharField(max_length=200)
    block_name = models.CharField(max_length=300, blank=True)
    grade = models.SmallIntegerField(null=True)
    reason = models.CharField(max_length=16, choices=LossReason.choices)
    sentence = models.TextField()

    class Meta:
        verbose_name_plural = "version losses"

    def __str__(self) -> str:
        return f"{self.query_name} {self.block_name}".strip()

    @property
    def cure(self) -> str:
        """What could have been done about it, and can be in the next version."""
        return CURES[LossReason(self.reason)]


class Slice(models.Model):
    """A part of a version's dev questions: a quarter's sample, or one that grows by hand or as questions are found.

    Its questions are numbered from 1 and never removed, so the first n of them are the slice as it was at some time.
    """

    version = models.ForeignKey(Version, models.PROTECT, related_name="slices")
    kind = models.CharField(max_length=10, choices=SliceKind.choices)
    quarter = models.CharField(max_length=7, blank=True, help_text="Of a rotating slice, such as 2026-Q4: its seed.")
    rows = models.PositiveIntegerField(null=True, help_text="The members of a rotating slice; it takes no more.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["version", "kind", "quarter"], name="slice_once"),
            models.CheckConstraint(
                name="slice_rotates_by_quarter",
                condition=(Q(kind="rotating", rows__isnull=False) & ~Q(quarter=""))
                | Q(kind__in=["challenge", "regression", "canary"], quarter="", rows=None),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """As files and commands write it: the quarter of a rotating slice, else its kind."""
        return self.quarter or self.kind

    @property
    def words(self) -> str:
        """As pages write it: "Rotating 2026-Q4"."""
        return f"{SliceKind(self.kind).label} {self.quarter}".rstrip()

    @property
    def is_rotating(self) -> bool:
        return self.kind == SliceKind.ROTATING


class SliceMember(models.Model):
    """A query or a triple of a slice. A question that is both has a row for each, with one number and one name."""

    slice = models.ForeignKey(Slice, models.PROTECT, related_name="members")
    number = models.PositiveIntegerField(help_text="Of the question, from 1 in the order of adding.")
    name = models.CharField(max_length=200, help_text="The outside id of the query, else the label of the triple.")
    query = models.ForeignKey(VersionQuery, models.PROTECT, null=True, related_name="+")
    triple = models.ForeignKey(VersionTriple, models.PROTECT, null=True, related_name="+")
    why = models.CharField(max_length=200, help_text="Why the question is in the slice, as a sentence or its end.")
    added_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    added_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["slice", "query"], name="slice_query_once"),
            models.UniqueConstraint(fields=["slice", "triple"], name="slice_triple_once"),
            models.CheckConstraint(
                name="slice_member_is_query_or_triple",
                condition=Q(query=None, triple__isnull=False) | Q(query__isnull=False, triple=None),
            ),
        ]
        indexes = [models.Index(fields=["slice", "number"], name="slice_member_in_order")]

    def __str__(self) -> str:
        return self.name


def person(*, null: bool = False) -> "models.ForeignKey[Any, Any]":
    return models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=null, related_name="+")


class PublicRelease(models.Model):
    """What of a version goes out to the public: prepared by one lead, signed by another, then fixed for good.

    `digest` is the SHA-256 of the zip file, empty until it is built. Its bytes are kept from then on, in parts.
    """

    version = models.ForeignKey(Version, models.PROTECT, related_name="public_releases")
    state = models.CharField(max_length=12, choices=PublicState.choices, default=PublicState.PREPARING)
    job = models.ForeignKey(
        Job, models.PROTECT, null=True, related_name="+", help_text="The last one that built the files."
    )
    title = models.CharField(max_length=120)
    holder = models.CharField(max_length=120, blank=True, help_text="Who is credited; empty for nobody.")
    licence = models.CharField(max_length=40)
    splits = models.JSONField(default=list)
    card = models.JSONField(default=dict, help_text="The text of each section of the data card.")
    report = models.JSONField(default=dict, help_text="What goes, what stays, and what was taken out, in counts.")
    digest = models.CharField(max_length=64, blank=True)
    size = models.PositiveBigIntegerField(default=0)
    prepared_by = person()
    prepared_at = models.DateTimeField()
    asked = person(null=True)
    asked_at = models.DateTimeField(null=True)
    signed_by = person(null=True)
    signed_at = models.DateTimeField(null=True)
    released_by = person(null=True)
    released_at = models.DateTimeField(null=True)
    withdrawn_by = person(null=True)
    withdrawn_at = models.DateTimeField(null=True)
    withdrawal_reason = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["version"], condition=~Q(state="withdrawn"), name="public_release_one_live_per_version"
            ),
            models.CheckConstraint(
                name="public_release_signer_is_another",
                condition=Q(signed_by=None) | ~Q(signed_by=models.F("prepared_by")),
            ),
            models.CheckConstraint(
                name="public_release_state_fits_its_times",
                condition=Q(
                    state__in=["preparing", "failed", "prepared"], signed_at=None, released_at=None, withdrawn_at=None
                )
                | Q(state="signed", signed_at__isnull=False, released_at=None, withdrawn_at=None)
                | Q(state="released", signed_at__isnull=False, released_at__isnull=False, withdrawn_at=None)
                | Q(state="withdrawn", withdrawn_at__isnull=False),
            ),
            models.CheckConstraint(
                name="public_release_has_a_digest",
                condition=Q(state__in=["preparing", "failed", "withdrawn"]) | ~Q(digest=""),
            ),
            models.CheckConstraint(
                name="public_release_signature_has_a_signer",
                condition=Q(signed_at=None, signed_by=None) | Q(signed_at__isnull=False, signed_by__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.title} {self.version.label}, public"

    @property
    def is_preparing(self) -> bool:
        return self.state == PublicState.PREPARING

    @property
    def is_prepared(self) -> bool:
        return self.state == PublicState.PREPARED

    @property
    def is_built(self) -> bool:
        """Whether its files are there, and are those of its choices."""
        return self.state not in {PublicState.PREPARING, PublicState.FAILED}

    @property
    def open_job(self) -> Job | None:
        """The job that builds its files now, or waits to."""
        return self.job if self.job is not None and not self.job.is_ended else None


class PublicStay(models.Model):
    """An item that a public release keeps in, with the reason."""

    release = models.ForeignKey(PublicRelease, models.PROTECT, related_name="stays")
    kind = models.CharField(max_length=8, choices=StayKind.choices)
    name = models.CharField(max_length=300)
    reason = models.CharField(max_length=16, choices=StayReason.choices)
    detail = models.CharField(max_length=200, blank=True)

    class Meta:
        indexes = [models.Index(fields=["release", "kind", "reason", "id"], name="public_stay_by_reason")]

    def __str__(self) -> str:
        return self.name


class PublicLook(models.Model):
    """A person opened the preview of what goes out, as it was under this digest."""

    release = models.ForeignKey(PublicRelease, models.PROTECT, related_name="looks")
    person = person()
    digest = models.CharField(max_length=64)
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["release", "person", "digest"], name="public_look_once")]

    def __str__(self) -> str:
        return f"{self.release_id}: {self.person_id}"


class PublicPart(models.Model):
    """A part of the zip file of a public release, in order."""

    release = models.ForeignKey(PublicRelease, models.PROTECT, related_name="parts")
    number = models.PositiveIntegerField()
    data = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["release", "number"], name="public_part_once")]

    def __str__(self) -> str:
        return f"{self.release_id}: {self.number}"


class TrainingManifest(models.Model):
    """A list of what a system was trained on. While it is in use, every draft of the project is checked against it."""

    project = models.ForeignKey(Project, models.PROTECT, related_name="training_manifests")
    name = models.CharField(max_length=120)
    file = models.CharField(max_length=255)
    digest = models.CharField(max_length=64, help_text="Over all entries, whatever file they came in.")
    counts = models.JSONField(default=dict, help_text="The number of entries of each kind.")
    added_by = person()
    added_at = models.DateTimeField()
    retired_by = person(null=True)
    retired_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "name"], condition=Q(retired_at=None), name="training_name_once_in_use"
            ),
            models.UniqueConstraint(
                fields=["project", "digest"], condition=Q(retired_at=None), name="training_digest_once_in_use"
            ),
            models.CheckConstraint(
                name="training_retired_at_goes_with_retired_by",
                condition=Q(retired_at=None, retired_by=None) | Q(retired_at__isnull=False, retired_by__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def size(self) -> int:
        return sum(self.counts.values())

    @property
    def counted(self) -> str:
        return counted_entries(self.counts)

    @property
    def dialog(self) -> str:
        """The id of the dialog that retires it."""
        return f"retire-{self.pk}"


class TrainingEntry(models.Model):
    """An id or a text hash of a training manifest."""

    manifest = models.ForeignKey(TrainingManifest, models.PROTECT, related_name="entries", db_index=False)
    kind = models.CharField(max_length=8, choices=EntryKind.choices)
    value = models.CharField(max_length=300)

    class Meta:
        verbose_name_plural = "training entries"
        constraints = [
            models.UniqueConstraint(fields=["manifest", "value", "kind"], name="training_entry_once"),
            models.CheckConstraint(name="training_entry_kind_is_known", condition=Q(kind__in=EntryKind.values)),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.value}"


def counted_entries(counts: Mapping[str, int]) -> str:
    """ "3 ids of questions, 1 text hash", by kind."""
    return ", ".join(f"{counts[kind]:,} {_of(kind, counts[kind])}" for kind in EntryKind if counts.get(kind))


def _of(kind: EntryKind, number: int) -> str:
    if number == 1:
        return str(kind.label)
    return "text hashes" if kind == EntryKind.TEXT else f"ids of {kind.label.split()[-1]}s"
