"""Checks that a frozen version is still what was frozen, by its digests, before every export."""

from collections.abc import Iterator

from django.db.models import F, OuterRef, Q, Subquery

from apps.accounts.models import Project
from apps.audit.selectors.events import recorded_digests
from apps.corpus.models import SnapshotBlock
from apps.corpus.selectors.integrity import fault_of as fault_of_snapshot
from apps.goldsets.enums import VersionState
from apps.goldsets.execution.freezing import items_digest, manifest_digest
from apps.goldsets.models import Version, VersionGrade


def faults_in(project: Project) -> Iterator[str]:
    """One sentence for each frozen version of the project that has changed since; snapshots are checked elsewhere."""
    versions = Version.objects.filter(gold_set__project=project).exclude(state=VersionState.DRAFT)
    for version in versions.select_related("gold_set__project", "snapshot", "guideline").order_by("pk"):
        if fault := fault_of_items(version):
            yield fault


def fault_of(version: Version) -> str | None:
    """Why the version, with its texts, is not what was frozen; None when it is."""
    return fault_of_items(version) or fault_of_snapshot(version.snapshot)


def fault_of_items(version: Version) -> str | None:
    name = f"Version {version}"
    if items_digest(version) != version.digest:
        return f"{name}: its items are not those that were frozen under the digest {version.digest}."
    if _has_moved_grades(version):
        return f"{name}: a grade refers to another block than the one that was frozen."
    if recorded_digests("version.frozen", version) != {version.digest}:
        return f"{name}: the audit trail has another digest than {version.digest}."
    recorded = recorded_digests("version.frozen", version, "manifest")
    facts = version.manifest
    if recorded and recorded != {manifest_digest(facts)}:
        return f"{name}: its manifest is not the one that was frozen."
    if (facts.get("digest"), facts.get("snapshot", {}).get("digest")) != (version.digest, version.snapshot.digest):
        return f"{name}: its manifest names another digest."
    return None


def _has_moved_grades(version: Version) -> bool:
    """Whether a grade refers to a text that is not at its position in the snapshot."""
    places = SnapshotBlock.objects.filter(snapshot=version.snapshot_id, position=OuterRef("position"))
    grades = VersionGrade.objects.filter(version=version).annotate(
        current=Subquery(places.values("version")[:1]), name=Subquery(places.values("block__outside_id")[:1])
    )
    moved = Q(current=None) | ~Q(current=F("block_version")) | ~Q(name=F("block_id"))
    return grades.filter(moved).exists()
