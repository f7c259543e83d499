"""Creating systems that fuse others."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from apps.accounts.models import Project, User
from apps.retrieval import rules
from apps.retrieval.core.engines.base import BadParameters
from apps.retrieval.core.engines.registry import DEFAULT_K, Fusion
from apps.retrieval.enums import SystemKind
from apps.retrieval.execution.run_reading import add_system
from apps.retrieval.models import System
from apps.retrieval.rules import SystemRefused
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
