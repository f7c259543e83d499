"""URLs of the API's OpenAPI description, and problem+json for unknown paths."""

from django.urls import path
from drf_spectacular.views import SpectacularAPIView

from apps.accounts.edges import authentication  # noqa: F401  the import registers the scheme
from apps.dashboard.api import description

app_name = "api"
urlpatterns = [
    path("v1/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("<path:rest>", description.not_found, name="not-found"),
]
