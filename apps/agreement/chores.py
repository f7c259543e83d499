"""What the tracker does on its own."""

import logging
from datetime import datetime, timedelta

from apps.accounts.models import Project
from apps.agreement.actions import check_project
from apps.jobs.chores import chore

log = logging.getLogger(__name__)


@chore("open calibrations", every=timedelta(hours=6))
def open_calibrations(at: datetime) -> None:
    """Look at every project's charts. What could not be opened is said again at the next look, and on the page."""
    for project in Project.objects.order_by("pk"):
        for sentence in check_project(project=project, actor=None, at=at).refused:
            log.info("No calibration in %s. %s", project.slug, sentence)
