"""Pages on which the judges of a pair settle their difference: their list, and one pair with all first grades.

Nobody has a name here, and a pair that not all of its judges have graded is not known to be one.
"""

import secrets
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from apps.accounts.access.pages import member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.accounts.rules import ProjectArchived
from apps.judging import rules
from apps.judging.actions.differences import SecondGradeRefused, answer_difference, look_at_difference
from apps.judging.core.differences import DifferenceState
from apps.judging.core.guidelines import highest_first
from apps.judging.enums import CantJudgeReason
from apps.judging.forms.judging import SecondGradeForm
from apps.judging.models import Judgement, Round, Seat, SecondGrade
from apps.judging.selectors.deciding import is_reconciled_in
from apps.judging.selectors.differences import OwnDifference, counts_of, differences_of
from apps.judging.selectors.pairs import LETTERS
from apps.judging.selectors.reading import readings, with_texts
from apps.judging.selectors.rounds import entry_in, own_round

REASON_KEYS = "qwer"
OPEN = (DifferenceState.YOURS, DifferenceState.THEIRS)


@require_safe
@member_view(Role.ANNOTATOR)
def queue(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The next difference that waits for this person, after the one named by `after`; or that none does."""
    round_ = own_round(user_of(request), project, pk)
    own = differences_of(user_of(request), [round_])
    if waiting := _next(own, request.GET.get("after", "")):
        return redirect("judging:difference", slug=project.slug, pk=round_.pk, entry=waiting.entry_id)
    closed = rules.second_look_refusal(round_.state, reconcile=is_reconciled_in(round_), has_left=False)
    put_off = counts_of(own)[DifferenceState.YOURS]
    context = {"round": round_, "counts": _counts(own), "refusal": closed, "put_off": put_off}
    return render(request, "judging/no_difference.html", context)


def _next(own: Sequence[OwnDifference], after: str) -> OwnDifference | None:
    """The next one that waits for this person, going round."""
    reached = int(after[:18]) if after.isascii() and after.isdigit() else 0
    waiting = [each for each in own if each.state is DifferenceState.YOURS and each.entry_id != reached]
    return min(waiting, key=lambda each: (each.entry_id < reached, each.entry_id), default=None)


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.ANNOTATOR)
def difference(request: HttpRequest, project: Project, pk: int, entry: int) -> HttpResponse:
    """One pair on which this person and others differ. Opening it is on record: their first grade is final then."""
    round_ = own_round(user_of(request), project, pk)
    row, person, now = entry_in(round_, entry), user_of(request), timezone.now()
    ProjectArchived.unless_open(project)
    form = SecondGradeForm(request.POST or None, scale=project.grades)
    refusal = ""
    if request.method == "POST" and form.is_valid():
        try:
            given = answer_difference(round_=round_, entry=row, judge=person, at=now, **form.answer())
        except SecondGradeRefused as refused:
            refusal = refused.sentence
        else:
            _say(request, given)
            return redirect(f"{reverse('judging:differences', args=[project.slug, pk])}?after={row.pk}")
    try:
        own = look_at_difference(round_=round_, entry=row, judge=person, at=now)
    except SecondGradeRefused as refused:
        messages.info(request, refusal or refused.sentence)
        return redirect("judging:differences", slug=project.slug, pk=round_.pk)
    status = SecondGradeRefused.status if refusal else 400 if form.errors else 200
    context = _context(round_, own, differences_of(person, [round_]), form, refusal)
    return render(request, "judging/difference.html", context, status=status)


def _say(request: HttpRequest, given: SecondGrade) -> None:
    """What the answer did, where it ended the difference."""
    if given.is_last:
        entry = given.look.entry
        settled = entry.adjudications.filter(superseded_by=None, round=given.look.round_id).first()
        words = f"Settled at {settled.grade}." if settled else "You still differ, so a lead decides."
        messages.success(request, f"{entry.query.outside_id}: {words}")


def _counts(own: Sequence[OwnDifference]) -> list[tuple[str, int]]:
    counts = counts_of(own)
    return [
        ("Reconciled", counts[DifferenceState.RECONCILED]),
        ("You answered, another judge has not", counts[DifferenceState.THEIRS]),
        ("Left to a lead", counts[DifferenceState.LEFT_TO_LEAD]),
        ("Wait for your answer", counts[DifferenceState.YOURS]),
    ]


class Voice(NamedTuple):
    """A judge of the pair, without a name: their first answer, and what they answered since."""

    who: str
    first: Judgement
    since: SecondGrade | None
    is_own: bool


def _voices(own: OwnDifference) -> list[Voice]:
    """The reader first, then the others in the order of their seats."""
    others = own.others
    names = ["The other judge"] if len(others) == 1 else [f"Judge {letter}" for letter in LETTERS[1:]]
    return [
        Voice("You", own.own, own.answer_of(own.judge_id), True),
        *(
            Voice(name, first, own.answer_of(first.annotator_id), False)
            for name, first in zip(names, others, strict=False)
        ),
    ]


def _context(
    round_: Round, own: OwnDifference, every: Sequence[OwnDifference], form: SecondGradeForm, refusal: str
) -> dict[str, Any]:
    reading = readings(list(with_texts(Seat.objects.filter(pk=own.own.seat_id))), annotator_id=own.judge_id)[0]
    current, guideline = own.difference.current, round_.guideline
    grades = {judgement.grade for judgement in own.judgements} | set(current.values())
    return {
        "round": round_,
        "own": own,
        "state": own.state.value,
        "may_answer": own.difference.may_answer(own.judge_id) and own.state in OPEN,
        "voices": _voices(own),
        "reading": reading._replace(others=[span for judgement in own.others for span in judgement.spans]),
        "theirs": {grade for judge, grade in current.items() if judge != own.judge_id},
        "reasons": list(zip(REASON_KEYS, CantJudgeReason.choices, strict=True)),
        "form": form,
        "refusal": refusal,
        "chosen": form["grade"].value(),
        "key": secrets.token_hex(16),
        "seen": len(own.difference.answers),
        "guideline": guideline,
        "grades": [each for each in highest_first(guideline.grades) if each["grade"] in grades] if guideline else [],
        "limit": ":1",
        "counts": _counts(every),
        "total": len(every),
        "place": next((n for n, each in enumerate(every, 1) if each.entry_id == own.entry_id), len(every)),
        "last": _last(every, own),
    }


def _last(every: Sequence[OwnDifference], own: OwnDifference) -> OwnDifference | None:
    """The other pair that this person answered last, while they may still answer it anew."""
    answered = [
        (answer.pk, each)
        for each in every
        if each.entry_id != own.entry_id and each.state in OPEN and each.difference.may_answer(each.judge_id)
        if (answer := each.answer_of(each.judge_id)) is not None
    ]
    return max(answered, key=lambda pair: pair[0])[1] if answered else None
