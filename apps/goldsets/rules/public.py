"""Reasons against steps with the public release of a version, or None."""

from collections import Counter
from collections.abc import Collection, Sequence

from apps.accounts.models import User
from apps.accounts.selectors import Member
from apps.goldsets.enums import PREPARE_PUBLIC, SIGN_PUBLIC, PublicState, StayReason
from apps.goldsets.formats.public.scrub import Stay
from apps.goldsets.models import PublicRelease, Version
from apps.goldsets.rules.versions import blind_refusal
from apps.goldsets.selectors.public import has_opened, live_release, other_leads, public_texts_of
from apps.jobs.enums import JobState


def prepare_refusal(version: Version) -> str | None:
    """Why a public release of the version cannot be prepared."""
    if version.released_at is None:
        return f"{version.label} is {version.state}. Release it inside first: what goes out is a part of it."
    if live_release(version) is not None:
        return f"{version.label} has a public release already. Withdraw it before you prepare another."
    return texts_refusal(version)


def texts_refusal(version: Version) -> str | None:
    """Why no passage of the version may go out: nobody has said so of its corpus."""
    if public_texts_of(version) is not None:
        return None
    corpus = version.snapshot.corpus.name
    return (
        f"Nobody has said that the texts of {corpus} may be published, so none of its passages goes out. Say so first."
    )


def nothing_goes(stays: Sequence[Stay]) -> str:
    """Why a release would be empty, by the reasons of its questions."""
    counts = Counter(StayReason(stay.reason) for stay in stays if stay.kind != "passages")
    reasons = "; ".join(f"{reason.label}: {number:,}" for reason, number in counts.most_common(3))
    return f"Nothing would go out. {reasons}. Record a public permission for a source, or choose both splits."


def busy_refusal(release: PublicRelease) -> str | None:
    """Why nothing but a withdrawal is possible: a job builds the files."""
    if release.is_preparing:
        return "Karat is preparing this public release. Wait until it is done."
    if release.open_job is not None:
        return "Karat is checking whether what goes out is still what was prepared. Wait until it is done."
    return None


def overtaken(release: PublicRelease) -> str:
    """Why a job has no effect: the release is not as it was when the job was queued."""
    return f"This public release is {PublicState(release.state).label} by now, so this job changed nothing."


def change_public_refusal(release: PublicRelease) -> str | None:
    """Why it cannot be prepared again."""
    if reason := busy_refusal(release):
        return reason
    if release.state not in {PublicState.PREPARED, PublicState.FAILED}:
        return f"This public release is {release.state} and no longer changes. Withdraw it and prepare another."
    return None


def decide_texts_refusal(
    release: PublicRelease, texts: Collection[str], known: Collection[str], reason: str
) -> str | None:
    """Why these texts cannot be let out, or that be taken back."""
    if refusal := change_public_refusal(release):
        return refusal
    if not texts:
        return "Choose at least one of the texts."
    if unknown := sorted(set(texts) - set(known)):
        return f"“{unknown[0]}” is not among the texts of this release. Load the page again."
    if not reason.strip():
        return "Give a reason: it stays on the record."
    return None


def ask_refusal(release: PublicRelease, lead: User) -> str | None:
    if release.state == PublicState.FAILED:
        return "It is not prepared. Prepare it again first."
    if reason := change_public_refusal(release):
        return reason
    if not other_leads(release).filter(pk=lead.pk).exists():
        return f"{lead} cannot sign: only a lead who did not prepare it can."
    return None


def sign_refusal(release: PublicRelease, user: User) -> str | None:
    """Why this person cannot sign what goes out."""
    if release.state != PublicState.PREPARED:
        return f"This public release is {PublicState(release.state).label}; only a prepared one is signed."
    if release.prepared_by_id == user.pk:
        return "You prepared it, so somebody else has to sign. Ask another lead."
    if found := release.report.get("forbidden"):
        return f"“{found[1]}” is in {found[0]} and must not go out. Take it out, or let it go out."
    if not has_opened(release, user):
        return "Open the preview first: whoever signs has read what goes out."
    return texts_refusal(release.version)


def publish_refusal(release: PublicRelease) -> str | None:
    """Why it cannot be released to the public."""
    if release.state in {PublicState.PREPARING, PublicState.FAILED}:
        return f"This public release is {PublicState(release.state).label}; only a signed one is released."
    if release.state == PublicState.PREPARED:
        return "Waits for the second lead."
    if release.state != PublicState.SIGNED:
        return f"This public release is {release.state} already."
    return texts_refusal(release.version)


def withdraw_public_refusal(release: PublicRelease, reason: str) -> str | None:
    if release.state == PublicState.WITHDRAWN:
        return "It is withdrawn already."
    if not reason.strip():
        return "Withdrawing a public release needs a reason."
    return None


def changed_since(release: PublicRelease) -> str:
    again = "withdraw it and prepare another" if release.state == PublicState.SIGNED else "prepare it again"
    return (
        f"What would go out has changed since it was prepared: a permission, a name, a word or Karat. Please {again}."
    )


def why_not_prepared(release: PublicRelease) -> str:
    """Why there are no files of it, by the job that was to build them."""
    if release.job is None:
        return "It was prepared before Karat kept the files of what is prepared."
    return release.job.error or "Its job was cancelled."


def check_failure(release: PublicRelease) -> str:
    """Why the signature or the release that was asked for last has not taken effect; "" where it has."""
    job = release.job
    if job is None or job.kind == PREPARE_PUBLIC or job.state not in {JobState.FAILED, JobState.CANCELLED}:
        return ""
    is_current = release.state == (PublicState.PREPARED if job.kind == SIGN_PUBLIC else PublicState.SIGNED)
    return (job.error or "Its job was cancelled.") if is_current else ""


def failure_of(release: PublicRelease) -> str:
    """Why the last thing that was asked of it has not happened; "" where it has, or is still waited for."""
    return why_not_prepared(release) if release.state == PublicState.FAILED else check_failure(release)


def no_files(release: PublicRelease) -> str:
    return f"This public release is {PublicState(release.state).label}, so it has no files."


def download_refusal(member: Member, release: PublicRelease) -> str | None:
    """Why the person cannot have the zip of a public release; before it is out, leads can."""
    if release.state == PublicState.WITHDRAWN:
        return "This public release was withdrawn and is no longer given out."
    if not release.is_built:
        return no_files(release)
    if release.state != PublicState.RELEASED and not member.is_lead:
        return "It is not released yet. Only leads can read what is prepared."
    return blind_refusal(member)
