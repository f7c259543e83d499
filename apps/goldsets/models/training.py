"""Training manifests: lists of what a system was trained on."""

from django.db import models
from django.db.models import Q

from apps.accounts.models import Project
from apps.goldsets.core.training import counted_entries
from apps.goldsets.enums import EntryKind
from apps.goldsets.models.versions import person


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
