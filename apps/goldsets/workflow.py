"""The states of a version and of its public release, and the functions that change them."""

from datetime import datetime
from typing import Any, NamedTuple

from apps.accounts.models import User
from apps.audit.actions import save_step
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
    save_step(
        version,
        step,
        edge and edge.target,
        project=version.gold_set.project,
        actor=actor,
        action=edge.event if edge else "",
        after={"digest": changes.get("digest", version.digest), **(facts or {})},
        at=at,
        **changes,
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
    save_step(
        release,
        step,
        edge and edge.target,
        project=release.version.gold_set.project,
        actor=actor,
        action=f"public_release.{edge.target if edge else step}",
        after={
            "digest": changes.get("digest", release.digest),
            "reason": changes.get("withdrawal_reason", release.withdrawal_reason),
        },
        at=at,
        **changes,
    )
    return release
