from django.urls import path

from apps.accounts.enums import Scope
from apps.corpus.edges.import_api import import_urls
from apps.queries.api import sources, views
from apps.queries.edges.imports import QueryImport

app_name = "queries-api"

urlpatterns = [
    path("", views.QueryList.as_view(), name="list"),
    path("source/", views.QuerySource.as_view(), name="source"),
    path("change/", views.QueryChange.as_view(), name="change"),
    *import_urls(QueryImport, noun="queries", reads=Scope.CORPUS_READ, writes=Scope.CORPUS_WRITE),
    path("sources/", sources.SourceList.as_view(), name="sources"),
    path("sources/<int:pk>/", sources.SourceDetail.as_view(), name="source-detail"),
    path("sources/<int:pk>/edit/", sources.SourceEdit.as_view(), name="source-edit"),
    path("sources/<int:pk>/permissions/", sources.PermissionGrant.as_view(), name="grant"),
    path("permissions/<int:pk>/revoke/", sources.PermissionRevoke.as_view(), name="revoke"),
    path("<int:pk>/", views.QueryDetail.as_view(), name="query"),
    path("<int:pk>/edit/", views.QueryEdit.as_view(), name="edit"),
    path("<int:pk>/retire/", views.QueryRetire.as_view(), name="retire"),
]
