"""The addresses of the pages and of the API."""

from django.urls import path

from apps.accounts.enums import Scope
from apps.corpus.imports.api import import_urls
from apps.querylogs.api import views as views_api
from apps.querylogs.imports import LogImport
from apps.querylogs.pages import views

pages = [
    path("", views.log_list, name="list"),
    path("received/", views.take_received, name="received"),
    path("fetch/", views.fetch, name="fetch"),
    path("names/", views.names, name="names"),
    path("names/<int:pk>/remove/", views.name_remove, name="name-remove"),
    path("<int:pk>/", views.log_page, name="log"),
    path("<int:pk>/clicks.run", views.clicks, name="clicks"),
    path("<int:pk>/runs/", views.runs, name="runs"),
    path("<int:pk>/close/", views.close, name="close"),
    path("<int:pk>/<int:position>/", views.read, name="read"),
]

api = [
    path("", views_api.QueryLogList.as_view(), name="list"),
    *import_urls(LogImport, noun="query_logs", reads=Scope.CORPUS_READ, writes=Scope.CORPUS_WRITE),
    path("received/", views_api.LogReceived.as_view(), name="received"),
    path("fetch/", views_api.LogFetch.as_view(), name="fetch"),
    path("names/", views_api.NameList.as_view(), name="names"),
    path("names/<int:pk>/remove/", views_api.NameRemove.as_view(), name="name-remove"),
    path("<int:pk>/", views_api.QueryLogDetail.as_view(), name="log"),
    path("<int:pk>/offered/", views_api.OfferedList.as_view(), name="offered"),
    path("<int:pk>/offered/<int:position>/", views_api.OfferedStep.as_view(), name="decide"),
    path("<int:pk>/clicks.run", views_api.LogClicks.as_view(), name="clicks"),
    path("<int:pk>/runs/", views_api.LogRuns.as_view(), name="runs"),
    path("<int:pk>/close/", views_api.LogClose.as_view(), name="close"),
]

receiver = [path("v1/traces", views_api.TraceReceiver.as_view(), name="receive")]
