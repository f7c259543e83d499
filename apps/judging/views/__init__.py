from django.http import HttpRequest

from apps.accounts.models import User


def user_of(request: HttpRequest) -> User:
    """The person behind a request that `member_view` let through."""
    return request.member.user  # type: ignore[attr-defined]
