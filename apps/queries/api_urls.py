from django.urls import path

from apps.queries import api

app_name = "queries-api"

urlpatterns = [
    path("", api.QueryList.as_view(), name="list"),
    path("source/", api.QuerySource.as_view(), name="source"),
    path("<int:pk>/", api.QueryDetail.as_view(), name="query"),
]
