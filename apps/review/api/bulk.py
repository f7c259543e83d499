"""Bulk steps over the API: the preview of a page, doing it as a job, following it, and undoing it."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import ReviewAPIView
from apps.accounts.enums import Role
from apps.common.web.api import change_in
from apps.common.web.forms import ChoiceField, KeyField, checked
from apps.jobs.serializers import JobSerializer
from apps.review.actions.bulk import begin_step, preview, undo_step
from apps.review.enums import BulkKind
from apps.review.forms import ANSWER, NO_SOURCE, BoardForm, BulkForm
from apps.review.models import BulkStep
from apps.review.presenters.bulk import words_of
from apps.review.selectors.bulk import MOST_SELECTED, Selection, counted, left_out, step_in, steps_in
from apps.review.selectors.bulk_preview import Preview
from apps.triples.core.checks import CAN_WARN

EITHER = "Send either `triples`, or `filter` with the filters of the board ({} for all that it shows)."


class BoardFilterInput(serializers.Serializer):
    """The filters of the board. `state` may also be `accepted`, which the board does not show by itself."""

    state = serializers.CharField(required=False)
    show = serializers.CharField(required=False)
    days = serializers.IntegerField(required=False)
    domain = serializers.CharField(required=False, max_length=80)
    source = KeyField(required=False)  # type: ignore[assignment]  # a source of Q&As
    author = KeyField(required=False)
    reviewer = KeyField(required=False)


class BulkInput(serializers.Serializer):
    """What to do, and to which Q&As: `triples` by id, or all that a `filter` of the board matches.

    `assign` takes `replace` (`stuck`, `unanswered`, or the id of a person), `to` (ids of the reviewers who may get
    them; left out: all of the project) and `reason`; `describe` takes `source` (null: none) and `domain`, and leaves
    what is not sent; `retire` takes `reason`; `submit` takes `answers`, the reason for each kind of warning.
    """

    kind = ChoiceField(choices=BulkKind.choices)
    triples = serializers.ListField(child=KeyField(), required=False, min_length=1, max_length=MOST_SELECTED)
    filter = BoardFilterInput(required=False)
    replace = serializers.CharField(required=False, max_length=20)
    to = serializers.ListField(child=KeyField(), required=False)
    reason = serializers.CharField(required=False, max_length=300)
    source = KeyField(required=False, allow_null=True)  # type: ignore[assignment]  # a source of Q&As
    domain = serializers.CharField(required=False, allow_blank=True, max_length=80)
    answers = serializers.DictField(child=serializers.CharField(max_length=1000), required=False)

    def validate_answers(self, answers: dict[str, str]) -> dict[str, str]:
        if unknown := sorted(set(answers) - set(CAN_WARN)):
            raise ValidationError(f"“{unknown[0]}” is no kind of warning. Known are: {', '.join(CAN_WARN)}.")
        return answers

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("triples" in attrs) == ("filter" in attrs):
            raise ValidationError({"triples": [EITHER]})
        return attrs


class BulkOrder(BulkInput):
    """The same, with the `digest` of the preview that was seen."""

    digest = serializers.CharField(max_length=64)


class GroupOut(serializers.Serializer):
    reason = serializers.CharField()
    number = serializers.IntegerField()
    triples = serializers.ListField(child=serializers.CharField())


class ShareOut(serializers.Serializer):
    person = serializers.IntegerField(source="person.pk")
    name = serializers.CharField(source="person.name")
    number = serializers.IntegerField()


class WarningOut(serializers.Serializer):
    code = serializers.CharField()
    words = serializers.CharField()
    number = serializers.IntegerField()
    answer = serializers.CharField()


class PreviewOut(serializers.Serializer):
    """What it would do. `selected` is the number of `can` and of all groups of `cannot`.

    `reviews` are those that people would get, `replaced` those that they would lose, `queued` those that wait for
    whoever comes; the authors in `told` get a notice that they are needed. `missing` says what is still to be told.
    """

    kind = ChoiceField(choices=BulkKind.choices)
    selected = serializers.IntegerField()
    can = serializers.ListField(child=serializers.CharField())
    cannot = GroupOut(many=True)
    reviews = ShareOut(many=True)
    replaced = ShareOut(many=True)
    queued = serializers.IntegerField()
    told = ShareOut(many=True)
    warnings = WarningOut(many=True)
    missing = serializers.CharField()
    sentence = serializers.CharField()
    undo = serializers.CharField()
    digest = serializers.CharField()


def preview_out(shown: Preview) -> dict[str, Any]:
    words = words_of(shown)
    groups = [
        {"reason": group.reason, "number": group.number, "triples": [triple.label for triple in group.triples]}
        for group in shown.cannot
    ]
    values = {
        "kind": shown.kind,
        "selected": shown.selected,
        "can": [triple.label for triple in shown.can],
        "cannot": groups,
        "reviews": shown.reviews,
        "replaced": shown.lose,
        "queued": shown.queued,
        "told": shown.waits,
        "warnings": shown.warnings,
        "missing": shown.missing,
        "sentence": words.sentence,
        "undo": words.undo,
        "digest": shown.digest,
    }
    return PreviewOut(values).data


class BulkLeftOutOut(serializers.Serializer):
    reason = serializers.CharField()
    triples = serializers.ListField(child=serializers.CharField(), source="labels")


class BulkStepOut(serializers.Serializer):
    """A step and its job: how many are done or undone, which are left out and why, and how many an undo gives back.

    `undo_job` is null until it is undone.
    """

    id = serializers.IntegerField(source="step.pk")
    kind = ChoiceField(choices=BulkKind.choices, source="step.kind")
    begun_by = serializers.IntegerField(source="step.begun_by_id")
    begun_at = serializers.DateTimeField(source="step.begun_at")
    selected = serializers.IntegerField(source="step.selected")
    planned = serializers.IntegerField(source="step.planned")
    done = serializers.IntegerField()
    undone = serializers.IntegerField()
    undoable = serializers.IntegerField()
    left_out = BulkLeftOutOut(many=True)
    job = JobSerializer(source="step.job")
    undo_job = JobSerializer(source="step.undo_job", allow_null=True)


def step_out(step: BulkStep, view: "BulkView") -> dict[str, Any]:
    (counts,) = counted(steps_in(view.project).filter(pk=step.pk), view.member.user)
    values = {name: getattr(counts, name) for name in ("step", "done", "undone", "undoable")}
    return BulkStepOut(values | {"left_out": left_out(step)}).data


class BulkView(ReviewAPIView):
    """What the views of bulk steps share: the parts of a body."""

    def order(self, given: dict[str, Any]) -> dict[str, Any]:
        kind = BulkKind(given["kind"])
        form = BulkForm({}, project=self.project)
        form.data = _as_form(kind, {"to": form.proposed()["to"], **given})
        checked(form)
        selection = Selection(ids=given.get("triples"))
        if selection.ids is not None:
            found = {triple.pk for triple in selection.triples(self.project, self.member.user, timezone.now())}
            if missing := [key for key in selection.ids if key not in found]:
                raise ValidationError({"triples": [f"{missing[0]} is no Q&A of this project that a board shows."]})
        if "filter" in given:
            selection = Selection(checked(BoardForm(given["filter"], project=self.project)).filters())
        return {
            "project": self.project,
            "lead": self.member.user,
            "kind": kind,
            "values": form.values(kind),
            "selection": selection,
            "at": timezone.now(),
        }


def _as_form(kind: BulkKind, given: dict[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = {name: given[name] for name in ("replace", "to", "domain") if name in given}
    data["retire" if kind is BulkKind.RETIRE else "why"] = given.get("reason", "")
    if "source" in given:
        data["source"] = NO_SOURCE if given["source"] is None else str(given["source"])
    if given.get("domain") == "":
        data["no_domain"] = True
    return data | {f"{ANSWER}{code}": reason for code, reason in given.get("answers", {}).items()}


class BulkPreviewView(BulkView):
    """What a step would do to many Q&As. Changes nothing."""

    roles = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="review_bulk_preview", request=BulkInput, responses=PreviewOut)
    def post(self, request: Request, slug: str) -> Response:
        given = dict(change_in(request.data, BulkInput).validated_data)
        return Response(preview_out(preview(roles=self.member.roles, **self.order(given))))


class BulkStepsView(BulkView):
    """Do it, as a job. Refused when the selection, or what is told, is another one than in the preview of `digest`."""

    roles = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="review_bulk", request=BulkOrder, responses={201: BulkStepOut})
    def post(self, request: Request, slug: str) -> Response:
        given = dict(change_in(request.data, BulkOrder).validated_data)
        step = begin_step(digest=given["digest"], **self.order(given))
        return Response(step_out(step, self), status=201)


class BulkStepView(BulkView):
    """How far a step is, what it left out, and how many an undo gives back."""

    roles = {"GET": (Role.LEAD,)}

    @extend_schema(operation_id="review_bulk_step", responses=BulkStepOut)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(step_out(step_in(self.project, pk), self))


class BulkUndoView(BulkView):
    """Give back each Q&A that nobody has touched since, as a job. Only who did it can, once."""

    roles = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="review_bulk_undo", request=None, responses=BulkStepOut)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        step = step_in(self.project, pk)
        undone = undo_step(project=self.project, step_id=step.pk, lead=self.member.user, at=timezone.now())
        return Response(step_out(undone, self))
