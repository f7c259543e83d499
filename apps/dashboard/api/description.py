"""The answer for a path under /api/ that does not exist."""

from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from apps.common.web.problem_json import CONTENT_TYPE


@csrf_exempt
def not_found(request: HttpRequest, rest: str) -> JsonResponse:
    body = {
        "type": "urn:karat:problem:not_found",
        "title": "Not found",
        "status": 404,
        "detail": "No such endpoint. The list is at /api/v1/schema/.",
        "code": "not_found",
    }
    return JsonResponse(body, status=404, content_type=CONTENT_TYPE)
