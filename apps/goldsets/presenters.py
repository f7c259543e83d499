"""What pages and the API of versions share: panels of apps above, downloads, and steps of public releases."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple, cast

from django.db.models import QuerySet
from django.http import FileResponse, Http404, HttpResponse
from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.selectors import Member
from apps.common.discovery import Registered
from apps.common.errors import Forbidden
from apps.goldsets import rules
from apps.goldsets.access import log_names, open_test
from apps.goldsets.actions.public import (
    PublicReleaseRefused,
    log_public_download,
    log_public_look,
    prepare_again,
    prepare_public_release,
)
from apps.goldsets.actions.versions import log_export
from apps.goldsets.enums import PublicState, Split
from apps.goldsets.execution import exporting
from apps.goldsets.execution.publishing import labels_of, stored_zip
from apps.goldsets.formats.folder import ALL, CHOICES, FORMS
from apps.goldsets.formats.public.files import Order
from apps.goldsets.models import PublicRelease, Version
from apps.goldsets.selectors import versions
from apps.goldsets.selectors.public import PREVIEWED, PreviewRecord, live_release, preview_record
from apps.retrieval.models import Run


def prepare_public(version: Version, order: Order, *, actor: User, at: datetime) -> PublicRelease:
    """Prepare a release of the version, or the live one again. Without a card in `order` the live one's is kept."""
    release = live_release(version)
    if release is None:
        return prepare_public_release(version_id=version.pk, order=order, actor=actor, at=at)
    kept = order if order.card is not None else replace(order, card=release.card or None)
    return prepare_again(release_id=release.pk, order=kept, actor=actor, at=at)


def public_release_of(version: Version) -> PublicRelease:
    """The live release of a released version; Http404 where there is none."""
    release = live_release(version) if version.released_at else None
    if release is None:
        raise Http404("There is no public release of this version.")
    return release


def built_release_of(version: Version) -> PublicRelease:
    """The same with its files; refused while it has none."""
    release = public_release_of(version)
    if not release.is_built:
        raise PublicReleaseRefused(rules.no_files(release), code="not_built")
    return release


def open_preview(release: PublicRelease, kind: str, number: int, *, member: Member, at: datetime) -> PreviewRecord:
    """One record as it goes out. Opening it is what a lead does before signing, and is on the record."""
    if kind not in PREVIEWED:
        raise Http404("No such records.")
    shown = preview_record(release, kind, number, at=at)
    log_names(release.version, member, [shown.name], "preview of the public release")
    log_public_look(release=release, actor=member.user, at=at)
    return shown


def public_zip_response(release: PublicRelease, member: Member, *, at: datetime) -> HttpResponse:
    """The stored bytes, with the download on the record. Raises Forbidden for who may not have them."""
    if reason := rules.download_refusal(member, release):
        raise Forbidden(reason, code="not_public")
    if Split.TEST in release.splits and release.state != PublicState.RELEASED:
        open_test(release.version, member, "files of the public release")
    stream = stored_zip(release)
    log_public_download(release=release, actor=member.user, at=at)
    name = labels_of(release.version, release).file_name
    answer = FileResponse(stream, as_attachment=True, filename=name, content_type="application/zip")
    answer["X-Content-Type-Options"] = "nosniff"
    return cast(HttpResponse, answer)  # a streamed answer is one in all but its class


def offered_forms(version: Version, member: Member, *, has_traces: bool) -> list[tuple[str, str, str, str]]:
    """The files that this person may have, by name, with words, and what they lose; without those of chosen runs."""
    hidden = {exporting.EVERY_ANSWER} if rules.answers_refusal(member, version) else set()
    sees_traces = has_traces and rules.traces_refusal(member) is None
    hidden |= {name for name, form in FORMS.items() if form.is_by_name and not (form.has_traces and sees_traces)}
    forms = [(name, form.title, form.about, form.loss) for name, form in FORMS.items() if name not in hidden]
    return [(ALL, "Everything", "All formats below, and the manifest", ""), *forms]


def offered_runs(version: Version, member: Member) -> QuerySet[Run]:
    """The runs whose scores can be features, by tag; `is_usual` marks those that are taken unasked."""
    runs = exporting.scoring_runs(version)
    return runs.none() if rules.runs_refusal(member) else runs


def export_response(
    version: Version, *, member: Member, form: str, split: str, runs: Sequence[str] = (), with_slices: bool = False
) -> FileResponse:
    """The zip file of a version. Leads get both splits unless they choose one; everybody else gets dev."""
    if reason := rules.export_refusal(version):
        raise exporting.ExportRefused(reason, code="export_refused")
    if reason := rules.blind_refusal(member):
        raise Forbidden(reason, code="still_judging")
    if form not in CHOICES:
        raise exporting.WrongChoice(f"“{form[:40]}” is no format. Use {', '.join(CHOICES)}.", code="unknown_form")
    if split not in {"", *Split.values}:
        raise exporting.WrongChoice("A split is dev or test.", code="unknown_split")
    splits = [split] if split else (list(Split.values) if member.is_lead else [Split.DEV.value])
    if Split.TEST in splits and (reason := rules.sealed_refusal(member)):
        raise Forbidden(reason, code="test_is_sealed")
    answers_refusal = rules.answers_refusal(member, version)
    if form == exporting.EVERY_ANSWER and answers_refusal:
        raise Forbidden(answers_refusal, code="answers_hidden")
    if form != ALL and FORMS[form].has_traces and (reason := rules.traces_refusal(member)):
        raise Forbidden(reason, code="traces_hidden")
    found = exporting.runs_for(version, [form], runs)
    if found and (reason := rules.scores_refusal(member, version, splits)):
        raise Forbidden(reason, code="results_hidden")
    at = timezone.now()
    stream = exporting.zipped(
        version,
        formats=[form],
        splits=splits,
        revoked=versions.revoked_sources(version, at=at),
        names=member.is_lead,
        answers=answers_refusal is None,
        runs=found,
        with_slices=with_slices,
    )
    log_export(version=version, actor=member.user, formats=[form], splits=splits, at=at)
    name = exporting.file_name(version, [form], splits, with_slices=with_slices)
    answer = FileResponse(stream, as_attachment=True, filename=name, content_type="application/zip")
    answer["X-Content-Type-Options"] = "nosniff"
    return answer


class VersionPanel(NamedTuple):
    """A template, and what it shows as `panel`."""

    template: str
    panel: Any


on_version_page: Registered[Callable[[Version], VersionPanel | None]] = Registered()
"""Panels of apps above; None where one has nothing to show."""


def panels_of(version: Version) -> list[VersionPanel]:
    return [made for panel in on_version_page if (made := panel(version))]
