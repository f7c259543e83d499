from django.urls import include, path

from apps.goldsets import views

VERSION = [
    path("", views.version_page, name="version"),
    path("change/", views.change_version, name="change"),
    path("freeze/", views.freeze, name="freeze"),
    path("release/", views.release, name="release"),
    path("discard/", views.discard, name="discard"),
    path("difference/", views.difference, name="difference"),
    path("left-out/", views.left_out, name="left-out"),
    path("export/", views.export, name="export"),
    path("items/<slug:split>/<slug:kind>/", views.items, name="items"),
]

app_name = "goldsets"
urlpatterns = [
    path("", views.version_list, name="list"),
    path("new/", views.new_gold_set, name="new"),
    path("<slug:gold_set>/new/", views.new_version, name="new-version"),
    path("<slug:gold_set>/v<int:number>/", include(VERSION)),
]
