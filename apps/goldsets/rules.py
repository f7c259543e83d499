"""What is allowed with versions, slices, public releases and training manifests: the reason against it, or None."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import Member
from apps.agreement.selectors.agreement import rounds_refusal
from apps.corpus.models import Snapshot
from apps.goldsets.core.slice_sampling import is_quarter
from apps.goldsets.enums import (
    GROWING,
    PREPARE_PUBLIC,
    SIGN_PUBLIC,
    BlockerKind,
    PublicState,
    SliceKind,
    StayReason,
    VersionState,
)
from apps.goldsets.formats.public.scrub import Stay
from apps.goldsets.models import GoldSet, PublicRelease, TrainingManifest, Version
from apps.goldsets.selectors.freeze_checks import Blocker
from apps.goldsets.selectors.public import has_opened, live_release, other_leads, public_texts_of
from apps.jobs.enums import JobState
from apps.judging.models import Round
from apps.judging.selectors.rounds import open_rounds_of
from apps.retrieval.selectors.blinding import hidden_queries

OF_CHANGES = {"numbered", "changelog"}
OF_GRADES = {"disagreements", "checks"}
COUNTS_OF_GRADES = {"by_grade", "unanswerable"}


def without_grades(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest without the number of pairs of each grade; that of a draft, which is empty, as it is.

    With few pairs, or one grade for nearly all of them, these numbers tell single grades. The number by what changed,
    its reason and the changelog tell whether a pair was graded anew. How far people differed and what the checks
    warned of tell grades as well.
    """
    if "counts" not in manifest:
        return dict(manifest)
    counts = {name: value for name, value in manifest["counts"].items() if name not in COUNTS_OF_GRADES}
    hidden = OF_CHANGES | OF_GRADES
    splits = {name: value for name, value in manifest["splits"].items() if name != "shared"}
    kept = {name: value for name, value in manifest.items() if name not in hidden}
    return kept | {"counts": counts, "splits": splits}


NAMED_IN_A_SENTENCE = 20


def draft_refusal(gold_set: GoldSet, snapshot: Snapshot, rounds: Sequence[Round]) -> str | None:
    open_draft = gold_set.versions.filter(state=VersionState.DRAFT).first()
    if open_draft is not None:
        return f"{open_draft.label} is still a draft. Freeze or discard it first."
    return inputs_refusal(gold_set, snapshot, rounds)


def inputs_refusal(gold_set: GoldSet, snapshot: Snapshot, rounds: Sequence[Round]) -> str | None:
    if snapshot.corpus.project_id != gold_set.project_id:
        return "The snapshot belongs to another project."
    if any(round_.project_id != gold_set.project_id for round_ in rounds):
        return "A round belongs to another project."
    if withdrawn := [r.name for r in rounds if r.withdrawn_at]:
        return f"The import of {withdrawn[0]} was undone, so its grades count nowhere. Choose again without it."
    elsewhere = [r.name for r in rounds if r.pool.snapshot.corpus_id != snapshot.corpus_id]
    if elsewhere:
        return f"{elsewhere[0]} was judged on a different corpus than the snapshot's."
    return None


def change_refusal(version: Version) -> str | None:
    if not version.is_draft:
        return f"{version.label} is {version.state}. A frozen version never changes."
    return None


def freeze_refusal(version: Version, blockers: Sequence[Blocker]) -> str | None:
    """Names as many items as fit in a sentence."""
    if reason := change_refusal(version):
        return reason
    if not blockers:
        return None
    named = "; ".join(blocker.sentence.rstrip(".") for blocker in blockers[:NAMED_IN_A_SENTENCE])
    more = len(blockers) - NAMED_IN_A_SENTENCE
    rest = f"; and {more} more" if more > 0 else ""
    return f"{version.label} cannot be frozen: {counted(blockers)}. {named}{rest}."


def counted(blockers: Sequence[Blocker]) -> str:
    """ "11 unresolved grades, 12 stale triples", by kind."""
    counts = Counter(blocker.kind for blocker in blockers)
    return ", ".join(_several(counts[kind], kind) for kind in BlockerKind if counts[kind])


def counted_losses(facts: Mapping[str, int]) -> str:
    """ "50 judged pairs and 2 queries"; empty without losses."""
    parts = [
        "1 judged pair" if facts["pairs"] == 1 else f"{facts['pairs']:,} judged pairs" if facts["pairs"] else "",
        "1 query" if facts["queries"] == 1 else f"{facts['queries']:,} queries" if facts["queries"] else "",
    ]
    return " and ".join(part for part in parts if part)


def _several(count: int, kind: BlockerKind) -> str:
    if kind == BlockerKind.EMPTY:
        return kind.label
    if count == 1:
        return f"1 {kind.label}"
    head, _, tail = kind.label.partition(" ") if kind in PLURAL_FIRST_WORD else (kind.label, "", "")
    return f"{count} {head}s {tail}".rstrip()


PLURAL_FIRST_WORD = (
    BlockerKind.NOT_ACCEPTED,
    BlockerKind.PERMISSION,
    BlockerKind.LEAK,
    BlockerKind.TRAINING,
    BlockerKind.CHECK,
)


def release_refusal(version: Version) -> str | None:
    if version.state == VersionState.DRAFT:
        return f"{version.label} is a draft. Freeze it first."
    if version.state != VersionState.FROZEN:
        return f"{version.label} is {version.state} already."
    later = version.gold_set.versions.filter(number__gt=version.number, released_at__isnull=False).first()
    if later is not None:
        return f"{later.label} was released after {version.label} was frozen. An older version cannot replace it."
    return None


