from django.urls import path

from apps.goldsets.api import views

app_name = "goldsets-api"
urlpatterns = [
    path("", views.VersionList.as_view(), name="list"),
    path("<slug:gold_set>/v<int:number>/", views.VersionDetail.as_view(), name="version"),
    path("<slug:gold_set>/v<int:number>/left-out/", views.VersionLosses.as_view(), name="left-out"),
    path("<slug:gold_set>/v<int:number>/export/", views.VersionExport.as_view(), name="export"),
]
