"""Make the slices of a version, and add questions to those that grow."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction
from django.db.models import Max

from apps.accounts.models import User
from apps.audit.actions import record
from apps.common.errors import Refusal
from apps.goldsets import rules
from apps.goldsets.actions.versions import locked_version
from apps.goldsets.core.slice_sampling import USUAL_SIZE, quarter_of
from apps.goldsets.enums import SliceKind
from apps.goldsets.models import Slice, SliceMember, Version
from apps.goldsets.selectors import slices
from apps.queries.core.stratified import draw

DRAWN = "drawn by domain, difficulty and source"
LONGEST_WHY = 200


class SliceRefused(Refusal):
    """The slice cannot be made, or does not take the question."""


@transaction.atomic
def make_rotating_slice(
    *, version_id: int, actor: User, at: datetime, quarter: str = "", size: int = USUAL_SIZE
) -> Slice:
    """Draw the sample of a quarter, by default the present one; where it was drawn already, that one.

    Questions that no earlier quarter had come first, whatever version of the gold set it was drawn from.
    """
    version = locked_version(version_id)
    quarter = quarter or quarter_of(at)
    if existing := Slice.objects.filter(version=version, kind=SliceKind.ROTATING, quarter=quarter).first():
        return existing
    questions = {one.name: one for one in slices.questions_for_slices(version)}
    if reason := rules.rotation_refusal(version, quarter, size, len(questions)):
        raise SliceRefused(reason, code="slice_refused")
    used = slices.last_used(version.gold_set, before=quarter)
    drawn = draw(slices.candidates(questions.values(), used), size, seed=quarter)
    chosen = [questions[name] for name in drawn]
    rows = sum((one.query is not None) + len(one.triples) for one in chosen)
    made = _make(version, SliceKind.ROTATING, actor, at, quarter=quarter, rows=rows)
    _add(made, chosen, dict.fromkeys(drawn, DRAWN), actor, at)
    return made


@transaction.atomic
def add_to_slice(
    *, version_id: int, kind: str, names: Mapping[str, str], actor: User, at: datetime
) -> tuple[Slice | None, int]:
    """Add questions, by outside id of the query or label of the triple with the reason of each, to a slice that grows.

    Questions that it has already stay as they are. Returns the slice, made with its first question, and how many were
    added. Raises SliceRefused, naming every question that is not among the version's dev questions.
    """
    version = locked_version(version_id)
    if reason := rules.growth_refusal(version, kind):
        raise SliceRefused(reason, code="slice_refused")
    questions = slices.questions_for_slices(version)
    by_item = slices.names_by_item(questions)
    if unknown := [name for name in names if name not in by_item]:
        raise SliceRefused(rules.unknown_questions(version, unknown), code="slice_question")
    part = Slice.objects.filter(version=version, kind=kind).first()
    taken = set(slices.members_of(part).values_list("name", flat=True)) if part else set()
    reasons = {by_item[name]: why for name, why in names.items() if by_item[name] not in taken}
    if not reasons:
        return part, 0
    part = part or _make(version, SliceKind(kind), actor, at)
    _add(part, [one for one in questions if one.name in reasons], reasons, actor, at)
    return part, len(reasons)


@transaction.atomic
def add_found(*, version_id: int, kind: str, actor: User, at: datetime) -> tuple[Slice | None, int]:
    """Add every question that was found for a slice and is not in it yet, each with its reason."""
    version = locked_version(version_id)
    if reason := rules.growth_refusal(version, kind):
        raise SliceRefused(reason, code="slice_refused")
    found = slices.found_for(version, SliceKind(kind), ())
    return add_to_slice(version_id=version_id, kind=kind, names=found, actor=actor, at=at)


def _make(
    version: Version, kind: SliceKind, actor: User, at: datetime, *, quarter: str = "", rows: int | None = None
) -> Slice:
    made = Slice.objects.create(version=version, kind=kind, quarter=quarter, rows=rows, created_by=actor, created_at=at)
    record(
        project=version.gold_set.project,
        actor=actor,
        action="slice.made",
        obj=made,
        after={"version": version.label, "slice": made.name},
        at=at,
    )
    return made


def _add(
    part: Slice, questions: list[slices.SliceQuestion], reasons: Mapping[str, str], actor: User, at: datetime
) -> None:
    last = part.members.aggregate(last=Max("number"))["last"] or 0
    members = []
    for number, question in enumerate(questions, last + 1):
        facts = {"slice": part, "number": number, "name": question.name, "added_by": actor, "added_at": at}
        facts["why"] = reasons[question.name][:LONGEST_WHY]
        members += [SliceMember(query_id=question.query, **facts)] if question.query is not None else []
        members += [SliceMember(triple_id=pk, **facts) for pk in question.triples]
    SliceMember.objects.bulk_create(members)
    record(
        project=part.version.gold_set.project,
        actor=actor,
        action="slice.grown",
        obj=part,
        after={"slice": part.name, "questions": [question.name for question in questions]},
        at=at,
    )
