from typing import Any, ClassVar

from django.db import models

from apps.accounts.models import Project
from apps.evaluation.models import Requested
from apps.goldsets.models import Version
from apps.retrieval.models import Run


class Report(Requested):
    """An analysis of the order of runs by a job. It never changes once computed. `digest` covers the request.

    A kind of report with `shows_people` shows the effect of single people's grades: hidden while a round is open.
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
    """Scores and ranks on one split of a version without the grades that one system alone brought in.

    `depth` decides which runs found a pair: every run that ranks it that high, or, at 0, those recorded in the pools
    of the version's rounds.
    """

    project = models.ForeignKey(Project, models.PROTECT, related_name="bias_reports")
    version = models.ForeignKey(Version, models.PROTECT, related_name="bias_reports")
    measures = models.JSONField(help_text="Measure names in the requested order; the first weighs what to judge first.")
    depth = models.PositiveIntegerField(default=0)
    result = models.JSONField(default=dict, help_text="As `execution.bias` writes it.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["version", "digest"], name="bias_report_once")]


class StabilityReport(Report):
    """Whether the order of systems is the same under each annotator's grades."""

    shows_people = True

    project = models.ForeignKey(Project, models.PROTECT, related_name="stability_reports")
    version = models.ForeignKey(Version, models.PROTECT, related_name="stability_reports")
    result = models.JSONField(default=dict, help_text="As the job of its kind in `reports.execution` writes it.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["version", "digest"], name="stability_report_once")]


class NegativesReport(Report):
    """Scores on one split of a version without its hard negatives and with them.

    `baseline` is the run that finds them: among its first `depth` results.
    """

    project = models.ForeignKey(Project, models.PROTECT, related_name="negatives_reports")
    version = models.ForeignKey(Version, models.PROTECT, related_name="negatives_reports")
    baseline = models.ForeignKey(Run, models.PROTECT, related_name="+")
    depth = models.PositiveIntegerField()
    result = models.JSONField(default=dict, help_text="As `execution.negatives` writes it.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["version", "digest"], name="negatives_report_once")]
