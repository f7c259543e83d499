"""Exports of a frozen version as a folder or a zip file, signed, and checked against what was frozen."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery

from apps.accounts.core.encryption import SealBroken, unseal
from apps.accounts.models import Project
from apps.audit.selectors.events import recorded_question, values_recorded
from apps.common.database.batched_reads import BatchedRead, answer_to, joined
from apps.common.errors import Refusal
from apps.common.text.wording import utc_second
from apps.corpus.models import SnapshotBlock
from apps.corpus.selectors import snapshots
from apps.goldsets import rules
from apps.goldsets.core.signing import signature
from apps.goldsets.enums import VersionState
from apps.goldsets.execution.freezing import items_digest, manifest_digest
from apps.goldsets.execution.traces import VersionTraces
from apps.goldsets.formats.content import Unwritable, VersionPart
from apps.goldsets.formats.folder import FORMS, Form, chosen, write_folder, zip_folder
from apps.goldsets.formats.parquet_files import WRITTEN_BY
from apps.goldsets.models import Version, VersionGrade
from apps.goldsets.selectors.content import EVERY_SPLIT, VersionContent, part_of
from apps.goldsets.selectors.judgements import judges_question
from apps.goldsets.selectors.versions import current_key, traced_in
from apps.retrieval.enums import Returns
from apps.retrieval.models import PoolRun, Run
from apps.retrieval.selectors.runs import complete_runs_on

Sign = Callable[[bytes], bytes]


class KeyLocked(Refusal):
    """The private key cannot be opened."""


def place_of(project: Project) -> str:
    """What a private key is sealed for: it opens for no other project."""
    return f"signing key of project {project.pk}"


def sign_for(project: Project) -> Sign | None:
    """What turns checksums into the signature file; None for a project without a key. Raises KeyLocked."""
    key = current_key(project)
    if key is None:
        return None
    try:
        private_key = unseal(bytes(key.sealed), key=settings.SECRET_KEY, place=place_of(project))
    except SealBroken:
        raise KeyLocked(
            "The signing key was made under another SECRET_KEY, so nothing can be signed with it. A lead can make a"
            " new one under Versions, Signing key.",
            code="key_locked",
        ) from None
    return lambda checksums: signature(checksums, private_key=private_key, project=project.slug)


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
    texts: snapshots.Seal


def seal_question(version: Version) -> BatchedRead[Seal]:
    parts: dict[str, BatchedRead[Any]] = {
        "has_moved": BatchedRead({"moved": Exists(_moved_grades(version))}, lambda found: bool(found["moved"])),
        "recorded": recorded_question("version.frozen", version),
        "texts": snapshots.seal_question(version.snapshot),
    }
    whole = joined(parts)
    return BatchedRead(whole.asks, lambda found: Seal(**whole.read(found)))


def fault_of(version: Version, content: VersionContent | None = None, seal: Seal | None = None) -> str | None:
    """Why the version, with its texts, is not what was frozen; None when it is.

    What was checked is what `content` yields afterwards.
    """
    content = content or VersionContent(version)
    seal = seal or answer_to(version, seal_question(version))
    if fault := _fault_of_items(version, content, seal):
        return fault
    return snapshots.fault_of(version.snapshot, seal.texts, content.passing_entries())


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


log = logging.getLogger(__name__)

EVERY_ANSWER = "judgements"
"""The form with all single judgements. Others have those with a note."""

FORGED = (
    "Nothing was written. The database was changed outside Karat: run karat verify-audit, and restore an earlier "
    "backup."
)


class ExportRefused(Refusal):
    """The version cannot be written in the requested formats."""


class WrongChoice(Refusal):
    """An unknown format or split."""

    status = 400


def write(
    version: Version,
    folder: Path,
    *,
    formats: Sequence[str],
    revoked: Collection[int] = (),
    splits: Collection[str] = EVERY_SPLIT,
    names: bool = True,
    answers: bool = True,
    runs: Sequence[Run] = (),
    with_slices: bool = False,
) -> dict[str, Any]:
    """Write the version to an empty folder and return its manifest.

    The options are those of `part_of`. With the same runs and without slices the bytes are the same at every export.

    Raises WrongChoice for an unknown format, and ExportRefused for an item that a format cannot represent, or when the
    stored version is not what was frozen: the database was changed outside Karat.
    """
    forms = _forms(formats)
    asked: dict[str, BatchedRead[Any]] = {"seal": seal_question(version)}
    if answers and any(form.has_answers for form in forms.values()):
        asked["judges"] = judges_question(version)
    found = answer_to(version, joined(asked))
    whole = VersionContent(version, every_answer=EVERY_ANSWER in forms, judges=found.get("judges"))
    if fault := fault_of(version, whole, found["seal"]):
        log.error("An export of %s was refused. %s", version, fault)
        raise ExportRefused(f"{fault} {FORGED}", code="not_as_frozen")
    traces = None
    if any(form.has_traces for form in forms.values()):
        if reason := rules.sending_refusal(version, has_traces=traced_in(version).exists()):
            raise ExportRefused(reason, code="no_traces")
        traces = VersionTraces(version)
    choice: dict[str, Any] = {"names": names, "answers": answers, "runs": runs, "traces": traces}
    content = part_of(whole, splits=splits, revoked=revoked, with_slices=with_slices, **choice)
    facts = _facts(version, content, forms, without_revoked=bool(revoked), with_slices=with_slices)
    try:
        return write_folder(content, folder, formats=formats, facts=facts, sign=sign_for(version.gold_set.project))
    except Unwritable as error:
        raise ExportRefused(str(error), code="unwritable") from error


def _facts(
    version: Version, content: VersionPart, forms: dict[str, Form], *, without_revoked: bool, with_slices: bool
) -> dict[str, Any]:
    """The manifest as it was frozen, the time of release, and what this export contains of the version."""
    released_at = version.released_at
    export: dict[str, Any] = {
        "formats": list(forms),
        "splits": sorted(content.splits),
        "people": "named" if content.names else "numbered",
        "judgements": content.answers,
        "queries": sum(1 for _ in content.queries()),
        "grades": sum(1 for _ in content.grades()),
        "triples": sum(1 for _ in content.triples()),
        "left_out_as_revoked": without_revoked,
    }
    if with_slices:
        export["slices"] = True
    if scores := content.scores():
        export["features"] = [feature._asdict() for feature in scores.features]
    if any(form.has_parquet for form in forms.values()):
        export["parquet"] = WRITTEN_BY
    released = utc_second(released_at) if released_at else None
    return {**version.manifest, "released_at": released, "export": export}


def runs_for(version: Version, formats: Sequence[str], tags: Sequence[str]) -> list[Run]:
    """The runs whose scores go along, by tag: those of `tags`, or those that found the pairs of the version's rounds.

    None where no format has scores. Raises WrongChoice for a tag that no such run has, or that no format asks for, and
    ExportRefused where there is no run.
    """
    if not any(form.has_scores for form in _forms(formats).values()):
        if tags:
            raise WrongChoice("Only the form letor has scores of runs. Leave the runs out.", code="no_scores")
        return []
    runs = scoring_runs(version)
    found = list(runs.filter(tag__in=tags) if tags else runs.filter(is_usual=True))  # type: ignore[misc]
    if unknown := sorted(set(tags) - {run.tag for run in found}):
        known = ", ".join(runs.values_list("tag", flat=True)) or "none"
        raise WrongChoice(
            f"{', '.join(unknown)} is no complete run that returns passages of the snapshot of {version}. There are: "
            f"{known}.",
            code="unknown_run",
        )
    if not found:
        raise ExportRefused(
            f"No run on the snapshot of {version} was pooled for it, so there are no scores. Name the runs to take.",
            code="no_runs",
        )
    return found


def scoring_runs(version: Version) -> QuerySet[Run]:
    """The runs with scores for passages of the version's snapshot, by tag; `is_usual` where its rounds pooled them."""
    pooled = PoolRun.objects.filter(run=OuterRef("pk"), pool__rounds__in=version.rounds.values("pk"))
    return complete_runs_on(version.snapshot).filter(returns=Returns.BLOCKS).annotate(is_usual=Exists(pooled))


def _forms(formats: Sequence[str]) -> dict[str, Form]:
    try:
        return {name: FORMS[name] for name in chosen(formats)}
    except ValueError as error:
        raise WrongChoice(f"{error}.", code="unknown_form") from error


def zipped(version: Version, **options: Any) -> IO[bytes]:
    """The same as an open temporary zip file, at its beginning. The caller closes it."""
    stream = tempfile.TemporaryFile()  # noqa: SIM115 - handed to the response, which closes it
    with tempfile.TemporaryDirectory(prefix="karat-export-") as folder:
        try:
            write(version, Path(folder), **options)
            zip_folder(Path(folder), stream)
        except BaseException:
            stream.close()
            raise
    stream.seek(0)
    return stream


def file_name(version: Version, formats: Sequence[str], splits: Collection[str], *, with_slices: bool = False) -> str:
    """Consists of slugs and numbers only, so that it is safe in a header and on every file system."""
    form = "-".join([*formats, *(["slices"] if with_slices else [])])
    part = "" if set(splits) == set(EVERY_SPLIT) else "-" + "-".join(sorted(splits))
    return f"{version.gold_set.slug}-{version.label}{part}-{form}.zip"
