"""Triples in the API: reading them, and retiring accepted ones."""

from typing import ClassVar

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import ProjectAPIView, ReviewAPIView
from apps.accounts.enums import Role, Scope
from apps.common.database.bulk import chunks
from apps.common.web.api import given_in
from apps.common.web.forms import ChoiceField, KeyField
from apps.common.web.paging import only_known
from apps.triples.actions.triples import RetireRefused, retire_triple, retire_triples
from apps.triples.enums import RetireReason, State
from apps.triples.rules import MOST_RETIRED, READERS
from apps.triples.selectors.triples import WITH_BLOCKS, triple_for, visible_triples
from apps.triples.serializers import TripleListInput, TripleOut, TriplePageOut, triple_out


class RetireInput(serializers.Serializer):
    reason = ChoiceField(choices=RetireReason.choices)


class RetireManyInput(RetireInput):
    triples = serializers.ListField(child=KeyField(), min_length=1, max_length=MOST_RETIRED)


class RetiredOut(serializers.Serializer):
    retired = serializers.IntegerField()


class RetireView(ProjectAPIView):
    """Takes an accepted triple out of use, stale or not. Its text is kept."""

    roles: ClassVar = {"POST": (Role.LEAD,)}
    scopes: ClassVar = {"POST": Scope.TRIPLES_WRITE}

    @extend_schema(operation_id="triples_retire", request=RetireInput, responses=TripleOut)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        triple = triple_for(self.member, pk)
        given = given_in(request.data, RetireInput)
        retire_triple(
            project=self.project,
            triple_id=triple.pk,
            lead=self.member.user,
            roles=self.member.roles,
            reason=RetireReason(given["reason"]),
            at=timezone.now(),
        )
        return Response(triple_out(triple_for(self.member, pk)))


class RetireManyView(ProjectAPIView):
    """Takes several accepted triples out of use for one reason, stale or not: all of them, or none."""

    roles: ClassVar = {"POST": (Role.LEAD,)}
    scopes: ClassVar = {"POST": Scope.TRIPLES_WRITE}

    @extend_schema(operation_id="triples_retire_many", request=RetireManyInput, responses=RetiredOut)
    def post(self, request: Request, slug: str) -> Response:
        given = given_in(request.data, RetireManyInput)
        wanted = set(given["triples"])
        self._all_accepted(wanted)
        retired = retire_triples(
            project=self.project,
            triple_ids=wanted,
            lead=self.member.user,
            roles=self.member.roles,
            reason=RetireReason(given["reason"]),
            at=timezone.now(),
        )
        return Response(RetiredOut({"retired": retired}).data)

    def _all_accepted(self, wanted: set[int]) -> None:
        """Raises ValidationError for one that is not there, RetireRefused for one that is not accepted."""
        found: dict[int, tuple[int, str]] = {}
        for part in chunks(sorted(wanted), 500):
            rows = visible_triples(self.member).filter(pk__in=part).values_list("pk", "number", "state")
            found |= {pk: (number, state) for pk, number, state in rows}
        if unknown := sorted(wanted - found.keys()):
            raise ValidationError({"triples": [f"{unknown[0]} is no triple of this project that you may see."]})
        if others := sorted(number for number, state in found.values() if state != State.ACCEPTED):
            sentence = f"T-{others[0]:04d} is not accepted, so nothing is retired. Leave it out, and send the others."
            raise RetireRefused(sentence, code="not_retirable")


class TripleList(ReviewAPIView):
    """Triples by number, with their current wording. `next` is the `after` of the next page, or null."""

    roles = {"GET": READERS}

    @extend_schema(operation_id="triples_list", parameters=[TripleListInput], responses=TriplePageOut)
    def get(self, request: Request, slug: str) -> Response:
        only_known(request.query_params, set(TripleListInput().fields))
        filters = given_in(request.query_params, TripleListInput)
        triples = visible_triples(self.member).filter(number__gt=filters["after"])
        state = filters.get("state")
        if state == "stale":
            triples = triples.filter(is_stale=True)
        elif state:
            triples = triples.filter(state=state)
        limit = filters["limit"]
        page = list(
            triples.select_related("source", "imported").prefetch_related(WITH_BLOCKS).order_by("number")[: limit + 1]
        )
        after = page[limit - 1].number if len(page) > limit else None
        return Response({"triples": [triple_out(triple) for triple in page[:limit]], "next": after})


class TripleDetail(ReviewAPIView):
    """One triple with its current wording."""

    roles = {"GET": READERS}

    @extend_schema(operation_id="triples_read", responses=TripleOut)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        triples = (
            visible_triples(self.member)
            .select_related("source", "imported")
            .prefetch_related(WITH_BLOCKS)
            .filter(pk=pk)
        )
        triple = triples.first()
        if triple is None:
            raise Http404("No such triple.")
        return Response(triple_out(triple))
