from django.db import models
from django.db.models import Q

from apps.jobs.models import Job


class Backup(models.Model):
    """A backup that was written. Without `verified_at` nobody has restored it yet.

    It stays on record when its file is removed, at `removed_at`.
    """

    path = models.CharField(max_length=1000)
    made_at = models.DateTimeField()
    size = models.PositiveBigIntegerField(help_text="Bytes.")
    rows = models.PositiveBigIntegerField()
    digest = models.CharField(max_length=64, help_text="Over all tables and files.")
    verified_at = models.DateTimeField(null=True)
    removed_at = models.DateTimeField(null=True)
    job = models.OneToOneField(Job, models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["path"], condition=Q(removed_at=None), name="backup_path_in_use"),
        ]
        indexes = [models.Index(fields=["-made_at"], name="backup_newest_first")]

    def __str__(self) -> str:
        return self.path
