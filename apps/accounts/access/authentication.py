"""Sign-in of machines (`Authorization: Bearer karat_…`), and what the schema says of it."""

from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import authentication, exceptions
from rest_framework.request import Request

from apps.accounts.models import ApiToken, User
from apps.common.database.bulk import write_note
from apps.common.web.tokens import token_digest


class TokenScheme(OpenApiAuthenticationExtension):
    target_class = "apps.accounts.access.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A project's token: `Bearer karat_…`."}


USED_AT_GRAIN_SECONDS = 60


class TokenAuthentication(authentication.BaseAuthentication):
    """Looks up the live token; `request.auth` is the ApiToken, whose project and scopes the view checks.

    The token of an agent is refused, unless one of its tools asks (`request.is_of_agent`).
    """

    keyword = "Bearer"

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        header = authentication.get_authorization_header(request).split()
        if not header or header[0].lower() != b"bearer":
            return None
        if len(header) != 2:
            raise exceptions.AuthenticationFailed("The Authorization header is not 'Bearer TOKEN'.")
        now = timezone.now()
        token = (
            ApiToken.objects.select_related("user", "project")
            .filter(digest=token_digest(header[1].decode("latin-1")), revoked_at=None, expires_at__gt=now)
            .first()
        )
        if token is None or not token.user.is_active:
            raise exceptions.AuthenticationFailed("This token is unknown, revoked or expired. Make a new one.")
        self.check_use(request, token)
        stale = token.last_used_at is None or (now - token.last_used_at).total_seconds() > USED_AT_GRAIN_SECONDS
        if stale:
            write_note(lambda: ApiToken.objects.filter(pk=token.pk).update(last_used_at=now))
        return token.user, token

    def check_use(self, request: Request, token: ApiToken) -> None:
        if token.is_of_agent and not getattr(request, "is_of_agent", False):
            raise exceptions.PermissionDenied("This is an agent's token: it works at /mcp and nowhere else.")

    def authenticate_header(self, request: Request) -> str:
        return self.keyword


class AgentAuthentication(TokenAuthentication):
    """Lets in agents' tokens alone."""

    def check_use(self, request: Request, token: ApiToken) -> None:
        if not token.is_of_agent:
            raise exceptions.PermissionDenied("This token is not an agent's. Make one with the scope agent.")
