"""Error pages, and problem+json for the same errors under /api/."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from apps.common.problems import CONTENT_TYPE, facts_of


def _answer(request: HttpRequest, status: int, title: str, detail: str, code: str) -> HttpResponse:
    if request.path.startswith("/api/"):
        facts = facts_of(status=status, title=title, detail=detail, code=code)
        return JsonResponse(facts, status=status, content_type=CONTENT_TYPE)
    return render(request, f"{status}.html", {"detail": detail}, status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer(request, 400, "Bad request", "The request could not be read.", "bad_request")


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer(request, 403, "Not allowed", str(exception) or "This is not for your role.", "forbidden")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer(request, 404, "Not found", "There is nothing here that you can see.", "not_found")


def server_error(request: HttpRequest) -> HttpResponse:
    return _answer(request, 500, "Fault", "Something broke on our side. It is in the log.", "fault")
