"""Exports of a frozen version as a folder or a zip file."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import IO, Any

from apps.common.database.questions import Question, answer_to, joined
from apps.common.errors import Refusal
from apps.common.text.wording import utc_second
from apps.goldsets.execution.integrity import fault_of, seal_question
from apps.goldsets.execution.signing import sign_for
from apps.goldsets.formats.content import Unwritable
from apps.goldsets.formats.folder import PACKED, chosen, write_folder, zip_folder
from apps.goldsets.formats.parquet_files import WRITTEN_BY
from apps.goldsets.formats.version_part import VersionPart
from apps.goldsets.models import Version
from apps.goldsets.selectors.content import EVERY_SPLIT, VersionContent, part_of
from apps.goldsets.selectors.judgements import judges_question

log = logging.getLogger(__name__)

EVERY_ANSWER = "judgements"
ANSWERED = frozenset({EVERY_ANSWER, "csv"})
"""The forms with single judgements: that with all of them, and the one with those that have a note."""

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
    with_slices: bool = False,
) -> dict[str, Any]:
    """Write the version to an empty folder and return its manifest.

    The options are those of `part_of`. Without slices the bytes are the same at every export.

    Raises WrongChoice for an unknown format, and ExportRefused for an item that a format cannot represent, or when the
    stored version is not what was frozen: the database was changed outside Karat.
    """
    forms = _choice(formats)
    asked: dict[str, Question[Any]] = {"seal": seal_question(version)}
    if answers and not ANSWERED.isdisjoint(forms):
        asked["judges"] = judges_question(version)
    found = answer_to(version, joined(asked))
    whole = VersionContent(version, every_answer=EVERY_ANSWER in forms, judges=found.get("judges"))
    if fault := fault_of(version, whole, found["seal"]):
        log.error("An export of %s was refused. %s", version, fault)
        raise ExportRefused(f"{fault} {FORGED}", code="not_as_frozen")
    content = part_of(whole, splits=splits, revoked=revoked, names=names, answers=answers, with_slices=with_slices)
    facts = _facts(version, content, forms, without_revoked=bool(revoked), with_slices=with_slices)
    try:
        return write_folder(content, folder, formats=formats, facts=facts, sign=sign_for(version.gold_set.project))
    except Unwritable as error:
        raise ExportRefused(str(error), code="unwritable") from error


def _facts(
    version: Version, content: VersionPart, forms: list[str], *, without_revoked: bool, with_slices: bool
) -> dict[str, Any]:
    """The manifest as it was frozen, the time of release, and what this export contains of the version."""
    released_at = version.released_at
    export: dict[str, Any] = {
        "formats": forms,
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
    if any(form in PACKED for form in forms):
        export["parquet"] = WRITTEN_BY
    released = utc_second(released_at) if released_at else None
    return {**version.manifest, "released_at": released, "export": export}


def _choice(formats: Sequence[str]) -> list[str]:
    try:
        return chosen(formats)
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
