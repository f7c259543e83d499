from django.urls import path

from apps.goldsets import api

app_name = "goldsets-api"
urlpatterns = [
    path("", api.VersionList.as_view(), name="list"),
    path("<slug:gold_set>/v<int:number>/", api.VersionDetail.as_view(), name="version"),
    path("<slug:gold_set>/v<int:number>/left-out/", api.VersionLosses.as_view(), name="left-out"),
    path("<slug:gold_set>/v<int:number>/export/", api.VersionExport.as_view(), name="export"),
]
