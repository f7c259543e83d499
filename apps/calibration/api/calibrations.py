"""API of calibrations, their items and answers, and of the quality log and flag rates."""

from typing import Any, ClassVar

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import ReviewAPIView
from apps.accounts.enums import Role
from apps.accounts.selectors import Member
from apps.calibration import actions, rules
from apps.calibration.actions import CalibrationRefused
from apps.calibration.forms import LogForm, OpenForm
from apps.calibration.models import Calibration
from apps.calibration.selectors import calibrations, rates
from apps.calibration.selectors.comparisons import seen_by, why_in_words
from apps.calibration.serializers import LogOut, RateOut, RatesOut, rates_out
from apps.common.web.api import EstimateSerializer, body_with_key, given_in, next_page
from apps.common.web.forms import ChoiceField, KeyField, checked
from apps.common.web.paging import NO_CURSOR, only_known, whole
from apps.review.enums import Category, RateSide, Reason, VerdictChoice
from apps.review.forms import NOTE_LENGTH
from apps.triples.models import ExpectedBlock
from apps.triples.selectors.triples import blocks_of
from apps.triples.serializers import EvidenceOut

LOG_FILTERS = ("author", "reviewer", "reason", "category", "domain", "source", "month", "origin")


class LogView(ReviewAPIView):
    """Every flag and drop of closed rounds that the user may see, newest first. `before` is `next` of a former page."""

    roles: ClassVar = {"GET": rules.PARTICIPANTS}

    @extend_schema(
        operation_id="quality_log",
        parameters=[OpenApiParameter(name, str) for name in ("before", *LOG_FILTERS)],
        responses=LogOut,
    )
    def get(self, request: Request, slug: str) -> Response:
        only_known(request.query_params, {"before", *LOG_FILTERS})
        form = LogForm(request.query_params, project=self.project)
        page = rates.page_of(self.member, checked(form).narrowed, _cursor(request.query_params.get("before", "")))
        return Response(LogOut({"entries": page.entries, "next": str(page.next) if page.next else None}).data)


def _cursor(text: str) -> rates.Cursor | None:
    try:
        return rates.cursor_from(text) if text else None
    except ValueError:
        raise ValidationError({"before": "This is not a cursor. Use `next` of the previous page."}) from None


class RatesView(ReviewAPIView):
    """Flag rates of one side: of everybody together, and of each person whose rate the user may see."""

    roles: ClassVar = {"GET": rules.PARTICIPANTS}

    @extend_schema(
        operation_id="quality_rates",
        parameters=[OpenApiParameter("side", str, enum=RateSide.values)],
        responses=RatesOut,
    )
    def get(self, request: Request, slug: str) -> Response:
        only_known(request.query_params, {"side"})
        side_rates = rates.side_rates(self.project, self._side(request.query_params.get("side", RateSide.AUTHOR.value)))
        shown = [row for row in side_rates.people if rules.person_refusal(self.member, row.person) is None]
        return Response(RatesOut(rates_out(side_rates, shown)).data)

    def _side(self, value: Any) -> RateSide:
        if value not in RateSide.values:
            raise ValidationError({"side": f"One of: {', '.join(RateSide.values)}."})
        return RateSide(value)


PER_PAGE = 50


class ParticipantOut(serializers.Serializer):
    id = serializers.IntegerField(source="pk")
    name = serializers.CharField()


class CalibrationOut(serializers.Serializer):
    """A calibration: `subject` is whose flag rate it is about, as author or reviewer (`side`)."""

    number = serializers.IntegerField()
    subject = ParticipantOut()
    partner = ParticipantOut()
    side = serializers.CharField()
    state = serializers.CharField()
    why = serializers.SerializerMethodField()
    item_count = serializers.IntegerField()
    opened_at = serializers.DateTimeField()

    def get_why(self, calibration: Calibration) -> str:
        return why_in_words(calibration.why)


class CalibrationPageOut(serializers.Serializer):
    calibrations = CalibrationOut(many=True)
    next = next_page()


class OpenInput(serializers.Serializer):
    subject = KeyField(help_text="The id of a person.")
    partner = KeyField(help_text="The id of another.")
    side = ChoiceField(choices=RateSide.choices)
    reason = serializers.CharField(required=False, allow_blank=True, default="", max_length=300)


class CheckedOut(serializers.Serializer):
    """The calibrations that were opened, and a sentence for each person for whom none could be."""

    opened = CalibrationOut(many=True)
    refused = serializers.ListField(child=serializers.CharField())


class CalibrationView(ReviewAPIView):
    """A step of one calibration, for whoever may see it."""

    roles: ClassVar = {"POST": rules.PARTICIPANTS}


