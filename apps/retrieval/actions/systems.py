"""Describing systems."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.digests import digest_of
from apps.common.errors import Refusal
from apps.retrieval.actions.lengths import check_lengths
from apps.retrieval.engines import BadParameters, make
from apps.retrieval.enums import BlockText, SystemKind
from apps.retrieval.models import System


class SystemRefused(Refusal):
    """A system cannot be described like that."""


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
    """Describe a system that Karat runs itself. Its kind, parameters and words read are its identity."""
    try:
        engine = make(kind, parameters, settings.MODELS_DIR)
    except BadParameters as wrong:
        raise SystemRefused(str(wrong), code="bad_parameters") from wrong
    if words not in BlockText.values:
        raise SystemRefused(f"{words!r} is not a text to read; choose one of {', '.join(BlockText.values)}.")
    identity = engine.identity()
    given = {key: value for key, value in identity.items() if key not in {"engine", "revision"}}
    config = {"engine": given, "revision": identity["revision"], "words": str(words)}
    return add_system(project, name.strip(), kind, config, actor, at)


@transaction.atomic
def create_usual_systems(*, project: Project, actor: User, at: datetime) -> list[System]:
    """Describe BM25 and TF-IDF with their usual parameters, for a project without a system that Karat can run."""
    return [
        create_system(project=project, name=SystemKind(kind).label, kind=kind, actor=actor, at=at)
        for kind in (SystemKind.BM25, SystemKind.TFIDF)
    ]


def add_system(
    project: Project,
    name: str,
    kind: str,
    config: dict[str, Any],
    actor: User,
    at: datetime,
    apart: dict[str, Any] | None = None,
) -> System:
    """`apart` is kept in the configuration too, but is no part of the identity."""
    if not name:
        raise SystemRefused("A system needs a name.", code="name_missing")
    check_lengths(name=name)
    if System.objects.filter(project=project, name=name).exists():
        raise SystemRefused(f"There is already a system called {name}.", code="name_taken")
    digest = digest_of({"kind": kind, "config": config})
    if twin := System.objects.filter(project=project, digest=digest).first():
        raise SystemRefused(f"{twin.name} already has exactly this configuration.", code="system_exists")
    system = System.objects.create(
        project=project,
        name=name,
        kind=kind,
        config={**config, **(apart or {})},
        digest=digest,
        created_by=actor,
        created_at=at,
    )
    after = {"name": name, "kind": kind, "digest": digest}
    record(project=project, actor=actor, action="system.created", obj=system, after=after, at=at)
    return system
