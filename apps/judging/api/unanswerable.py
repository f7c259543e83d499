"""Unanswerable queries in the API: those to vote on, a vote, and for leads all candidates and their decision.

Nobody reads how many have voted, or what, before two people have.
"""

from typing import ClassVar

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.common.web.api import given_in
from apps.common.web.paging import only_known
from apps.corpus.models import Snapshot
from apps.judging.actions.unanswerable import decide_unanswerable, vote_on_unanswerable
from apps.judging.api.rounds import LeadView
from apps.judging.enums import AbsenceState
from apps.judging.models import UnanswerableVote
from apps.judging.selectors.unanswerable import snapshots_with_pools, to_vote_on, voted_queries
from apps.judging.serializers import QueryOut
from apps.queries.models import Query
from apps.retrieval.selectors.question_sets import found_in
from apps.retrieval.serializers.runs import snapshot_of_body

MOST_LISTED = 1_000
SNAPSHOT = OpenApiParameter("snapshot", str, description="Its digest or corpus@number; the newest when left out.")


class LookedOut(serializers.Serializer):
    """How far people looked: `exhaustive`, `sampled` or `deep`, "" for not far enough. `missed_at_most` is the upper
    bound of what they missed, with 95 % confidence; null: not bounded.
    """

    basis = serializers.CharField(source="kind")
    passages = serializers.IntegerField(source="blocks")
    judged = serializers.IntegerField()
    depth = serializers.IntegerField()
    systems = serializers.IntegerField()
    sampled = serializers.IntegerField()
    outside = serializers.IntegerField()
    missed_at_most = serializers.IntegerField(allow_null=True)
    words = serializers.CharField()


class OwnVotesOut(serializers.Serializer):
    """The queries that wait for your vote."""

    snapshot = serializers.CharField(allow_null=True)
    queries = QueryOut(many=True)


class VoteOut(serializers.Serializer):
    """A vote, of a lead where `is_decision`."""

    person = serializers.CharField(source="person.name")
    is_decision = serializers.SerializerMethodField()
    is_nothing = serializers.BooleanField()
    passage = serializers.CharField(source="passage.block.outside_id", default=None, allow_null=True)
    reason = serializers.CharField()
    given_at = serializers.DateTimeField()

    def get_is_decision(self, vote: UnanswerableVote) -> bool:
        return vote.number == 0


class CandidateQueryOut(serializers.Serializer):
    """A candidate with its state. Its votes are told once two people have voted."""

    query = QueryOut()
    state = serializers.CharField(help_text=f"One of {', '.join(AbsenceState.values)}.")
    why_fallen = serializers.CharField()
    looked = LookedOut(source="basis")
    votes = VoteOut(source="told", many=True)


class CandidateQueriesOut(serializers.Serializer):
    snapshot = serializers.CharField(allow_null=True)
    candidates = CandidateQueryOut(many=True)


class VoteInput(serializers.Serializer):
    """Whether anything in the snapshot answers the query: the outside id of a passage that does, "" for nothing."""

    snapshot = serializers.CharField(max_length=300)
    query = serializers.CharField(max_length=200)
    passage = serializers.CharField(max_length=300, allow_blank=True)


class VoteDecisionInput(serializers.Serializer):
    """A lead's decision on two votes. `passage` is needed where nobody named one, and `is_nothing` is false."""

    snapshot = serializers.CharField(max_length=300)
    query = serializers.CharField(max_length=200)
    is_nothing = serializers.BooleanField()
    passage = serializers.CharField(max_length=300, allow_blank=True, required=False, default="")
    reason = serializers.CharField(max_length=4_000)


def _snapshot_of(view: ProjectAPIView, request: Request) -> Snapshot | None:
    """The snapshot of the address, the newest with a pool without one. Raises ValidationError."""
    only_known(request.query_params, {"snapshot"})
    if name := request.query_params.get("snapshot", ""):
        return snapshot_of_body(view.project, name)
    return next(iter(snapshots_with_pools(view.project)), None)


def _query_id(view: ProjectAPIView, outside_id: str) -> int:
    query: Query = found_in(Query.objects.filter(project=view.project, outside_id=outside_id))
    return query.pk


class OwnVotesView(ProjectAPIView):
    """The queries that wait for your vote whether anything in the snapshot answers them, at most 1,000."""

    roles: ClassVar = {"GET": (Role.ANNOTATOR,)}
    scopes: ClassVar = {"GET": Scope.JUDGING_WRITE}

    @extend_schema(operation_id="judging_unanswerable", parameters=[SNAPSHOT], responses=OwnVotesOut)
    def get(self, request: Request, slug: str) -> Response:
        snapshot = _snapshot_of(self, request)
        waiting = to_vote_on(voted_queries(snapshot), self.member.user) if snapshot else []
        queries = [each.query for each in waiting[:MOST_LISTED]]
        return Response(OwnVotesOut({"snapshot": snapshot and snapshot.reference, "queries": queries}).data)


class VoteView(ProjectAPIView):
    """Votes once on a query. The same vote again is the one that is there."""

    roles: ClassVar = {"POST": (Role.ANNOTATOR,)}
    scopes: ClassVar = {"POST": Scope.JUDGING_WRITE}

    @extend_schema(operation_id="judging_unanswerable_vote", request=VoteInput, responses={201: VoteOut})
    def post(self, request: Request, slug: str) -> Response:
        given = given_in(request.data, VoteInput)
        vote = vote_on_unanswerable(
            snapshot=snapshot_of_body(self.project, given["snapshot"]),
            query_id=_query_id(self, given["query"]),
            person=self.member.user,
            passage=given["passage"],
            at=timezone.now(),
        )
        return Response(VoteOut(vote).data, status=201)


class CandidatesView(LeadView):
    """Every candidate of a snapshot and every query that was voted on, with its state: at most 1,000."""

    roles: ClassVar = {"GET": (Role.LEAD,)}

    @extend_schema(operation_id="judging_unanswerable_all", parameters=[SNAPSHOT], responses=CandidateQueriesOut)
    def get(self, request: Request, slug: str) -> Response:
        snapshot = _snapshot_of(self, request)
        every = voted_queries(snapshot)[:MOST_LISTED] if snapshot else []
        return Response(CandidateQueriesOut({"snapshot": snapshot and snapshot.reference, "candidates": every}).data)


class DecisionView(LeadView):
    """Decides where two votes differ, or against two that agree."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="judging_unanswerable_decide", request=VoteDecisionInput, responses={201: VoteOut})
    def post(self, request: Request, slug: str) -> Response:
        given = given_in(request.data, VoteDecisionInput)
        vote = decide_unanswerable(
            snapshot=snapshot_of_body(self.project, given["snapshot"]),
            query_id=_query_id(self, given["query"]),
            lead=self.member.user,
            is_nothing=given["is_nothing"],
            passage=given["passage"],
            reason=given["reason"],
            at=timezone.now(),
        )
        return Response(VoteOut(vote).data, status=201)
