"""URLs that need no login: whoever knows one sees a badge."""

from django.urls import path

from apps.gates.pages import gates

app_name = "badges"
urlpatterns = [path("badges/<str:token>.svg", gates.badge, name="badge")]
