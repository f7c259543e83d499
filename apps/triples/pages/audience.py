"""Shared by the pages of triples: who writes and who reads, and the search words."""

from django.http import HttpRequest

from apps.accounts.enums import Role

WRITERS = (Role.ANNOTATOR, Role.LEAD)
READERS = (Role.ANNOTATOR, Role.REVIEWER, Role.LEAD)
MOST_SOUGHT = 500


def words_sought(request: HttpRequest) -> str:
    """The search words of the request, without NUL, which PostgreSQL rejects."""
    return request.GET.get("q", "").replace("\x00", "").strip()[:MOST_SOUGHT]
