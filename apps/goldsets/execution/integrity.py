"""Checks that a frozen version is still what was frozen, by its digests, before every export."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery

from apps.accounts.models import Project
from apps.audit.selectors.events import recorded_question, values_recorded
from apps.common.database.questions import Question, answer_to, joined
from apps.corpus.models import SnapshotBlock
from apps.corpus.selectors.integrity import Seal as TextSeal
from apps.corpus.selectors.integrity import fault_of as fault_of_snapshot
from apps.corpus.selectors.integrity import seal_question as text_seal_question
from apps.goldsets.enums import VersionState
from apps.goldsets.execution.freezing import items_digest, manifest_digest
from apps.goldsets.models import Version, VersionGrade
from apps.goldsets.selectors.content import VersionContent


def faults_in(project: Project) -> Iterator[str]:
    """One sentence for each frozen version of the project that has changed since; snapshots are checked elsewhere."""
    versions = Version.objects.filter(gold_set__project=project).exclude(state=VersionState.DRAFT)
    for version in versions.select_related("gold_set__project", "snapshot", "guideline").order_by("pk"):
        seal = answer_to(version, seal_question(version))
        if fault := _fault_of_items(version, VersionContent(version), seal):
            yield fault


class Seal(NamedTuple):
    """What a version is checked by besides its rows: what its freeze recorded, and the seal of its snapshot.

    `has_moved`: a grade refers to a text that is not at its position in the snapshot.
    """

    has_moved: bool
    recorded: list[Any]
    texts: TextSeal


def seal_question(version: Version) -> Question[Seal]:
    parts: dict[str, Question[Any]] = {
        "has_moved": Question({"moved": Exists(_moved_grades(version))}, lambda found: bool(found["moved"])),
        "recorded": recorded_question("version.frozen", version),
        "texts": text_seal_question(version.snapshot),
    }
    whole = joined(parts)
    return Question(whole.asks, lambda found: Seal(**whole.read(found)))


def fault_of(version: Version, content: VersionContent | None = None, seal: Seal | None = None) -> str | None:
    """Why the version, with its texts, is not what was frozen; None when it is.

    What was checked is what `content` yields afterwards.
    """
    content = content or VersionContent(version)
    seal = seal or answer_to(version, seal_question(version))
    if fault := _fault_of_items(version, content, seal):
        return fault
    return fault_of_snapshot(version.snapshot, seal.texts, content.passing_entries())


def _fault_of_items(version: Version, content: VersionContent, seal: Seal) -> str | None:
    name = f"Version {version}"
    if items_digest(version, content) != version.digest:
        return f"{name}: its items are not those that were frozen under the digest {version.digest}."
    if seal.has_moved:
        return f"{name}: a grade refers to another block than the one that was frozen."
    if values_recorded(seal.recorded, "digest") != {version.digest}:
        return f"{name}: the audit trail has another digest than {version.digest}."
    recorded = values_recorded(seal.recorded, "manifest")
    facts = version.manifest
    if recorded and recorded != {manifest_digest(facts)}:
        return f"{name}: its manifest is not the one that was frozen."
    if (facts.get("digest"), facts.get("snapshot", {}).get("digest")) != (version.digest, version.snapshot.digest):
        return f"{name}: its manifest names another digest."
    return None


def _moved_grades(version: Version) -> QuerySet[VersionGrade]:
    places = SnapshotBlock.objects.filter(snapshot=version.snapshot_id, position=OuterRef("position"))
    grades = VersionGrade.objects.filter(version=version).annotate(
        current=Subquery(places.values("version")[:1]), name=Subquery(places.values("block__outside_id")[:1])
    )
    moved = Q(current=None) | ~Q(current=F("block_version")) | ~Q(name=F("block_id"))
    return grades.filter(moved)
