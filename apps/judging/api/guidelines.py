"""Guidelines in the API: read every version, publish the next, and decide on the grades given under earlier ones."""

from typing import ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.common.web.api import body_in, given_in
from apps.common.web.forms import KeyField, checked
from apps.corpus.selectors.corpora import snapshot_in
from apps.judging.actions.guidelines import keep_grades, pool_to_rejudge, publish_guideline
from apps.judging.api.rounds import LeadView
from apps.judging.core.guidelines import MANY_EXAMPLES, GradeText, as_example, as_stored
from apps.judging.forms.judging import PARTS, RejudgeForm
from apps.judging.models import Guideline
from apps.judging.selectors import rejudging
from apps.judging.selectors.rounds import guideline_in, guidelines_in


class ExampleSerializer(serializers.Serializer):
    """A pair that got the grade; `text` is the relevant part of its passage."""

    query = serializers.CharField(required=False, allow_blank=True, default="", max_length=PARTS["query"][2])
    text = serializers.CharField(max_length=PARTS["text"][2])
    why = serializers.CharField(required=False, allow_blank=True, default="", max_length=PARTS["why"][2])


class GradeTextSerializer(serializers.Serializer):
    grade = serializers.IntegerField()
    name = serializers.CharField(max_length=60)
    definition = serializers.CharField(max_length=2_000)
    examples = serializers.ListField(child=ExampleSerializer(), required=False, default=list, max_length=MANY_EXAMPLES)


class GuidelineInput(serializers.Serializer):
    """Each grade of the scale once, and the Markdown of what holds for all of them."""

    grades = GradeTextSerializer(many=True)
    markdown = serializers.CharField(required=False, allow_blank=True, default="", max_length=20_000)

    def grade_texts(self) -> list[GradeText]:
        """The validated grades, lowest first, for the action."""
        texts = sorted(self.validated_data["grades"], key=lambda each: each["grade"])
        return [
            GradeText(
                grade=each["grade"],
                name=each["name"],
                definition=each["definition"],
                examples=[as_stored(as_example(example)) for example in each["examples"]],
            )
            for each in texts
        ]


class GuidelineOut(serializers.Serializer):
    number = serializers.IntegerField()
    grades = serializers.SerializerMethodField()
    markdown = serializers.CharField()
    published_at = serializers.DateTimeField()

    def get_grades(self, guideline: Guideline) -> list[dict]:
        return [
            {**each, "examples": [as_example(example) for example in each.get("examples", [])]}
            for each in guideline.grades
        ]


class GuidelinesOut(serializers.Serializer):
    guidelines = GuidelineOut(many=True)


class GradeToRejudgeOut(serializers.Serializer):
    grade = serializers.IntegerField()
    judgements = serializers.IntegerField()
    is_touched = serializers.BooleanField(help_text="Whether this version says something else of the grade.")


class SnapshotToRejudgeOut(serializers.Serializer):
    snapshot = serializers.IntegerField(source="snapshot.pk")
    grades = GradeToRejudgeOut(many=True)


class EarlierOut(serializers.Serializer):
    """Grades given under earlier versions, and whether a lead has decided to keep them or to judge them again."""

    snapshots = SnapshotToRejudgeOut(many=True)
    is_kept = serializers.BooleanField()
    pools = serializers.ListField(child=serializers.IntegerField(), help_text="Pools made to judge them again.")


class RejudgeInput(serializers.Serializer):
    snapshot = KeyField()
    grades = serializers.ListField(child=serializers.IntegerField(), min_length=1)


class RejudgePoolOut(serializers.Serializer):
    pool = serializers.IntegerField(source="pk")
    pairs = serializers.IntegerField(source="entry_count")


class GuidelineList(ProjectAPIView):
    """Every version of the guideline, the latest first; publishes the next one."""

    roles: ClassVar = {"GET": (), "POST": (Role.LEAD,)}
    scopes: ClassVar = {"GET": Scope.JUDGING_WRITE, "POST": Scope.ROUNDS_WRITE}

    @extend_schema(operation_id="judging_guidelines", responses=GuidelinesOut)
    def get(self, request: Request, slug: str) -> Response:
        return Response(GuidelinesOut({"guidelines": guidelines_in(self.project)}).data)

    @extend_schema(operation_id="judging_guideline_publish", request=GuidelineInput, responses={201: GuidelineOut})
    def post(self, request: Request, slug: str) -> Response:
        body = body_in(request.data, GuidelineInput)
        guideline = publish_guideline(
            project=self.project,
            actor=self.member.user,
            grades=body.grade_texts(),
            markdown=body.validated_data["markdown"],
            at=timezone.now(),
        )
        return Response(GuidelineOut(guideline).data, status=201)


class EarlierGrades(LeadView):
    """The grades that were given under earlier versions, counted by snapshot and grade."""

    roles: ClassVar = {"GET": (Role.LEAD,)}

    @extend_schema(operation_id="judging_guideline_earlier", responses=EarlierOut)
    def get(self, request: Request, slug: str, number: int) -> Response:
        guideline = guideline_in(self.project, number)
        found = {
            "snapshots": rejudging.earlier_by_snapshot(guideline),
            "is_kept": rejudging.keep_decision(guideline) is not None,
            "pools": [pool.pk for pool in rejudging.rejudging_pools(guideline)],
        }
        return Response(EarlierOut(found).data)


class JudgeAgain(LeadView):
    """Makes a pool of the pairs that got one of these grades under an earlier version, for a round to judge again."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="judging_guideline_judge_again", request=RejudgeInput, responses={201: RejudgePoolOut})
    def post(self, request: Request, slug: str, number: int) -> Response:
        guideline = guideline_in(self.project, number)
        given = given_in(request.data, RejudgeInput)
        snapshots = [(each.snapshot.pk, each.snapshot.name) for each in rejudging.earlier_by_snapshot(guideline)]
        form = checked(RejudgeForm(given, grades=self.project.grades, snapshots=snapshots))
        pool = pool_to_rejudge(
            guideline=guideline,
            snapshot=snapshot_in(self.project, form.cleaned_data["snapshot"]),
            grades=form.cleaned_data["grades"],
            actor=self.member.user,
            at=timezone.now(),
        )
        return Response(RejudgePoolOut(pool).data, status=201)


class KeepGrades(LeadView):
    """Records the decision to keep the grades given under earlier versions."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="judging_guideline_keep", request=None, responses={204: None})
    def post(self, request: Request, slug: str, number: int) -> Response:
        guideline = guideline_in(self.project, number)
        keep_grades(guideline=guideline, actor=self.member.user, at=timezone.now())
        return Response(status=204)
