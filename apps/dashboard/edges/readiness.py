"""Whether this server can do its work: for load balancers that send people only where everything is at hand."""

from collections.abc import Mapping
from typing import NamedTuple

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from apps.common.database.deadline import read_in_time
from apps.common.database.schema import FITS, SchemaGap, schema_gap
from apps.common.web.tokens import is_bearer_of
from apps.jobs.selectors.jobs import MISSING_AFTER_SECONDS, worker_last_seen

OK, NOT_READY = "ok", "not ready"


class Found(NamedTuple):
    """What the database says; the worker is not looked for in tables of another version."""

    gap: SchemaGap
    worker_seconds: int | None = None

    @property
    def parts(self) -> dict[str, bool]:
        is_seen = self.worker_seconds is not None and self.worker_seconds <= MISSING_AFTER_SECONDS
        return {"database": True, "schema": self.gap == FITS, "worker": is_seen}


@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """200 when the database answers, its tables are those of this version, and a worker was seen in the last minute.

    Otherwise 503, with the parts that are not ready. Details are for those who have the health token.
    """
    try:
        found = read_in_time(_look)
    except DatabaseError:
        return _not_ready({"database": NOT_READY})
    is_ready = all(found.parts.values())
    parts = {name: OK if is_well else NOT_READY for name, is_well in found.parts.items()}
    details = _details(found) if is_bearer_of(settings.HEALTH_TOKEN, request) else {}
    if is_ready:
        return JsonResponse({"status": "ready", **details})
    return _not_ready(parts | details)


def _not_ready(parts: Mapping[str, object]) -> JsonResponse:
    """An answer, not a fault: a balancer asks every few seconds, and Django would log each as an error."""
    answer = JsonResponse({"status": NOT_READY, **parts}, status=503)
    answer._has_been_logged = True  # type: ignore[attr-defined]  # as Django marks it
    return answer


def _look() -> Found:
    gap = schema_gap()
    return Found(gap, worker_last_seen()) if gap == FITS else Found(gap)


def _details(found: Found) -> dict[str, object]:
    return {
        "karat": settings.VERSION,
        "schema_is": found.gap.words or "that of this version of Karat",
        "worker_seconds": found.worker_seconds,
    }
