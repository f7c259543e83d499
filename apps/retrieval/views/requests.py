from django.http import HttpRequest

from apps.accounts.models import User
from apps.accounts.selectors import Member


class MemberRequest(HttpRequest):
    """A request that has come through `member_view`: somebody signed in, inside the project."""

    user: User
    member: Member
