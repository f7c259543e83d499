"""Slices of a version in the API: what is in them, what they could hold, and how they are drawn and grow."""

from typing import Any, ClassVar

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import VersionsAPIView
from apps.accounts.enums import Role
from apps.common.web.api import PAGING, given_in, next_page, page_of
from apps.common.web.forms import ChoiceField
from apps.common.web.paging import cut_list, only_known
from apps.goldsets import rules
from apps.goldsets.actions.slices import SliceRefused, add_found, add_to_slice, make_rotating_slice
from apps.goldsets.core.slice_sampling import USUAL_SIZE
from apps.goldsets.enums import GROWING, SliceKind
from apps.goldsets.forms import LONGEST_WHY, MOST_QUESTIONS
from apps.goldsets.models import Slice, Version
from apps.goldsets.selectors import slices, versions

MOST_PICKED = 1_000


class SliceOut(serializers.Serializer[Any]):
    """A slice. `name` is how requests and files call it: the quarter of a rotating one, else its kind."""

    name = serializers.CharField()
    kind = ChoiceField(choices=SliceKind.choices)
    questions = serializers.IntegerField()
    created_at = serializers.DateTimeField()


class SlicesOut(serializers.Serializer[Any]):
    slices = SliceOut(many=True)


class SliceQuestionOut(serializers.Serializer[Any]):
    """A question: a query, one or more Q&As by their labels, or both. `why` is null for somebody who still judges."""

    number = serializers.IntegerField(help_text="Of the question, from 1 in the order of adding.")
    name = serializers.CharField()
    text = serializers.CharField()
    is_query = serializers.BooleanField()
    triples = serializers.ListField(child=serializers.CharField())
    why = serializers.CharField(allow_null=True)
    added_at = serializers.DateTimeField()


class OfferedQuestionOut(serializers.Serializer[Any]):
    """A dev question that the slice does not have yet; `found` is why it belongs there, empty where nothing says so."""

    name = serializers.CharField()
    text = serializers.CharField()
    is_query = serializers.BooleanField()
    triples = serializers.ListField(child=serializers.CharField())
    found = serializers.CharField()


class OfferedQuestionPage(serializers.Serializer[Any]):
    count = serializers.IntegerField()
    results = OfferedQuestionOut(many=True)
    next = next_page()


class DrawInput(serializers.Serializer[Any]):
    size = serializers.IntegerField(min_value=1, max_value=MOST_QUESTIONS, default=USUAL_SIZE)


class PickInput(serializers.Serializer[Any]):
    """Questions by name, that is by id of the query or label of the Q&A, and why they belong in the slice."""

    names = serializers.ListField(child=serializers.CharField(max_length=200), min_length=1, max_length=MOST_PICKED)
    why = serializers.CharField(max_length=LONGEST_WHY)


class GrownOut(serializers.Serializer[Any]):
    """The slice, null while it has no question, and how many were added. Those that it has already stay as they are."""

    slice = SliceOut(allow_null=True)
    added = serializers.IntegerField()


