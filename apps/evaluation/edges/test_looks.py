from django.utils import timezone

from apps.evaluation.edges.sheets import EvaluationSheet
from apps.goldsets.actions import log_test_look


def log_look(sheet: EvaluationSheet, what: str) -> None:
    """Put it on record when its reader is laid open what is sealed to others."""
    if sheet.shows_test:
        version = sheet.evaluation.version
        log_test_look(version=version, actor=sheet.member.user, what=what, at=timezone.now())
