"""API of passages that may be right as well, and of splitting a triple into its claims."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import ReviewAPIView
from apps.accounts.enums import Role
from apps.common.text.blocktext import merge
from apps.common.web.api import PAGING, body_in, body_with_key
from apps.common.web.paging import cut, only_known, whole
from apps.corpus.models import BlockVersion, SnapshotBlock
from apps.review import rules
from apps.review.actions.candidate_blocks import answer_candidate, decide_candidate, withdraw_candidate
from apps.review.actions.disputes import Claim, DisputeRefused, split_triple
from apps.review.api.disputes import StepView
from apps.review.core.claim_proposals import FEWEST, MOST
from apps.review.enums import CandidateState
from apps.review.models import CandidateBlock
from apps.review.selectors.candidate_blocks import ProposedClaim, candidates_for, proposed_claims, views_for
from apps.review.selectors.participation import participation_for
from apps.review.serializers import (
    CandidateAnswerInput,
    CandidateAnswerOut,
    CandidateDecisionInput,
    CandidateOut,
    CandidatePageOut,
)
from apps.triples.core.evidence import spans_of
from apps.triples.models import Triple
from apps.triples.rules import READERS, WRITERS
from apps.triples.selectors.draft_checks import BlockChoice
from apps.triples.selectors.triples import expected_blocks, triple_for
from apps.triples.serializers import TripleOut, triple_out

MOST_BLOCKS, MOST_QUOTES = 20, 50


class ClaimBlockSerializer(serializers.Serializer):
    """A passage of the snapshot of the triple, and the words of it that are the evidence, as they stand in the text."""

    block_id = serializers.CharField(max_length=200)
    quotes = serializers.ListField(child=serializers.CharField(max_length=2_000), min_length=1, max_length=MOST_QUOTES)


class ClaimSerializer(serializers.Serializer):
    question = serializers.CharField(max_length=2_000)
    answer = serializers.CharField(max_length=8_000)
    blocks = serializers.ListField(child=ClaimBlockSerializer(), min_length=1, max_length=MOST_BLOCKS)


class ClaimsSerializer(serializers.Serializer):
    """Two to six atomic claims, each with its own evidence."""

    claims = serializers.ListField(child=ClaimSerializer(), min_length=FEWEST, max_length=MOST)


class SplitOut(serializers.Serializer):
    """The triple, which is split now, and the draft that each claim became."""

    triple = TripleOut()
    drafts = TripleOut(many=True)


class SplitView(StepView):
    """Claims that are proposed for your disputed triple, to be edited; splits it into a draft for each claim."""

    roles: ClassVar = {"GET": WRITERS, "POST": WRITERS}

    @extend_schema(operation_id="review_split_proposed", responses=ClaimsSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        triple = triple_for(self.member, pk)
        if reason := rules.split_refusal(triple, participation_for(triple, self.member)):
            raise DisputeRefused(reason, code="not_splittable")
        proposed = proposed_claims(triple.revision, expected_blocks(triple.revision))
        return Response({"claims": [_proposed_out(claim) for claim in proposed]})

    @extend_schema(operation_id="review_split", request=ClaimsSerializer, responses={201: SplitOut})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        common = self.common(pk)
        triple = triple_for(self.member, pk)
        claims = _claims(triple, self.given(ClaimsSerializer, request)["claims"])
        children = split_triple(author=self.member.user, claims=claims, **common)
        drafts = [triple_out(triple_for(self.member, child.pk)) for child in children]
        return Response({"triple": triple_out(triple_for(self.member, pk)), "drafts": drafts}, status=201)


def _proposed_out(claim: ProposedClaim) -> dict[str, Any]:
    """A claim as it can be sent back; without blocks when no evidence says it."""
    blocks = []
    if claim.block is not None:
        version, (start, end) = claim.block.version, claim.span
        blocks = [{"block_id": version.block.outside_id, "quotes": [version.text[start:end]]}]
    return {"question": claim.question, "answer": claim.answer, "blocks": blocks}


def _claims(triple: Triple, given: Sequence[Mapping[str, Any]]) -> list[Claim]:
    """The claims with their evidence found in the texts. Raises ValidationError, naming claim and passage."""
    versions = _versions(triple, {block["block_id"] for claim in given for block in claim["blocks"]})
    claims = []
    for number, claim in enumerate(given, start=1):
        blocks = []
        for block in claim["blocks"]:
            version = versions.get(block["block_id"])
            if version is None:
                reason = f"{block['block_id']} is no passage of the snapshot of {triple.label}."
                raise ValidationError({"claims": [f"Claim {number}: {reason}"]})
            blocks.append(_marked(version, block["quotes"], number))
        claims.append(Claim(claim["question"], claim["answer"], tuple(blocks)))
    return claims


def _versions(triple: Triple, names: set[str]) -> dict[str, BlockVersion]:
    """The texts of these passages, by their ids: as the triple has them pinned, or in its snapshot."""
    rows = SnapshotBlock.objects.filter(snapshot=triple.revision.snapshot, block__outside_id__in=names)
    found = {row.version.block.outside_id: row.version for row in rows.select_related("version__block")}
    return found | {block.version.block.outside_id: block.version for block in expected_blocks(triple.revision)}


def _marked(version: BlockVersion, quotes: Sequence[str], number: int) -> BlockChoice:
    spans = []
    for quote, span in zip(quotes, spans_of(version.text, quotes), strict=True):
        if span is None:
            reason = f"“{quote[:200]}” is not in {version.block.outside_id}. Copy it word for word."
            raise ValidationError({"claims": [f"Claim {number}: {reason}"]})
        spans.append(span)
    return BlockChoice(version.pk, tuple(merge(spans, len(version.text))))


STATES = [state.value for state in CandidateState if state is not CandidateState.WITHDRAWN]


class CandidateList(ReviewAPIView):
    """Passages that somebody holds for right as well, oldest first, with as much of each as you may see."""

    roles = {"GET": READERS}

    @extend_schema(
        operation_id="review_candidates",
        parameters=[
            OpenApiParameter("state", str, enum=STATES),
            OpenApiParameter("triple", int, description="Of this triple alone, by id."),
            *PAGING,
        ],
        responses=CandidatePageOut,
    )
    def get(self, request: Request, slug: str) -> Response:
        params = request.query_params
        only_known(params, {"state", "triple", "after", "limit"})
        candidates = candidates_for(self.member)
        if state := params.get("state"):
            if state not in STATES:
                raise ValidationError({"state": [f"One of {', '.join(STATES)}."]})
            candidates = candidates.filter(state=state)
        if triple := params.get("triple"):
            try:
                candidates = candidates.filter(triple=whole(triple))
            except ValueError:
                raise ValidationError({"triple": ["triple is the id of a triple."]}) from None
        page = cut(candidates, params)
        views = [view for view in views_for(page.rows, self.member) if view.sight.passage]
        return Response(CandidatePageOut({"candidates": views, "next": page.next}).data)


class OneCandidate(ReviewAPIView):
    def candidate(self, pk: int) -> CandidateBlock:
        """What is being asked about, or was. Raises Http404, for what is hidden or withdrawn too."""
        candidate = candidates_for(self.member).filter(pk=pk).first()
        if candidate is None:
            raise Http404("No such passage is being asked about.")
        return candidate


class CandidateAnswerView(OneCandidate):
    """Say whether a passage is right as well, without knowing the other answer or where it was found.

    The idempotency key, in the body or as a header, makes it safe to send it again.
    """

    roles = {"POST": (Role.REVIEWER,)}

    @extend_schema(
        operation_id="review_candidate_answer", request=CandidateAnswerInput, responses={201: CandidateAnswerOut}
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        self.candidate(pk)
        given = body_in(body_with_key(request), CandidateAnswerInput)
        answer = answer_candidate(
            project=self.project, pk=pk, reviewer=self.member.user, at=timezone.now(), **given.validated_data
        )
        return Response(CandidateAnswerOut(answer).data, status=201)


class CandidateDecisionView(OneCandidate):
    """Decides, for a reason, between two answers that differ, in a question that you have no part in."""

    roles = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="review_candidate_decide", request=CandidateDecisionInput, responses=CandidateOut)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        self.candidate(pk)
        given = body_in(request.data, CandidateDecisionInput)
        how = {"step": given.step(), "reason": given.validated_data["reason"]}
        decide_candidate(project=self.project, pk=pk, lead=self.member.user, at=timezone.now(), **how)
        (view,) = views_for([self.candidate(pk)], self.member)
        return Response(CandidateOut(view).data)


class CandidateWithdrawView(OneCandidate):
    """Takes back a passage that you proposed, while both answers are not in: nobody is asked about it any more."""

    roles = {"POST": READERS}

    @extend_schema(operation_id="review_candidate_withdraw", request=None, responses={204: None})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        self.candidate(pk)
        withdraw_candidate(project=self.project, pk=pk, person=self.member.user, at=timezone.now())
        return Response(status=204)
