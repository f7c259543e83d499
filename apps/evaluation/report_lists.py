"""What the pages that list the reports of one kind on a version have in common."""

from collections.abc import Iterable
from typing import Any

from django.forms import BaseForm

from apps.accounts.models import Project
from apps.evaluation import rules
from apps.evaluation.models import BiasReport, StabilityReport
from apps.goldsets.models import Version
from apps.goldsets.selectors import scorable_versions


def list_context(
    project: Project,
    version: Version | None,
    reports: Iterable[BiasReport | StabilityReport],
    form: BaseForm | None,
) -> dict[str, Any]:
    """The reports of the version, those that are computed apart from those that wait, and the form of the next."""
    found = list(reports)
    return {
        "section": "Runs",
        "version": version,
        "versions": scorable_versions(project),
        "reports": [(report, rules.SPLIT_WORDS[report.split]) for report in found if report.is_computed],
        "waiting": [report for report in found if not report.is_computed],
        "form": form,
    }
