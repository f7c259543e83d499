"""Addresses that need no signing in: whoever knows one sees a picture."""

from django.urls import path

from apps.evaluation import gate_views

app_name = "badges"
urlpatterns = [path("badges/<str:token>.svg", gate_views.badge, name="badge")]
