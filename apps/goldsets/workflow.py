"""The states of a version and of its public release, and the functions that change them."""

from datetime import datetime
from typing import Any, NamedTuple

from apps.accounts.models import User
from apps.audit.actions import record
from apps.goldsets.enums import PublicState, PublicStep, VersionState, VersionStep
from apps.goldsets.models import PublicRelease, Version


class Edge(NamedTuple):
    source: VersionState
    step: VersionStep
    target: VersionState
    event: str


EDGES = (
    Edge(VersionState.DRAFT, VersionStep.FREEZE, VersionState.FROZEN, "version.frozen"),
    Edge(VersionState.FROZEN, VersionStep.RELEASE, VersionState.RELEASED, "version.released"),
    Edge(VersionState.RELEASED, VersionStep.SUPERSEDE, VersionState.SUPERSEDED, "version.superseded"),
)


class IllegalStep(Exception):
    """Raised for a step that is not in the table; rules refuse it before, with a sentence."""


def edge_for(state: str, step: str) -> Edge | None:
    return next((edge for edge in EDGES if (edge.source, edge.step) == (state, step)), None)


def move(
    version: Version,
    step: VersionStep,
    *,
    actor: User | None,
    at: datetime,
    facts: dict[str, Any] | None = None,
    **changes: Any,
) -> Version:
    """Apply `step` to a version that the caller has locked, and write the audit event.

    `changes` are fields saved together with the state, `facts` are added to the event. Raises IllegalStep when the
    table does not list the step.
    """
    edge = edge_for(version.state, step)
    if edge is None:
        raise IllegalStep(f"{version} is {version.state}; there is no step “{step}” from there.")
    version.state = edge.target
    for name, value in changes.items():
        setattr(version, name, value)
    version.save(update_fields=["state", *changes])
    record(
        project=version.gold_set.project,
        actor=actor,
        action=edge.event,
        obj=version,
        before={"state": edge.source},
        after={"state": edge.target, "digest": version.digest, **(facts or {})},
        at=at,
    )
    return version


class PublicEdge(NamedTuple):
    source: PublicState
    step: PublicStep
    target: PublicState


PUBLIC_EDGES = (
    PublicEdge(PublicState.PREPARING, PublicStep.BUILD, PublicState.PREPARED),
    PublicEdge(PublicState.PREPARING, PublicStep.FAIL, PublicState.FAILED),
    PublicEdge(PublicState.FAILED, PublicStep.PREPARE, PublicState.PREPARING),
    PublicEdge(PublicState.PREPARED, PublicStep.PREPARE, PublicState.PREPARING),
    PublicEdge(PublicState.PREPARED, PublicStep.SIGN, PublicState.SIGNED),
    PublicEdge(PublicState.SIGNED, PublicStep.RELEASE, PublicState.RELEASED),
    PublicEdge(PublicState.PREPARING, PublicStep.WITHDRAW, PublicState.WITHDRAWN),
    PublicEdge(PublicState.FAILED, PublicStep.WITHDRAW, PublicState.WITHDRAWN),
    PublicEdge(PublicState.PREPARED, PublicStep.WITHDRAW, PublicState.WITHDRAWN),
    PublicEdge(PublicState.SIGNED, PublicStep.WITHDRAW, PublicState.WITHDRAWN),
    PublicEdge(PublicState.RELEASED, PublicStep.WITHDRAW, PublicState.WITHDRAWN),
)


def move_public(
    release: PublicRelease, step: PublicStep, *, actor: User | None, at: datetime, **changes: Any
) -> PublicRelease:
    """Apply `step` to a public release that the caller has locked, and write the audit event.

    `changes` are fields saved together with the state.
    """
    edge = next((edge for edge in PUBLIC_EDGES if (edge.source, edge.step) == (release.state, step)), None)
    if edge is None:
        raise IllegalStep(f"{release} is {release.state}; there is no step “{step}” from there.")
    release.state = edge.target
    for name, value in changes.items():
        setattr(release, name, value)
    release.save(update_fields=["state", *changes])
    record(
        project=release.version.gold_set.project,
        actor=actor,
        action=f"public_release.{edge.target}",
        obj=release,
        before={"state": edge.source},
        after={"state": edge.target, "digest": release.digest, "reason": release.withdrawal_reason},
        at=at,
    )
    return release
