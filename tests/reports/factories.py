"""Reports on bias and stability for tests, requested and computed by the real job."""

from typing import TypeVar

from apps.reports.actions import request_report
from apps.reports.models import BiasReport, Report, StabilityReport
from tests.evaluation.factories import Scene
from tests.factories import AT
from tests.running_jobs import run_jobs

R = TypeVar("R", bound=Report)
USUAL: dict[type[Report], dict] = {
    BiasReport: {"measures": "nDCG@10 P@2", "depth": 2},
    StabilityReport: {"measures": "nDCG@10 RR"},
}


def request_analysis(kind: type[R], scene: Scene, **options) -> R:
    """A report on all runs of the scene that waits for its job."""
    asked = {"run_ids": [run.pk for run in scene.runs.values()], **USUAL[kind], **options}
    return request_report(
        kind=kind, project=scene.project, version_id=scene.version.pk, actor=scene.lead, at=AT, **asked
    )


def compute(kind: type[R], scene: Scene, **options) -> R:
    report = request_analysis(kind, scene, **options)
    run_jobs()
    report.refresh_from_db()
    assert report.is_computed, report.job.error
    return report
