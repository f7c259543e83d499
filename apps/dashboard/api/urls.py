"""The API's own description, and an answer in its own form to paths that do not exist."""

from django.urls import path
from drf_spectacular.views import SpectacularAPIView

from apps.accounts.edges import schema  # noqa: F401  registers the scheme by being imported
from apps.dashboard.api import description

app_name = "api"
urlpatterns = [
    path("v1/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("<path:rest>", description.not_found, name="not-found"),
]
