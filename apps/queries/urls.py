"""The addresses of the pages and of the API."""

from django.urls import path

from apps.accounts.enums import Scope
from apps.corpus.imports.api import import_urls
from apps.queries.api import sets as sets_api
from apps.queries.api import sources
from apps.queries.api import views as views_api
from apps.queries.imports import QueryImport
from apps.queries.pages import sets, views

pages = [
    path("", views.query_list, name="list"),
    path("new/", views.query_new, name="new"),
    path("change/", views.change, name="change"),
    path("remarks-settled/", views.settle, name="settle"),
    path("variants/", views.variants, name="variants"),
    path("balance/", views.balance, name="balance"),
    path("balance/targets/", views.balance_targets, name="balance-targets"),
    path("sets/", sets.set_list, name="sets"),
    path("sets/save/", sets.set_save, name="set-save"),
    path("sets/draw/", sets.set_draw, name="set-draw"),
    path("sets/<int:pk>/", sets.set_page, name="set"),
    path("sets/<int:pk>/freeze/", sets.set_freeze, name="set-freeze"),
    path("sets/<int:pk>/delete/", sets.set_delete, name="set-delete"),
    path("failures/", views.failures, name="failures"),
    path("failures/report/", views.failure_report, name="report"),
    path("failures/<int:pk>/decide/", views.failure_decide, name="decide"),
    path("sources/", views.source_list, name="sources"),
    path("sources/new/", views.source_new, name="source-new"),
    path("sources/<int:pk>/", views.source_page, name="source"),
    path("sources/<int:pk>/edit/", views.source_edit, name="source-edit"),
    path("sources/<int:pk>/permissions/", views.permission_grant, name="grant"),
    path("permissions/<int:pk>/revoke/", views.permission_revoke, name="revoke"),
    path("<int:pk>/", views.query_page, name="query"),
    path("<int:pk>/edit/", views.query_edit, name="edit"),
    path("<int:pk>/retire/", views.query_retire, name="retire"),
]

api = [
    path("", views_api.QueryList.as_view(), name="list"),
    path("source/", views_api.QuerySource.as_view(), name="source"),
    path("change/", views_api.QueryChange.as_view(), name="change"),
    path("remarks-settled/", views_api.RemarksSettled.as_view(), name="settle"),
    path("variants/", views_api.QueryVariants.as_view(), name="variants"),
    *import_urls(QueryImport, noun="queries", reads=Scope.CORPUS_READ, writes=Scope.CORPUS_WRITE),
    path("balance/", sources.Balance.as_view(), name="balance"),
    path("sets/", sets_api.SetList.as_view(), name="sets"),
    path("sets/draw/", sets_api.SetDraw.as_view(), name="set-draw"),
    path("sets/<int:pk>/", sets_api.SetDetail.as_view(), name="set"),
    path("sets/<int:pk>/freeze/", sets_api.SetFreeze.as_view(), name="set-freeze"),
    path("sets/<int:pk>/delete/", sets_api.SetDelete.as_view(), name="set-delete"),
    path("failures/", views_api.FailureList.as_view(), name="failures"),
    path("failures/<int:pk>/decide/", views_api.FailureDecision.as_view(), name="decide"),
    path("sources/", sources.SourceList.as_view(), name="sources"),
    path("sources/<int:pk>/", sources.SourceDetail.as_view(), name="source-detail"),
    path("sources/<int:pk>/edit/", sources.SourceEdit.as_view(), name="source-edit"),
    path("sources/<int:pk>/permissions/", sources.PermissionGrant.as_view(), name="grant"),
    path("permissions/<int:pk>/revoke/", sources.PermissionRevoke.as_view(), name="revoke"),
    path("<int:pk>/", views_api.QueryDetail.as_view(), name="query"),
    path("<int:pk>/edit/", views_api.QueryEdit.as_view(), name="edit"),
    path("<int:pk>/retire/", views_api.QueryRetire.as_view(), name="retire"),
]
