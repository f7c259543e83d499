from django.http import HttpRequest

from apps.accounts.edges.access import member_of
from apps.accounts.models import User


def user_of(request: HttpRequest) -> User:
    """The person behind a request that `member_view` let through."""
    return member_of(request).user
