"""API of Q&As that were reviewed elsewhere: taking them as accepted, drawing some, how often they are wrong."""

from typing import ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import ReviewAPIView
from apps.accounts.enums import Role
from apps.common.database.statements import LARGEST_KEY
from apps.common.web.api import given_in
from apps.corpus.models import Import
from apps.corpus.selectors.corpora import import_in
from apps.review.actions.elsewhere import draw_elsewhere, running_job, take_elsewhere
from apps.review.forms import LONGEST_REASON
from apps.review.selectors.elsewhere import elsewhere_sets
from apps.triples.selectors.imported import reviewed_elsewhere


class TakeElsewhereInput(serializers.Serializer):
    reason = serializers.CharField(max_length=LONGEST_REASON, help_text="Where and how they were reviewed.")


class SampleInput(serializers.Serializer):
    size = serializers.IntegerField(
        min_value=1, max_value=LARGEST_KEY, help_text="How many are drawn in all, those drawn before included."
    )


class ErrorRateOut(serializers.Serializer):
    """The share that did not end as accepted unchanged; null, with a reason, until all that were drawn are decided."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    method = serializers.CharField(allow_blank=True)
    reason = serializers.CharField(allow_blank=True)


class ElsewhereSetOut(serializers.Serializer):
    """What was taken as accepted of one import, and how the review of those drawn from it stands."""

    import_id = serializers.IntegerField()
    file = serializers.CharField()
    taken = serializers.IntegerField()
    drawn = serializers.IntegerField()
    reviewed = serializers.IntegerField()
    wrong = serializers.IntegerField()
    error_rate = ErrorRateOut()


class KeptOut(serializers.Serializer):
    number = serializers.CharField(source="label")
    why = serializers.CharField()


class ElsewhereOut(serializers.Serializer):
    """`can_be_taken` is how many drafts say who reviewed them; `kept` those that were not taken, the first fifty of
    them in `listed`. `job` takes or draws just now."""

    can_be_taken = serializers.IntegerField()
    set = ElsewhereSetOut(allow_null=True)
    kept = serializers.IntegerField()
    listed = KeptOut(many=True)
    job = serializers.IntegerField(allow_null=True)


class ElsewhereSetsOut(serializers.Serializer):
    sets = ElsewhereSetOut(many=True)


class ElsewhereList(ReviewAPIView):
    """The sets of Q&As that were reviewed elsewhere, oldest first, each with its share of wrong ones."""

    roles: ClassVar = {"GET": (Role.LEAD,)}

    @extend_schema(operation_id="review_elsewhere_list", responses=ElsewhereSetsOut)
    def get(self, request: Request, slug: str) -> Response:
        return Response(ElsewhereSetsOut({"sets": [one.as_json for one in elsewhere_sets(self.project)]}).data)


class OneImportView(ReviewAPIView):
    """One import, by its id."""

    def out(self, item: Import) -> Response:
        found = elsewhere_sets(self.project, [item]) if item.applied_at else []
        job, last = running_job(item), item.result.get("taken", {})
        facts = {
            "can_be_taken": reviewed_elsewhere(item).count() if item.applied_at else 0,
            "set": found[0].as_json if found else None,
            "kept": last.get("kept", 0),
            "listed": last.get("listed", []),
            "job": job.pk if job else None,
        }
        return Response(ElsewhereOut(facts).data)


class ElsewhereView(OneImportView):
    """What was reviewed elsewhere of one import, by the import's id."""

    roles: ClassVar = {"GET": (Role.LEAD,)}

    @extend_schema(operation_id="review_elsewhere_read", responses=ElsewhereOut)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return self.out(import_in(self.project, pk))


class TakeView(OneImportView):
    """Take the drafts of an import whose file says who reviewed them as accepted; a job does it for many."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="review_elsewhere_take", request=TakeElsewhereInput, responses=ElsewhereOut)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        lead, item = self.member.user, import_in(self.project, pk)
        reason = given_in(request.data, TakeElsewhereInput)["reason"]
        taken = take_elsewhere(project=self.project, import_id=item.pk, lead=lead, reason=reason, at=timezone.now())
        return self.out(taken)


class DrawView(OneImportView):
    """Have some of them reviewed blind, drawn at random in an order that the file alone decides."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="review_elsewhere_draw", request=SampleInput, responses=ElsewhereOut)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        lead, item = self.member.user, import_in(self.project, pk)
        size = given_in(request.data, SampleInput)["size"]
        drawn = draw_elsewhere(project=self.project, import_id=item.pk, lead=lead, size=size, at=timezone.now())
        return self.out(drawn)
