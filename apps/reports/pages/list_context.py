"""What the pages that list the reports of one kind on a version have in common."""

from typing import Any

from django.forms import BaseForm

from apps.accounts.models import Project
from apps.evaluation import rules
from apps.goldsets.models import Version
from apps.goldsets.selectors.versions import scorable_versions
from apps.reports.selectors.reports import AnyReport, reports_in


def list_context(
    kind: type[AnyReport], project: Project, version: Version | None, form: BaseForm | None
) -> dict[str, Any]:
    """The reports of the version, those that are computed apart from those that wait, and the form of the next."""
    found = list(reports_in(kind, project).filter(version=version)) if version else []
    return {
        "version": version,
        "versions": scorable_versions(project),
        "reports": [(report, rules.SPLIT_WORDS[report.split]) for report in found if report.is_computed],
        "waiting": [report for report in found if not report.is_computed],
        "form": form,
    }
