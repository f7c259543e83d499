"""API of answering a calibration: its items, blind, for the two who review them once more, and their answers."""

from typing import Any, ClassVar

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.calibration import actions, rules
from apps.calibration.actions import CalibrationRefused
from apps.calibration.api.calibrations import CalibrationView
from apps.calibration.models import Calibration, CalibrationItem, CalibrationVerdict
from apps.calibration.selectors import calibrations
from apps.common.web.choices import ChoiceField
from apps.common.web.idempotency import body_with_key
from apps.review.enums import Category, Reason, VerdictChoice
from apps.review.forms import NOTE_LENGTH
from apps.triples.models import ExpectedBlock
from apps.triples.selectors.triples import blocks_of
from apps.triples.serializers import EvidenceOut


class AnswerInput(serializers.Serializer):
    choice = ChoiceField(choices=VerdictChoice.choices)
    reasons = serializers.ListField(
        child=ChoiceField(choices=Reason.choices), required=False, default=list, max_length=len(Reason)
    )
    category = ChoiceField(choices=Category.choices, required=False, allow_blank=True, default="")
    note = serializers.CharField(required=False, allow_blank=True, default="", max_length=NOTE_LENGTH)
    idempotency_key = serializers.CharField(max_length=64)


class OwnAnswerOut(serializers.Serializer):
    """Your own answer, without the state of the calibration, which would tell of the other person's."""

    item = serializers.IntegerField(source="item.number")
    choice = ChoiceField(choices=VerdictChoice.choices)
    reasons = serializers.ListField(child=ChoiceField(choices=Reason.choices))
    category = ChoiceField(choices=Category.choices, allow_blank=True)
    note = serializers.CharField()
    given_at = serializers.DateTimeField()


class ItemBlockOut(serializers.Serializer):
    block_id = serializers.CharField()
    document_id = serializers.CharField()
    section_path = serializers.ListField(child=serializers.CharField())
    text = serializers.CharField()
    evidence = EvidenceOut(many=True)


class ItemOut(serializers.Serializer):
    """A past triple without its number or verdicts."""

    item = serializers.IntegerField()
    question = serializers.CharField()
    expected_answer = serializers.CharField()
    expected_blocks = ItemBlockOut(many=True)
    needs_all_blocks = serializers.BooleanField()
    source = serializers.CharField(allow_null=True)  # type: ignore[assignment]
    domain = serializers.CharField()
    difficulty = serializers.CharField()
    machine_written = serializers.BooleanField()
    own_answer = OwnAnswerOut(allow_null=True)


class ItemsOut(serializers.Serializer):
    items = ItemOut(many=True)


class ItemView(CalibrationView):
    """For the two who answer it; for everybody else there are no items."""

    def own(self, number: int) -> Calibration:
        calibration = calibrations.calibration_for(self.member, number)
        if not calibration.includes(self.member.user):
            raise Http404("Only the two who take part in a calibration answer its items.")
        return calibration


class ItemList(ItemView):
    """The items of a calibration in which you take part, while you may answer them, each with your own answer."""

    roles: ClassVar = {"GET": rules.PARTICIPANTS}

    @extend_schema(operation_id="calibration_items", responses=ItemsOut)
    def get(self, request: Request, slug: str, number: int) -> Response:
        calibration = self.own(number)
        if reason := rules.answer_refusal(calibration, self.member.user):
            raise CalibrationRefused(reason, code="no_answer")
        items = list(calibration.items.select_related("revision__triple__source").order_by("number"))
        blocks = blocks_of([item.revision for item in items])
        own = calibrations.own_verdicts(calibration, self.member.user)
        rows = [item_out(item, blocks[item.revision_id], own.get(item.pk)) for item in items]
        return Response(ItemsOut({"items": rows}).data)


class AnswerView(ItemView):
    """Confirm or flag an item; again to change it, until both have answered all.

    The idempotency key, in the body or as a header, makes it safe to send it again.
    """

    roles: ClassVar = {"POST": rules.PARTICIPANTS}

    @extend_schema(operation_id="calibration_answer", request=AnswerInput, responses={201: OwnAnswerOut})
    def post(self, request: Request, slug: str, number: int, place: int) -> Response:
        calibration = self.own(number)
        if not 0 < place <= calibration.item_count:
            raise Http404(f"{calibration} has no item {place}.")
        given = AnswerInput(data=body_with_key(request))
        given.is_valid(raise_exception=True)
        verdict = actions.answer_item(
            project=self.project,
            calibration_id=calibration.pk,
            number=place,
            person=self.member.user,
            at=timezone.now(),
            **given.validated_data,
        )
        return Response(OwnAnswerOut(verdict).data, status=201)


def item_out(item: CalibrationItem, blocks: list[ExpectedBlock], own: CalibrationVerdict | None) -> dict[str, Any]:
    """What the blind screen shows of an item."""
    revision, triple = item.revision, item.revision.triple
    if own is not None:
        own.item = item
    return {
        "item": item.number,
        "question": revision.question,
        "expected_answer": revision.answer,
        "expected_blocks": [block_out(block) for block in blocks],
        "needs_all_blocks": revision.needs_all_blocks,
        "source": triple.source.slug if triple.source else None,
        "domain": triple.domain,
        "difficulty": triple.difficulty,
        "machine_written": triple.is_machine_written,
        "own_answer": own,
    }


def block_out(block: ExpectedBlock) -> dict[str, Any]:
    version = block.version
    return {
        "block_id": version.block.outside_id,
        "document_id": version.block.document.outside_id,
        "section_path": version.section_path,
        "text": version.text,
        "evidence": [{"start": start, "end": end, "text": version.text[start:end]} for start, end in block.spans],
    }
