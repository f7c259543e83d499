"""Slices: parts of a version's dev questions."""

from django.db import models
from django.db.models import Q

from apps.goldsets.enums import SliceKind
from apps.goldsets.models.fields import person
from apps.goldsets.models.versions import Version, VersionQuery, VersionTriple


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
