from django.urls import path

from apps.queries.api import imports, views

app_name = "queries-api"

urlpatterns = [
    path("", views.QueryList.as_view(), name="list"),
    path("source/", views.QuerySource.as_view(), name="source"),
    *imports.URLS,
    path("<int:pk>/", views.QueryDetail.as_view(), name="query"),
]
