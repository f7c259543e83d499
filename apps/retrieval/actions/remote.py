"""Describing systems elsewhere, and how hard they are asked."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from apps.accounts.models import Project, Secret, User
from apps.audit.actions import record
from apps.common.web.addresses import BadAddress, parse_url
from apps.retrieval.core.engines import BadParameters
from apps.retrieval.core.engines.remote import REMOTE, Pace, RemoteEngine, make_remote
from apps.retrieval.enums import ASKED
from apps.retrieval.execution.registration import add_system
from apps.retrieval.models import System
from apps.retrieval.rules import SystemRefused


@transaction.atomic
def create_remote_system(
    *,
    project: Project,
    name: str,
    kind: str,
    parameters: Mapping[str, Any],
    pace: Mapping[str, Any] | None = None,
    actor: User,
    at: datetime,
) -> System:
    """Describe a system that Karat asks. What it is asked is its identity; how hard it is asked is not."""
    try:
        engine, settled = _engine(kind, parameters), Pace.of(pace or {})
        parse_url(engine.address)
    except (BadParameters, BadAddress) as wrong:
        raise SystemRefused(str(wrong), code="bad_parameters") from wrong
    secret = engine.auth.secret
    if secret and not Secret.objects.filter(project=project, name=secret).exists():
        raise SystemRefused(
            f"The project has no secret called {secret}. Add it in the settings first.", code="no_secret"
        )
    identity = engine.identity()
    given = {key: value for key, value in identity.items() if key not in {"engine", "revision"}}
    config = {"engine": given, "revision": identity["revision"]}
    return add_system(project, name.strip(), kind, config, actor, at, apart={"pace": settled.values()})


def _engine(kind: str, parameters: Mapping[str, Any]) -> RemoteEngine:
    if kind not in REMOTE:
        raise SystemRefused(f"{kind!r} is not an external system; choose one of {', '.join(REMOTE)}.", code="bad_kind")
    return make_remote(kind, parameters)


@transaction.atomic
def change_pace(*, system: System, pace: Mapping[str, Any], actor: User, at: datetime) -> System:
    """Ask a system harder or more gently from its next run on. It stays the same system."""
    row = System.objects.select_for_update().get(pk=system.pk)
    if row.kind not in ASKED:
        raise SystemRefused(f"Karat runs {row.name} itself; it has no request limits.", code="no_pace")
    before = row.config.get("pace", {})
    try:
        settled = Pace.of({**before, **pace}).values()
    except BadParameters as wrong:
        raise SystemRefused(str(wrong), code="bad_parameters") from wrong
    row.config = {**row.config, "pace": settled}
    row.save(update_fields=["config"])
    if settled != before:
        record(project=row.project, actor=actor, action="system.paced", obj=row, before=before, after=settled, at=at)
    return row