def export_refusal(version: Version) -> str | None:
    if version.is_draft:
        return f"{version.label} is a draft. Freeze it before you export it."
    return None


def blind_refusal(member: Member) -> str | None:
    """Why the person must judge before seeing released grades, which are other people's. Leads see them at once."""
    if member.is_lead:
        return None
    round_ = open_rounds_of(member.user, member.project).first()
    if round_ is None:
        return None
    return f"You are judging in {round_.name}. You can see released grades once that round is closed."


def documents_refusal(version: Version) -> str | None:
    """Why nobody can see yet which documents hold something relevant."""
    if version.is_draft:
        return f"{version.label} is a draft. Which documents it covers is known once it is frozen."
    return None


def answers_refusal(member: Member, version: Version) -> str | None:
    """Why the person may not have single judgements and notes, be they without names: files that they are in go out
    without them."""
    if not member.is_lead:
        return "Single judgements are for leads. The other files have the grades."
    return rounds_refusal(member, version.rounds.all())


def traces_refusal(member: Member) -> str | None:
    if not member.is_lead:
        return "The traces of queries are for leads. The other files have the grades."
    return None


def sending_refusal(version: Version, *, has_traces: bool) -> str | None:
    """Why the grades of a version do not go back to the traces that its queries are from."""
    if reason := export_refusal(version):
        return reason
    if not has_traces:
        return (
            f"No query of {version.label} has the ids of its trace. Tick “Grades may go back to the traces” when you"
            " import traces."
        )
    return None


def runs_refusal(member: Member) -> str | None:
    if not member.roles & {Role.LEAD, Role.VIEWER}:
        return "Only leads and viewers can download the scores of runs."
    return None


def scores_refusal(member: Member, version: Version, splits: Collection[str]) -> str | None:
    """Why the person may not have what runs scored for the queries of these splits."""
    if reason := runs_refusal(member):
        return reason
    queries = version.queries.filter(split__in=splits).values_list("query", flat=True)
    return next(iter(hidden_queries(member.user, version.snapshot, queries).values()), None)


def sealed_refusal(member: Member) -> str | None:
    if not member.is_lead:
        return "The test split is sealed. Only leads can see its items, and each view is logged."
    return None


def slicing_refusal(version: Version) -> str | None:
    if version.is_draft:
        return f"{version.label} is a draft, and its questions can still change. Freeze it before you slice it."
    return None


def rotation_refusal(version: Version, quarter: str, size: int, questions: int) -> str | None:
    if reason := slicing_refusal(version):
        return reason
    if not is_quarter(quarter):
        return f"“{quarter[:20]}” is no quarter. Write it as 2026-Q4."
    if size < 1:
        return f"A slice has at least one question, not {size:,}."
    if not questions:
        return f"{version.label} has no dev questions, and slices have no others: test questions are sealed."
    if size >= questions:
        has = f"{version.label} has {questions:,} dev questions"
        return f"{has}, so a slice of {size:,} would be all of them. Choose fewer."
    return None


def growth_refusal(version: Version, kind: str) -> str | None:
    if kind not in GROWING:
        known = ", ".join(GROWING)
        if kind == SliceKind.ROTATING:
            return f"A rotating slice is drawn and stays as it is. Questions can be added to {known}."
        return f"There is no slice called “{kind[:20]}” that takes questions. There are {known}."
    return slicing_refusal(version)


def unknown_questions(version: Version, names: Sequence[str]) -> str:
    named = ", ".join(name[:60] for name in names[:NAMED_IN_A_SENTENCE])
    more = f" and {len(names) - NAMED_IN_A_SENTENCE:,} more" if len(names) > NAMED_IN_A_SENTENCE else ""
    return f"Not among the dev questions of {version.label}: {named}{more}. Nothing was added."


def prepare_refusal(version: Version) -> str | None:
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
    if reason := busy_refusal(release):
        return reason
    if release.state not in {PublicState.PREPARED, PublicState.FAILED}:
        return f"This public release is {release.state} and no longer changes. Withdraw it and prepare another."
    return None


def decide_texts_refusal(
    release: PublicRelease, texts: Collection[str], known: Collection[str], reason: str
) -> str | None:
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
    """Of the zip: before it is out, leads can have it."""
    if release.state == PublicState.WITHDRAWN:
        return "This public release was withdrawn and is no longer given out."
    if not release.is_built:
        return no_files(release)
    if release.state != PublicState.RELEASED and not member.is_lead:
        return "It is not released yet. Only leads can read what is prepared."
    return blind_refusal(member)


def training_name_refusal(project: Project, name: str) -> str | None:
    if TrainingManifest.objects.filter(project=project, name=name, retired_at=None).exists():
        return f"There is a training manifest called “{name}” already. Choose another name, or retire that one."
    return None


def training_refusal(project: Project, name: str, digest: str) -> str | None:
    same = TrainingManifest.objects.filter(project=project, digest=digest, retired_at=None).first()
    if same is not None:
        return f"“{same.name}” lists exactly the same and is in use. Nothing was added."
    return training_name_refusal(project, name)


def retire_training_refusal(manifest: TrainingManifest) -> str | None:
    if manifest.retired_at is not None:
        return f"“{manifest.name}” is retired already."
    return None
