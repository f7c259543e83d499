from typing import Any, ClassVar

from django.db import models

from apps.accounts.models import Project
from apps.evaluation.models import Requested
from apps.goldsets.models import Version


class Report(Requested):
    """What a job finds out about the order of runs. Once computed it never changes. `digest` covers what was asked.

    A kind of report that `shows_people` shows what single people's grades do: nobody sees it while a round is open.
    """

    shows_people: ClassVar[bool] = False

    runs = models.JSONField(help_text="Keys of the runs, ascending.")
    digest = models.CharField(max_length=64)
    computed_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    version: Version
    result: Any

    def __str__(self) -> str:
        return f"{len(self.runs)} runs on {self.version.pk}"

    @property
    def is_computed(self) -> bool:
        return self.computed_at is not None


class BiasReport(Report):
    """What one side of a version owes to each system that was pooled.

    `depth` says who is taken to have brought a pair in: every run that ranks it so high, or, at 0, whoever the pools
    of the version's rounds name.
    """

    project = models.ForeignKey(Project, models.PROTECT, related_name="bias_reports")
    version = models.ForeignKey(Version, models.PROTECT, related_name="bias_reports")
    measures = models.JSONField(help_text="Measure names in the order asked for; the first weighs what to judge first.")
    depth = models.PositiveIntegerField(default=0)
    result = models.JSONField(default=dict, help_text="As `execution.bias` writes it.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["version", "digest"], name="bias_report_once")]


class StabilityReport(Report):
    """Whether the order of systems holds under each annotator's grades."""

    shows_people = True

    project = models.ForeignKey(Project, models.PROTECT, related_name="stability_reports")
    version = models.ForeignKey(Version, models.PROTECT, related_name="stability_reports")
    result = models.JSONField(default=dict, help_text="As `execution` writes it.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["version", "digest"], name="stability_report_once")]
