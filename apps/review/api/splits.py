"""API of the split: the claims that are proposed for a compound triple, and the split itself."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.enums import Role
from apps.common.text.blocktext import merge
from apps.corpus.models import BlockVersion, SnapshotBlock
from apps.review import rules
from apps.review.actions.disputes import Claim, DisputeRefused, split_triple
from apps.review.api.disputes import StepView
from apps.review.core.claim_proposals import FEWEST, MOST
from apps.review.selectors.participation import participation_for
from apps.review.selectors.proposed_claims import ProposedClaim, proposed_claims
from apps.triples.core.evidence import spans_of
from apps.triples.models import Triple
from apps.triples.selectors.draft_checks import BlockChoice
from apps.triples.selectors.triples import expected_blocks, triple_for
from apps.triples.serializers import TripleOut, triple_out

WRITERS = (Role.ANNOTATOR, Role.LEAD)
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
