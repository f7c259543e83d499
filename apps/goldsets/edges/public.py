"""Public releases for pages and the API: preparing one, finding it, its preview and its zip."""

from dataclasses import replace
from datetime import datetime
from typing import cast

from django.http import FileResponse, Http404, HttpResponse

from apps.accounts.models import User
from apps.accounts.selectors import Member
from apps.common.errors import Forbidden
from apps.goldsets import rules
from apps.goldsets.actions.public import (
    PublicReleaseRefused,
    log_public_download,
    log_public_look,
    prepare_again,
    prepare_public_release,
)
from apps.goldsets.edges.sealed import log_names, open_test
from apps.goldsets.enums import PublicState, Split
from apps.goldsets.execution.publishing import labels_of, stored_zip
from apps.goldsets.formats.public.files import Order
from apps.goldsets.models import PublicRelease, Version
from apps.goldsets.selectors.public import PREVIEWED, PreviewRecord, live_release, preview_record


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
