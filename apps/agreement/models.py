"""Grades that a job read and stored for the figures of agreement."""

from django.db import models

from apps.accounts.models import Project
from apps.jobs.models import Job


class ReadGrades(models.Model):
    """The grades of some rounds at one time, for figures of more grades than a page can read.

    A copy that the next reading replaces: `newest` is the key of the last judgement at that time.
    """

    project = models.ForeignKey(Project, models.PROTECT, related_name="+")
    rounds = models.JSONField(help_text="Keys of the rounds, ascending.")
    digest = models.CharField(max_length=64)
    packed = models.BinaryField(null=True, help_text="As `columns.packed` writes them.")
    newest = models.BigIntegerField(default=0)
    read_at = models.DateTimeField(null=True)
    job = models.ForeignKey(Job, models.PROTECT, null=True, related_name="+")
    asked_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "read grades"
        constraints = [models.UniqueConstraint(fields=["project", "digest"], name="read_grades_once_per_rounds")]

    def __str__(self) -> str:
        return f"grades of {len(self.rounds)} rounds"

    @property
    def is_waiting(self) -> bool:
        """Whether a job to read them is queued."""
        return self.job is not None and not self.job.is_ended
