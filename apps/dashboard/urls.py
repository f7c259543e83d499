"""The addresses of the pages and of the API."""

from django.urls import path
from drf_spectacular.views import SpectacularAPIView

from apps.accounts.access import authentication  # noqa: F401  the import registers the scheme
from apps.dashboard.api import settings
from apps.dashboard.pages import checklist, errors, manual, search, server, views

pages = [
    path("", views.start, name="start"),
    path("projects/", views.projects, name="projects"),
    path("demo/", views.load_demo, name="load-demo"),
    path("server/", server.server, name="server"),
    path("server/check/", server.check_server, name="check-server"),
    path("server/measure/", server.measure_server, name="measure-server"),
    path("server/clear/<slug:kind>/", server.clear_storage, name="clear-storage"),
    path("server/backup/", server.back_up_now, name="back-up"),
    path("server/send-mail/", server.send_mail, name="send-mail"),
    path("server/test-mail/", server.test_mail, name="test-mail"),
    path("docs/", manual.manual, name="manual"),
    path("docs/<path:name>", manual.manual_file, name="manual-file"),
    path("p/<slug:slug>/", views.home, name="home"),
    path("p/<slug:slug>/first-steps/skip/", checklist.skip, name="skip-step"),
    path("p/<slug:slug>/first-steps/judge/", checklist.judge_myself, name="judge-myself"),
    path("p/<slug:slug>/archive/", views.archive, name="archive"),
    path("p/<slug:slug>/bring-back/", views.bring_back, name="bring-back"),
    path("p/<slug:slug>/delete/", views.delete, name="delete"),
    path("p/<slug:slug>/search/", search.search, name="search"),
    path("p/<slug:slug>/settings/", views.settings, name="settings"),
]

api = [
    path("v1/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("<path:rest>", errors.no_endpoint, name="not-found"),
]

settings_api = [
    path("", settings.Settings.as_view(), name="settings"),
    path("scale/", settings.Scale.as_view(), name="scale"),
    path("archive/", settings.Archive.as_view(), name="archive"),
    path("bring-back/", settings.BringBack.as_view(), name="bring-back"),
]