class SliceView(VersionsAPIView):
    """An endpoint of the slices of a version."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    def version(self, ids: dict[str, Any]) -> Version:
        return versions.seen_by(self.member, versions.version_in(self.project, ids["gold_set"], ids["number"]))

    def growing(self, ids: dict[str, Any], part: str) -> Version:
        """The version of a slice that takes questions. Raises Http404 for any other slice, and SliceRefused."""
        version = self.version(ids)
        if part not in GROWING:
            raise Http404("No such slice that takes questions.")
        if reason := rules.slicing_refusal(version):
            raise SliceRefused(reason, code="slice_refused")
        return version

    def grown(self, version: Version, part: Slice | None, added: int) -> Response:
        found = slices.slice_named(version, part.name) if part else None
        return Response(GrownOut({"slice": found, "added": added}).data)


class SliceList(SliceView):
    """The slices of a version by kind, of the rotating ones the newest first."""

    roles: ClassVar = {"GET": ()}

    @extend_schema(operation_id="slices_list", responses=SlicesOut)
    def get(self, request: Request, **ids: Any) -> Response:
        return Response(SlicesOut({"slices": slices.slices_of(self.version(ids))}).data)


class SliceDraw(SliceView):
    """Draws the sample of this quarter. Asked for again, it is the same one, whatever its size."""

    @extend_schema(operation_id="slices_draw", request=DrawInput, responses={200: SliceOut, 201: SliceOut})
    def post(self, request: Request, **ids: Any) -> Response:
        version = self.version(ids)
        size, at = given_in(request.data, DrawInput)["size"], timezone.now()
        made = make_rotating_slice(version_id=version.pk, actor=self.member.user, at=at, size=size)
        status = 201 if made.created_at == at else 200
        return Response(SliceOut(slices.slice_in(version, made.name)).data, status=status)


class SliceDetail(SliceView):
    """The questions of a slice in the order in which they came into it; picks questions for one that grows."""

    roles: ClassVar = {"GET": (), "POST": (Role.LEAD,)}

    @extend_schema(
        operation_id="slices_questions", parameters=PAGING, responses=page_of("SliceQuestionPage", SliceQuestionOut)
    )
    def get(self, request: Request, part: str, **ids: Any) -> Response:
        version = self.version(ids)
        found = slices.slice_in(version, part)
        only_known(request.query_params, {"after", "limit"})
        questions = {question.name: question for question in slices.questions_for_slices(version)}
        members = {row.number: row for row in slices.members_of(found)}  # one of each question
        is_blind = rules.blind_refusal(self.member) is not None
        page = cut_list(list(members.values()), request.query_params)
        rows = [
            _question_facts(questions[row.name])
            | {"number": row.number, "why": None if is_blind else row.why, "added_at": row.added_at}
            for row in page.rows
        ]
        return Response({"results": SliceQuestionOut(rows, many=True).data, "next": page.next})

    @extend_schema(operation_id="slices_pick", request=PickInput, responses=GrownOut)
    def post(self, request: Request, part: str, **ids: Any) -> Response:
        version = self.growing(ids, part)
        picked = given_in(request.data, PickInput)
        names = dict.fromkeys(picked["names"], picked["why"])
        made, added = add_to_slice(
            version_id=version.pk, kind=part, names=names, actor=self.member.user, at=timezone.now()
        )
        return self.grown(version, made, added)


class SliceOffers(SliceView):
    """The dev questions that a slice could take, by name, and what was found for it; adds all that was found."""

    roles: ClassVar = {"GET": (Role.LEAD,), "POST": (Role.LEAD,)}

    @extend_schema(
        operation_id="slices_offers",
        parameters=[
            OpenApiParameter("find", str, description="Only questions with all these words in their name or text."),
            OpenApiParameter("found", enum=["yes"], description="Only questions that were found for it."),
            *PAGING,
        ],
        responses=OfferedQuestionPage,
    )
    def get(self, request: Request, part: str, **ids: Any) -> Response:
        version = self.growing(ids, part)
        params = request.query_params
        only_known(params, {"find", "found", "after", "limit"})
        found = slices.found_for(version, SliceKind(part), ())
        offered = slices.offered_for(version, slices.slice_named(version, part))
        offered = slices.matching(offered, params.get("find", ""))
        if params.get("found"):
            offered = [question for question in offered if question.name in found]
        page = cut_list(offered, params)
        rows = [_question_facts(question) | {"found": found.get(question.name, "")} for question in page.rows]
        return Response(OfferedQuestionPage({"count": len(offered), "results": rows, "next": page.next}).data)

    @extend_schema(operation_id="slices_add_found", request=None, responses=GrownOut)
    def post(self, request: Request, part: str, **ids: Any) -> Response:
        version = self.growing(ids, part)
        made, added = add_found(version_id=version.pk, kind=part, actor=self.member.user, at=timezone.now())
        return self.grown(version, made, added)


def _question_facts(question: slices.SliceQuestion) -> dict[str, Any]:
    return {
        "name": question.name,
        "text": question.text,
        "is_query": question.query is not None,
        "triples": list(question.labels),
    }
