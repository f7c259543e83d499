"""Creating systems that Karat runs itself."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction

from apps.accounts.models import Project, User
from apps.retrieval.core.engines.base import BadParameters
from apps.retrieval.core.engines.registry import make
from apps.retrieval.enums import BUILT_IN, BlockText
from apps.retrieval.execution.registration import add_system
from apps.retrieval.models import System
from apps.retrieval.rules import SystemRefused


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
