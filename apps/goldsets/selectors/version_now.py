"""What is true of a frozen version today, read in one statement for its page: the rest is in its manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Exists, Subquery

from apps.common.database.questions import Question, answer_to, joined
from apps.goldsets.enums import PublicState, VersionState
from apps.goldsets.models import Version
from apps.goldsets.selectors.training import LiveManifest, live_manifests_question
from apps.goldsets.selectors.versions import on_their_way_question, revoked_question


@dataclass(frozen=True)
class VersionNow:
    """`former` is the version frozen before it and `released` the one that is out, both by label, "" for none.

    `revoked` are its sources whose permission was revoked, `waiting` the triples on their way by state, `manifests`
    the training manifests in use.
    """

    former: str
    released: str
    is_public: bool
    has_slices: bool
    revoked: list[int]
    waiting: dict[str, int]
    manifests: list[LiveManifest]


def version_now(version: Version, *, at: datetime) -> VersionNow:
    asked: dict[str, Question[Any]] = {
        "own": _own(version),
        "revoked": revoked_question(version, at=at),
        "waiting": on_their_way_question(version),
        "manifests": live_manifests_question(version.gold_set.project),
    }
    found = answer_to(version, joined(asked))
    return VersionNow(**found.pop("own"), **found)


def _own(version: Version) -> Question[dict[str, Any]]:
    siblings = Version.objects.filter(gold_set=version.gold_set_id)
    former = siblings.filter(number__lt=version.number).exclude(state=VersionState.DRAFT).order_by("-number")
    released = siblings.filter(state=VersionState.RELEASED)
    asks = {
        "former": Subquery(former.values("number")[:1]),
        "released": Subquery(released.values("number")[:1]),
        "is_public": Exists(version.public_releases.filter(state=PublicState.RELEASED)),
        "has_slices": Exists(version.slices.all()),
    }

    def read(found: Mapping[str, Any]) -> dict[str, Any]:
        labels = {name: f"v{found[name]}" if found[name] else "" for name in ("former", "released")}
        return {**found, **labels}

    return Question(asks, read)
