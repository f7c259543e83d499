"""The address at which agents ask."""

from django.urls import path

from apps.agents.api import Agents

urlpatterns = [path("mcp", Agents.as_view(), name="mcp")]
