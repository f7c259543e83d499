"""Creating systems: those that Karat runs itself, fusions of runs, and systems elsewhere."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.web.addresses import BadAddress, parse_url
from apps.retrieval import rules
from apps.retrieval.core.engines.base import BadParameters
from apps.retrieval.core.engines.registry import DEFAULT_K, Fusion, make
from apps.retrieval.core.engines.remote import REMOTE, make_remote
from apps.retrieval.core.engines.remote.base import RemoteEngine
from apps.retrieval.core.engines.remote.search import Pace
from apps.retrieval.enums import BUILT_IN, ELSEWHERE, BlockText, SystemKind
from apps.retrieval.execution.run_reading import add_system
from apps.retrieval.models import System
from apps.retrieval.rules import SystemRefused, secret_refusal
from apps.retrieval.selectors.systems import system_in


@transaction.atomic
def create_fusion(
    *, project: Project, name: str, system_ids: Sequence[int], k: float = DEFAULT_K, actor: User, at: datetime
) -> System:
    """Create a system that fuses the rankings of others by reciprocal rank. Its identity is the systems and k.

    Raises SystemRefused.
    """
    systems = [system_in(project, pk) for pk in dict.fromkeys(system_ids)]
    if reason := next(filter(None, map(rules.blocks_refusal, systems)), None):
        raise SystemRefused(reason, code="own_passages")
    try:
        identity = Fusion(tuple(system.digest for system in systems), k).identity()
    except BadParameters as error:
        raise SystemRefused(str(error), code="bad_parameters") from error
    parameters = {"systems": identity["systems"], "k": identity["k"]}
    config = {"engine": parameters, "revision": identity["revision"]}
    return add_system(project, name.strip(), SystemKind.FUSION, config, actor, at)


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
    """Create a system that Karat queries over HTTP. The pace is not part of its identity. Raises SystemRefused."""
    try:
        engine, limits = _engine(kind, parameters), Pace.of(pace or {})
        parse_url(engine.address)
    except (BadParameters, BadAddress) as error:
        raise SystemRefused(str(error), code="bad_parameters") from error
    if reason := secret_refusal(project, engine.auth.secret):
        raise SystemRefused(reason, code="no_secret")
    identity = engine.identity()
    own = {key: value for key, value in identity.items() if key not in {"engine", "revision"}}
    config = {"engine": own, "revision": identity["revision"]}
    return add_system(project, name.strip(), kind, config, actor, at, settings={"pace": limits.values()})


def _engine(kind: str, parameters: Mapping[str, Any]) -> RemoteEngine:
    if kind not in REMOTE:
        raise SystemRefused(f"{kind!r} is not an external system; choose one of {', '.join(REMOTE)}.", code="bad_kind")
    return make_remote(kind, parameters)


@transaction.atomic
def change_pace(*, system: System, pace: Mapping[str, Any], actor: User, at: datetime) -> System:
    """Change the request limits of a system from its next run on; limits that are not in `pace` stay."""
    row = System.objects.select_for_update().get(pk=system.pk)
    if row.kind not in ELSEWHERE:
        raise SystemRefused(f"Karat runs {row.name} itself; it has no request limits.", code="no_pace")
    before = row.config.get("pace", {})
    try:
        after = Pace.of({**before, **pace}).values()
    except BadParameters as error:
        raise SystemRefused(str(error), code="bad_parameters") from error
    row.config = {**row.config, "pace": after}
    row.save(update_fields=["config"])
    if after != before:
        record(project=row.project, actor=actor, action="system.paced", obj=row, before=before, after=after, at=at)
    return row


@transaction.atomic
def create_system(
    *,
    project: Project,
    name: str,
    kind: str,
    parameters: Mapping[str, Any] | None = None,
    words: str = BlockText.TITLE_AND_TEXT,
    actor: User,
    at: datetime,
) -> System:
    """Create a system that Karat runs itself. Its kind, parameters and `words` (a `BlockText`) are its identity.

    Raises SystemRefused.
    """
    try:
        engine = make(kind, parameters, settings.MODELS_DIR)
    except BadParameters as error:
        raise SystemRefused(str(error), code="bad_parameters") from error
    if words not in BlockText.values:
        raise SystemRefused(f"words must be one of {', '.join(BlockText.values)}, not {words!r}.")
    identity = engine.identity()
    own = {key: value for key, value in identity.items() if key not in {"engine", "revision"}}
    config = {"engine": own, "revision": identity["revision"], "words": str(words)}
    return add_system(project, name.strip(), kind, config, actor, at)


@transaction.atomic
def create_built_in_systems(*, project: Project, actor: User, at: datetime) -> list[System]:
    """Create BM25 and TF-IDF with default parameters, for a project without a system that Karat can run.

    Raises SystemRefused.
    """
    return [create_system(project=project, name=kind.label, kind=kind, actor=actor, at=at) for kind in BUILT_IN]