class CalibrationList(CalibrationView):
    """The calibrations that you may see, newest first: all for leads, your own for you. A lead opens one by hand."""

    roles: ClassVar = {"GET": rules.PARTICIPANTS, "POST": (Role.LEAD,)}

    @extend_schema(
        operation_id="calibrations",
        parameters=[OpenApiParameter("before", str, description="Only earlier ones; `next` of the previous page.")],
        responses=CalibrationPageOut,
    )
    def get(self, request: Request, slug: str) -> Response:
        only_known(request.query_params, {"before"})
        rows = calibrations.calibrations_for(self.member)
        if before := request.query_params.get("before", ""):
            try:
                rows = rows.filter(number__lt=whole(before))
            except ValueError:
                raise ValidationError({"before": [NO_CURSOR]}) from None
        page = list(rows[: PER_PAGE + 1])
        following = str(page[PER_PAGE - 1].number) if len(page) > PER_PAGE else None
        return Response(CalibrationPageOut({"calibrations": page[:PER_PAGE], "next": following}).data)

    @extend_schema(operation_id="calibration_open", request=OpenInput, responses={201: CalibrationOut})
    def post(self, request: Request, slug: str) -> Response:
        chosen = checked(OpenForm(given_in(request.data, OpenInput), project=self.project)).cleaned_data
        made = actions.open_calibration(
            project=self.project,
            subject=chosen["subject"],
            partner=chosen["partner"],
            side=RateSide(chosen["side"]),
            lead=self.member.user,
            reason=chosen["reason"],
            at=timezone.now(),
        )
        return Response(CalibrationOut(made).data, status=201)


class CheckView(CalibrationView):
    """Checks all flag rates now, and opens a calibration for everybody whose rate is out of its limits."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="calibration_check", request=None, responses=CheckedOut)
    def post(self, request: Request, slug: str) -> Response:
        done = actions.check_project(project=self.project, actor=self.member.user, at=timezone.now())
        return Response(CheckedOut({"opened": done.opened, "refused": done.refused}).data)


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
    block_id = serializers.CharField(source="version.block.outside_id")
    document_id = serializers.CharField(source="version.block.document.outside_id")
    section_path = serializers.ListField(source="version.section_path", child=serializers.CharField())
    text = serializers.CharField(source="version.text")
    evidence = serializers.SerializerMethodField()

    @extend_schema_field(EvidenceOut(many=True))
    def get_evidence(self, block: ExpectedBlock) -> list[dict[str, Any]]:
        return [{"start": start, "end": end, "text": block.version.text[start:end]} for start, end in block.spans]


class ItemOut(serializers.Serializer):
    """A past triple without its number or verdicts."""

    item = serializers.IntegerField(source="number")
    question = serializers.CharField(source="revision.question")
    expected_answer = serializers.CharField(source="revision.answer")
    expected_blocks = ItemBlockOut(source="blocks", many=True)
    needs_all_blocks = serializers.BooleanField(source="revision.needs_all_blocks")
    source = serializers.CharField(source="triple.source.slug", allow_null=True)  # type: ignore[assignment]
    domain = serializers.CharField(source="triple.domain")
    difficulty = serializers.CharField(source="triple.difficulty")
    machine_written = serializers.BooleanField(source="triple.is_machine_written")
    own_answer = OwnAnswerOut(source="own", allow_null=True)


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
        CalibrationRefused.raise_for(rules.answer_refusal(calibration, self.member.user), code="no_answer")
        items = list(calibration.items.select_related("revision__triple__source").order_by("number"))
        blocks = blocks_of([item.revision for item in items])
        own = calibrations.own_verdicts(calibration, self.member.user)
        rows = [
            {
                "number": item.number,
                "revision": item.revision,
                "triple": item.revision.triple,
                "blocks": blocks[item.revision_id],
                "own": own.get(item.pk),
            }
            for item in items
        ]
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
        verdict = actions.answer_item(
            project=self.project,
            calibration_id=calibration.pk,
            number=place,
            person=self.member.user,
            at=timezone.now(),
            **given_in(body_with_key(request), AnswerInput),
        )
        return Response(OwnAnswerOut(verdict).data, status=201)


class ProgressOut(ParticipantOut):
    answered = serializers.IntegerField()


class ComparedVerdictOut(serializers.Serializer):
    who = serializers.CharField()
    choice = serializers.CharField()
    reasons = serializers.ListField(child=serializers.CharField())
    category = serializers.CharField(allow_blank=True)
    note = serializers.CharField()


class ComparedItemOut(serializers.Serializer):
    """One item once both have answered; `original` has the verdicts of its past round."""

    item = serializers.IntegerField(source="item.number")
    triple_id = serializers.IntegerField(source="triple.pk")
    triple = serializers.CharField(source="triple.label")
    question = serializers.CharField(source="item.revision.question")
    subject = ComparedVerdictOut(source="first", allow_null=True)
    partner = ComparedVerdictOut(source="second", allow_null=True)
    original = ComparedVerdictOut(source="then", many=True)
    is_alike = serializers.BooleanField(allow_null=True)


class QuestionFigureOut(serializers.Serializer):
    """How often the two answered alike, and Cohen's kappa: `of` the choice, the question, the block or the answer."""

    of = serializers.CharField(source="aspect")
    alike = RateOut()
    kappa = EstimateSerializer(source="kappa.estimate")


