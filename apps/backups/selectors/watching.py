"""What a monitor watches of backups."""

from datetime import datetime
from math import inf

from apps.backups.models import Backup
from apps.common.web.exposition import Metric, gauge


def backup_metrics(at: datetime) -> list[Metric]:
    """Infinity where there is no verified backup, so that an alert for an old one fires."""
    made = (
        Backup.objects.filter(verified_at__isnull=False).order_by("-made_at").values_list("made_at", flat=True).first()
    )
    age = inf if made is None else max(0.0, (at - made).total_seconds())
    return [gauge("karat_backup_age_seconds", "Time since the last verified backup was made.", age)]
