"""Gold sets, their versions with what each holds, slices of its questions, and the keys that sign exports."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from apps.accounts.models import Project
from apps.corpus.models import BlockVersion, Snapshot
from apps.goldsets.core.signing import fingerprint
from apps.goldsets.enums import CURES, GroupBy, LossKind, LossReason, SliceKind, Split, SplitBy, VersionState
from apps.judging.models import Guideline, Round
from apps.queries.models import Query
from apps.triples.models import Revision, Triple


def person(*, null: bool = False) -> "models.ForeignKey[Any, Any]":
    return models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=null, related_name="+")


def default_group_by() -> list[str]:
    return [GroupBy.GROUP.value]


class GoldSet(models.Model):
    """A series of versions that a project publishes."""

    project = models.ForeignKey(Project, models.PROTECT, related_name="gold_sets")
    slug = models.SlugField(max_length=60)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    created_by = person()
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
    created_by = person()
    created_at = models.DateTimeField()
    frozen_by = person(null=True)
    frozen_at = models.DateTimeField(null=True)
    released_by = person(null=True)
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
    facets = models.JSONField(
        null=True, help_text="Ids of the query's subtopics that the block answers. Empty: nobody was asked."
    )

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
    created_by = person()
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
    added_by = person()
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


class SigningKey(models.Model):
    """A key that signs the exports of a project: one is in use, earlier ones stay so that people can look them up."""

    project = models.ForeignKey(Project, models.PROTECT, related_name="signing_keys")
    public_key = models.CharField(max_length=60)
    sealed = models.BinaryField(help_text="The private key, sealed under SECRET_KEY.")
    made_by = person()
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
