"""The pages of triples: who writes and who reads them, and what was typed to find one."""

from django.http import HttpRequest

from apps.accounts.enums import Role

WRITERS = (Role.ANNOTATOR, Role.LEAD)
READERS = (Role.ANNOTATOR, Role.REVIEWER, Role.LEAD)
MOST_SOUGHT = 500


def words_sought(request: HttpRequest) -> str:
    """The words that were typed; PostgreSQL takes no NUL."""
    return request.GET.get("q", "").replace("\x00", "").strip()[:MOST_SOUGHT]
