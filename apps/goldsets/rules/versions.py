"""Reasons against steps with a version, or None."""

from collections import Counter
from collections.abc import Mapping, Sequence

from apps.accounts.selectors import Member
from apps.agreement.selectors.agreement import rounds_refusal
from apps.corpus.models import Snapshot
from apps.goldsets.core.rotation import is_quarter
from apps.goldsets.enums import GROWING, BlockerKind, SliceKind, VersionState
from apps.goldsets.models import GoldSet, Version
from apps.goldsets.selectors.freeze_checks import Blocker
from apps.judging.models import Round
from apps.judging.selectors.rounds import open_rounds_of

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
    """Why the version cannot be frozen, naming as many items as fit in a sentence."""
    if reason := change_refusal(version):
        return reason
    return blockers_sentence(version, blockers) if blockers else None


def blockers_sentence(version: Version, blockers: Sequence[Blocker]) -> str:
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


PLURAL_FIRST_WORD = frozenset(
    {
        BlockerKind.NOT_ACCEPTED,
        BlockerKind.PERMISSION,
        BlockerKind.LEAK,
        BlockerKind.TRAINING,
        BlockerKind.CHECK,
    }
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


def answers_refusal(member: Member, version: Version) -> str | None:
    """Why the person may not have single judgements and notes, be they without names: files that they are in go out
    without them."""
    if not member.is_lead:
        return "Single judgements are for leads. The other files have the grades."
    return rounds_refusal(member, version.rounds.all())


def sealed_refusal(member: Member) -> str | None:
    if not member.is_lead:
        return "The test split is sealed. Only leads can see its items, and each view is logged."
    return None


def slicing_refusal(version: Version) -> str | None:
    if version.is_draft:
        return f"{version.label} is a draft, and its questions can still change. Freeze it before you slice it."
    return None


def rotation_refusal(version: Version, quarter: str, size: int, questions: int) -> str | None:
    """Why a quarter's slice cannot be drawn from this many questions."""
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
    """Why questions cannot be added to a slice of this kind."""
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
