"""API of triples."""

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.edges.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.common.web.paging import only_known
from apps.triples.selectors.triples import WITH_BLOCKS, visible_triples
from apps.triples.serializers import TripleListInput, TripleOut, TriplePageOut, triple_out

READERS = (Role.ANNOTATOR, Role.REVIEWER, Role.LEAD)


class TripleList(ProjectAPIView):
    """Triples by number, with their current wording. `next` is the `after` of the next page, or null."""

    roles = {"GET": READERS}
    scopes = {"GET": Scope.REVIEW_WRITE}

    @extend_schema(operation_id="triples_list", parameters=[TripleListInput], responses=TriplePageOut)
    def get(self, request: Request, slug: str) -> Response:
        only_known(request.query_params, set(TripleListInput().fields))
        filters = TripleListInput(data=request.query_params)
        filters.is_valid(raise_exception=True)
        triples = visible_triples(self.member).filter(number__gt=filters.validated_data["after"])
        state = filters.validated_data.get("state")
        if state == "stale":
            triples = triples.filter(is_stale=True)
        elif state:
            triples = triples.filter(state=state)
        limit = filters.validated_data["limit"]
        page = list(triples.select_related("source").prefetch_related(WITH_BLOCKS).order_by("number")[: limit + 1])
        after = page[limit - 1].number if len(page) > limit else None
        return Response({"triples": [triple_out(triple) for triple in page[:limit]], "next": after})


class TripleDetail(ProjectAPIView):
    """One triple with its current wording."""

    roles = {"GET": READERS}
    scopes = {"GET": Scope.REVIEW_WRITE}

    @extend_schema(operation_id="triples_read", responses=TripleOut)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        triples = visible_triples(self.member).select_related("source").prefetch_related(WITH_BLOCKS).filter(pk=pk)
        triple = triples.first()
        if triple is None:
            raise Http404("No such triple.")
        return Response(triple_out(triple))
