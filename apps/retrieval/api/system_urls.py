"""The addresses of the API of systems."""

from django.urls import path

from apps.retrieval.api.systems import (
    FusionList,
    LoadedDetail,
    LoadedDrop,
    LoadedList,
    LoadedSystems,
    RemoteList,
    SystemDetail,
    SystemList,
    SystemPace,
    SystemRuns,
)

app_name = "systems-api"
urlpatterns = [
    path("", SystemList.as_view(), name="systems"),
    path("fusions/", FusionList.as_view(), name="fusions"),
    path("remote/", RemoteList.as_view(), name="remote"),
    path("loaded/", LoadedList.as_view(), name="loaded"),
    path("loaded/<int:pk>/", LoadedDetail.as_view(), name="loaded-index"),
    path("loaded/<int:pk>/drop/", LoadedDrop.as_view(), name="drop-loaded"),
    path("loaded/<int:pk>/systems/", LoadedSystems.as_view(), name="search-loaded"),
    path("<int:pk>/", SystemDetail.as_view(), name="system"),
    path("<int:pk>/pace/", SystemPace.as_view(), name="pace"),
    path("<int:pk>/runs/", SystemRuns.as_view(), name="run"),
]