class CalibrationMessageOut(serializers.Serializer):
    id = serializers.IntegerField(source="pk")
    author = serializers.IntegerField(source="author_id")
    text = serializers.CharField()
    posted_at = serializers.DateTimeField()


class SeenOut(serializers.Serializer):
    opened_by = ParticipantOut(allow_null=True)
    answered_at = serializers.DateTimeField(allow_null=True)
    closed_by = ParticipantOut(allow_null=True)
    closed_at = serializers.DateTimeField(allow_null=True)
    note = serializers.CharField(allow_blank=True)
    is_mine = serializers.BooleanField()
    own_answered = serializers.IntegerField(allow_null=True)
    progress = ProgressOut(many=True, allow_null=True)
    compared = ComparedItemOut(many=True, allow_null=True)
    figures = QuestionFigureOut(many=True, allow_null=True)
    messages = CalibrationMessageOut(many=True, allow_null=True)
    message_refusal = serializers.CharField(allow_null=True)
    close_refusal = serializers.CharField(allow_null=True)


class CalibrationDetailOut(SeenOut, CalibrationOut):
    """What you may see of it now; what is hidden, or not yours, is null.

    While it is open, `own_answered` is for the two, `progress` for leads without a part in it, and nobody sees an
    answer. Once both have answered, `compared`, `figures` and `messages` are there, except for a lead who reviews one
    of the items once more in a calibration that is open.
    """


class TextInput(serializers.Serializer):
    text = serializers.CharField(max_length=NOTE_LENGTH)


class ConclusionInput(serializers.Serializer):
    note = serializers.CharField(max_length=NOTE_LENGTH)


def detail_out(calibration: Calibration, member: Member) -> dict[str, Any]:
    """The calibration as its page shows it to this member."""
    seen = seen_by(member, calibration)
    counts = seen.progress or []
    shown = {
        "opened_by": calibration.opened_by,
        "answered_at": calibration.answered_at,
        "closed_by": calibration.closed_by,
        "closed_at": calibration.closed_at,
        "note": calibration.note if seen.compared else "",
        "is_mine": seen.is_mine,
        "own_answered": len(seen.own) if seen.is_mine else None,
        "progress": [{"pk": one.pk, "name": one.name, "answered": n} for one, n in counts] or None,
        "compared": seen.compared and seen.compared.rows,
        "figures": seen.compared and seen.compared.figures,
        "messages": seen.messages,
        "message_refusal": rules.discuss_refusal(calibration, member),
        "close_refusal": rules.close_refusal(calibration, member),
    }
    return {**CalibrationOut(calibration).data, **SeenOut(shown).data}


class CalibrationDetail(CalibrationView):
    """One calibration, by its number, with as much as you may see of it now."""

    roles: ClassVar = {"GET": rules.PARTICIPANTS}

    @extend_schema(operation_id="calibration_read", responses=CalibrationDetailOut)
    def get(self, request: Request, slug: str, number: int) -> Response:
        return Response(detail_out(calibrations.calibration_for(self.member, number), self.member))


class CalibrationMessageView(CalibrationView):
    """Writes into the discussion, which opens when both have answered everything."""

    @extend_schema(operation_id="calibration_message", request=TextInput, responses={201: CalibrationMessageOut})
    def post(self, request: Request, slug: str, number: int) -> Response:
        calibration = calibrations.calibration_for(self.member, number)
        message = actions.post_calibration_message(
            project=self.project,
            calibration_id=calibration.pk,
            author=self.member.user,
            text=given_in(request.data, TextInput)["text"],
            at=timezone.now(),
        )
        return Response(CalibrationMessageOut(message).data, status=201)


class CloseView(CalibrationView):
    """Closes it with a note on what follows, which ends the hiding of verdicts."""

    @extend_schema(operation_id="calibration_close", request=ConclusionInput, responses=CalibrationDetailOut)
    def post(self, request: Request, slug: str, number: int) -> Response:
        calibration = calibrations.calibration_for(self.member, number)
        actions.close_calibration(
            project=self.project,
            calibration_id=calibration.pk,
            person=self.member.user,
            note=given_in(request.data, ConclusionInput)["note"],
            at=timezone.now(),
        )
        return Response(detail_out(calibrations.calibration_for(self.member, number), self.member))
