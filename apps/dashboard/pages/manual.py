"""The documents, served by the app itself: to everybody who has signed in, with or without a project."""

from django.contrib.auth.decorators import login_required
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.dashboard.edges.manual import contents, files, manual_page


@login_required
@require_safe
def manual(request: HttpRequest) -> HttpResponse:
    return render(request, "dashboard/manual.html", {"parts": contents()})


@login_required
@require_safe
def manual_file(request: HttpRequest, name: str) -> HttpResponseBase:
    """A page of the documents, or a picture or schema that one shows. Raises Http404 for any other file."""
    path = files().get(name)
    if path is None:
        raise Http404("No such page of the documents.")
    if path.suffix != ".md":
        return FileResponse(path.open("rb"))
    return render(request, "dashboard/manual_page.html", {"page": manual_page(name)})
