from django.urls import path

from apps.dashboard.api import settings

app_name = "settings-api"

urlpatterns = [
    path("", settings.Settings.as_view(), name="settings"),
    path("scale/", settings.Scale.as_view(), name="scale"),
    path("archive/", settings.Archive.as_view(), name="archive"),
    path("bring-back/", settings.BringBack.as_view(), name="bring-back"),
]
